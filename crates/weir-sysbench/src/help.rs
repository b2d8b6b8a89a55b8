//! The help: a sysbench's own options, and beside them what else is accepted.

use std::fmt::Write as _;

use weir_model::{LoadOption, LoadOptionKind, OrderEntryWorkload, WorkloadName};

use super::compat::Compat;
use super::options::{SUPPORTED, SupportedOption};
use super::own_options::load_options;

/// Width of an option with its default.
const OPTION_CHARACTERS: usize = 36;

/// The options of the sysbench of this version; with `all`, those that are accepted beside them
/// too.
pub fn help(compat: Compat, all: bool) -> String {
    let mut text = String::from(
        "usage: WORKLOAD|SCRIPT.lua [--name=value ...] prepare|prewarm|run|cleanup|help\n\nworkloads:\n",
    );
    for name in WorkloadName::ALL {
        line(&mut text, format_args!("  {name}"));
    }
    text.push_str("\noptions:\n");
    let is_own = |option: &&SupportedOption| option.origin.is_in(compat);
    for option in SUPPORTED.iter().filter(is_own) {
        describe(&mut text, option);
    }
    general(&mut text, CONFIG_FILE);
    if !all {
        return text;
    }
    text.push_str("\nworkloads that sysbench does not have:\n");
    for (word, help) in [
        (OrderEntryWorkload::NAME, ORDER_ENTRY),
        (
            "FILE.toml",
            "a workload file: your own, or one of `weir workload fit`",
        ),
        (
            "CAPTURE.weircap",
            "a capture, sent again by `run`; `weir load CAPTURE.weircap help` has its options",
        ),
    ] {
        general(&mut text, (word, help));
    }
    let version = compat.version();
    line(
        &mut text,
        format_args!("\noptions that sysbench {version} does not have:"),
    );
    let is_new = |option: &&SupportedOption| {
        let has = |own: &SupportedOption| own.name == option.name && own.origin.is_in(compat);
        !SUPPORTED.iter().any(has)
    };
    for option in SUPPORTED.iter().filter(is_new) {
        describe(&mut text, option);
    }
    for option in load_options() {
        describe_of_load(&mut text, option);
    }
    for option in GENERAL {
        general(&mut text, option);
    }
    text.push_str("\ncommands that sysbench does not have:\n");
    general(&mut text, PROFILE);
    general(&mut text, CHECK);
    text
}

/// Returns the help of an option of the program; nothing for one that is not known here.
pub fn option_help(name: &str) -> &'static str {
    let is_it = |option: &&SupportedOption| option.name.replace('_', "-") == name;
    let found = SUPPORTED.iter().find(is_it);
    found.map_or("", |option| option.help)
}
/// Help of order entry.
const ORDER_ENTRY: &str = "orders, payments and deliveries of a supplier, derived from the \
                           specification of TPC-C and not comparable with audited results";

/// Help of a script's profile.
const PROFILE: (&str, &str) = (
    "SCRIPT.lua profile",
    "run, and print the lines of the script that took the time",
);

/// Help of order entry's own command.
const CHECK: (&str, &str) = (
    "order_entry check",
    "test the twelve conditions of its tables; exit code 1 if one does not hold",
);

/// Beside the command line, as in sysbench.
const CONFIG_FILE: (&str, &str) = (
    "--config-file=FILE",
    "read options from this file, one each line",
);

/// Options that are read before the others.
const GENERAL: [(&str, &str); 6] = [
    (
        "--compat=1.0.20",
        "sysbench version for defaults and report: 1.0.20 or 1.1",
    ),
    (
        "--defaults-file=FILE",
        "read this option file in place of ~/.my.cnf",
    ),
    (
        "--defaults-extra-file=FILE",
        "read this option file before ~/.my.cnf",
    ),
    ("--no-defaults", "read no option file"),
    (
        "--lua-threads=auto",
        "how connections of a Lua script are driven: auto, os or reactor",
    ),
    (
        "--luajit-cmd=COMMAND",
        "setting of LuaJIT before a Lua script, such as on or off",
    ),
];

fn general(text: &mut String, (option, help): (&str, &str)) {
    line(text, format_args!("  {option:<OPTION_CHARACTERS$} {help}"));
}

fn describe(text: &mut String, option: &SupportedOption) {
    let name = format!("--{}={}", option.name, option.default);
    line(
        text,
        format_args!("  {name:<OPTION_CHARACTERS$} {}", option.help),
    );
}

fn describe_of_load(text: &mut String, option: &LoadOption) {
    let name = format!("--{}={}", option.flag(), option.default);
    let help = option.help;
    let words = match option.kind {
        LoadOptionKind::Word(words) => format!(": {}", words.join(", ")),
        _ => String::new(),
    };
    line(
        text,
        format_args!("  {name:<OPTION_CHARACTERS$} {help}{words}"),
    );
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("invariant: writing into a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_in_shows_the_options_of_its_version_only() {
        let release = help(Compat::Release, false);
        assert!(release.contains("--rand-type=special") && release.contains("--rand-spec-pct"));
        assert!(!release.contains("--rtt") && !release.contains("--mysql-ssl-ca"));
        let development = help(Compat::Development, false);
        assert!(development.contains("--rand-type=uniform"));
        assert!(development.contains("--mysql-ssl-ca") && !development.contains("--rand-spec"));
    }

    #[test]
    fn every_option_is_shown_once_when_all_are() {
        let text = help(Compat::Release, true);
        let of_sysbench = SUPPORTED.iter().map(|option| option.name.to_owned());
        for name in of_sysbench.chain(load_options().map(LoadOption::flag)) {
            let lines = text.matches(&format!("  --{name}=")).count();
            assert_eq!(lines, 1, "{name}");
        }
    }
}

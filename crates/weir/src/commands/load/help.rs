//! The help of the program under the name `sysbench`: its options by group, in its form. What each of them does is
//! told in Weir's words.

use std::fmt::Write as _;

use weir_sysbench::{Compat, option_help};

/// Value of an option, as the help has it.
const NUMBER: &str = "=N";
const SWITCH: &str = "[=on|off]";
const LIST: &str = "=[LIST,...]";
const TEXT: &str = "=STRING";

/// Name, what it takes, default.
type Row = (&'static str, &'static str, &'static str);

const GENERAL: [Row; 13] = [
    ("threads", NUMBER, "1"),
    ("events", NUMBER, "0"),
    ("time", NUMBER, "10"),
    ("forced-shutdown", TEXT, "off"),
    ("thread-stack-size", "=SIZE", "64K"),
    ("rate", NUMBER, "0"),
    ("report-interval", NUMBER, "0"),
    ("report-checkpoints", LIST, ""),
    ("debug", SWITCH, "off"),
    ("validate", SWITCH, "off"),
    ("help", SWITCH, "off"),
    ("version", SWITCH, "off"),
    ("config-file", "=FILENAME", NONE),
];
const ALIASES: [Row; 4] = [
    ("tx-rate", NUMBER, "0"),
    ("max-requests", NUMBER, "0"),
    ("max-time", NUMBER, "0"),
    ("num-threads", NUMBER, "1"),
];
/// Of 1.1 in their place.
const GENERAL_OF_DEVELOPMENT: [Row; 2] = [
    ("warmup-time", NUMBER, "0"),
    ("thread-init-timeout", NUMBER, "30"),
];
const RANDOM_OF_RELEASE: [Row; 6] = [
    ("rand-type", TEXT, "special"),
    ("rand-spec-iter", NUMBER, "12"),
    ("rand-spec-pct", NUMBER, "1"),
    ("rand-spec-res", NUMBER, "75"),
    ("rand-seed", NUMBER, "0"),
    ("rand-pareto-h", NUMBER, "0.2"),
];
const RANDOM_OF_DEVELOPMENT: [Row; 4] = [
    ("rand-type", TEXT, "uniform"),
    ("rand-seed", NUMBER, "0"),
    ("rand-pareto-h", NUMBER, "0.2"),
    ("rand-zipfian-exp", NUMBER, "0.8"),
];
const LOG: [Row; 1] = [("verbosity", NUMBER, "3")];
const LATENCY: [Row; 2] = [("percentile", NUMBER, "95"), ("histogram", SWITCH, "off")];
const DATABASE: [Row; 3] = [
    ("db-driver", TEXT, "mysql"),
    ("db-ps-mode", TEXT, "auto"),
    ("db-debug", SWITCH, "off"),
];
const MYSQL: [Row; 12] = [
    ("mysql-host", LIST, "localhost"),
    ("mysql-port", LIST, "3306"),
    ("mysql-socket", LIST, NONE),
    ("mysql-user", TEXT, "sbtest"),
    ("mysql-password", TEXT, ""),
    ("mysql-db", TEXT, "sbtest"),
    ("mysql-ssl", SWITCH, "off"),
    ("mysql-ssl-cipher", TEXT, ""),
    ("mysql-compression", SWITCH, "off"),
    ("mysql-debug", SWITCH, "off"),
    ("mysql-ignore-errors", LIST, "1213,1020,1205"),
    ("mysql-dry-run", SWITCH, "off"),
];
/// No default at all.
const NONE: &str = "\0";

/// The help of the program.
pub(super) fn of_program(compat: Compat) -> String {
    let mut text = String::from(
        "Usage:\n  sysbench [options]... [testname] [command]\n\n\
         Commands implemented by most tests: prepare run cleanup help\n\n",
    );
    let mut all = GENERAL.to_vec();
    let random = if compat == Compat::Release {
        all.extend(ALIASES);
        RANDOM_OF_RELEASE.to_vec()
    } else {
        all.extend(GENERAL_OF_DEVELOPMENT);
        RANDOM_OF_DEVELOPMENT.to_vec()
    };
    group(&mut text, "General options:", &all);
    group(
        &mut text,
        "Pseudo-Random Numbers Generator options:",
        &random,
    );
    group(&mut text, "Log options:", &LOG);
    rows(&mut text, &LATENCY);
    group(&mut text, "General database options:\n", &DATABASE);
    text.push_str("\nCompiled-in database drivers:\n  mysql - MySQL driver\n\n");
    group(&mut text, "mysql options:", &MYSQL);
    text.push_str("See 'sysbench <testname> help' for a list of options for each test.\n\n");
    text
}

fn group(text: &mut String, title: &str, options: &[Row]) {
    text.push_str(title);
    text.push('\n');
    rows(text, options);
}

fn rows(text: &mut String, options: &[Row]) {
    let width = options
        .iter()
        .map(|(name, takes, _)| name.len() + takes.len());
    let width = width.max().unwrap_or(0) + 2;
    for (name, takes, default) in options {
        let option = format!("--{name}{takes}");
        let help = option_help(name);
        let help = if help.is_empty() {
            "see docs/lua.md"
        } else {
            help
        };
        let default = match *default {
            NONE => String::new(),
            default => format!(" [{default}]"),
        };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  {option:<width$} {help}{default}");
    }
    text.push('\n');
}

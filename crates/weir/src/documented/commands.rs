//! `docs/commands.md`, from the help of every command.

use std::fmt::Write as _;
use std::fs;

use clap::CommandFactory as _;

use super::root;
use crate::cli::Cli;
use crate::commands::load::replay;

const HEAD: &str = "\
# Commands

The help of every command, for search. `weir run --help` prints one of them.

This page is generated from `crates/weir/src/cli.rs`; do not edit it.
";

/// Columns of the help.
const WIDTH: usize = 100;

/// The page: a heading and the help of each command.
fn page() -> String {
    let mut text = HEAD.to_owned();
    let mut weir = Cli::command()
        .term_width(WIDTH)
        .disable_help_subcommand(true);
    weir.build();
    for command in weir.get_subcommands_mut() {
        describe(&mut text, "weir", command);
    }
    text
}

fn describe(text: &mut String, parent: &str, command: &mut clap::Command) {
    let name = format!("{parent} {}", command.get_name());
    if name == "weir load" {
        section(
            text,
            &name,
            &weir_sysbench::help(weir_sysbench::Compat::Release, true),
        );
        section(text, "weir load CAPTURE.weircap", replay::HELP);
        return;
    }
    // A command may have subcommands and be one itself.
    if !command.has_subcommands() || command.get_positionals().next().is_some() {
        let help = if explains_values(command) {
            command.render_long_help()
        } else {
            command.render_help()
        };
        section(text, &name, &help.to_string());
    }
    for below in command.get_subcommands_mut() {
        describe(text, &name, below);
    }
}

/// Returns true if a value of an option has a help of its own, as only the long form shows; the program decides
/// likewise.
fn explains_values(command: &clap::Command) -> bool {
    let values = command
        .get_arguments()
        .flat_map(clap::Arg::get_possible_values);
    values.into_iter().any(|value| value.get_help().is_some())
}

fn section(text: &mut String, name: &str, help: &str) {
    let lines = help.lines().map(str::trim_end);
    let help = lines.collect::<Vec<_>>().join("\n");
    // Writing to a String cannot fail.
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.trim());
}

#[test]
#[cfg_attr(
    not(feature = "flashback"),
    ignore = "the document is about the whole program"
)]
fn the_document_is_up_to_date() {
    let document = root().join("docs/commands.md");
    if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
        fs::write(&document, page()).unwrap();
    }
    assert!(
        fs::read_to_string(&document).unwrap_or_default() == page(),
        "docs/commands.md is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo nextest run -p weir documented`"
    );
}

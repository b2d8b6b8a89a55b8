//! `weir help`: the first screen, all commands, or the help of one.

use std::iter::once;

use clap::Parser as _;

use crate::cli::{Cli, HelpArguments, all_commands, first_screen};
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &HelpArguments) -> anyhow::Result<Outcome> {
    if arguments.command.is_empty() {
        output::text(if arguments.all {
            all_commands()
        } else {
            first_screen()
        })?;
        return Ok(Outcome::Done);
    }
    // `load` prints its help by itself; that of all other commands ends the program here.
    let words = once("weir").chain(arguments.command.iter().map(String::as_str));
    crate::run(Cli::parse_from(words.chain(once("--help"))).command)
}

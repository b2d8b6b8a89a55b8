//! The program `weir-flashback`: `weir flashback` alone, for hosts that want nothing else.

use std::process::ExitCode;

use clap::Parser;
use weir_flashback::command::{self, Arguments};
use weir_terminal::output;

/// Query tables of a MySQL or MariaDB server as they were, print the changes since then, and undo them.
#[derive(Debug, Parser)]
#[command(
    name = "weir-flashback",
    version,
    after_help = "Exit codes: 0 done; 1 failed; 2 wrong usage; 130 stopped by Ctrl-C."
)]
struct Cli {
    /// Colour the text; auto: on a terminal, unless `NO_COLOR` is set
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        display_order = 900
    )]
    color: clap::ColorChoice,
    #[command(flatten)]
    arguments: Arguments,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    output::choose_color(cli.color);
    weir_terminal::exit_code("weir-flashback", command::execute(&cli.arguments), |_| 1)
}

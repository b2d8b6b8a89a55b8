//! The command line: wiring only. It parses, calls, prints and exits.
//! Change here: an option: `cli.rs`, `cli/`; of `weir load`: `weir-sysbench`; what a command does: `commands/`, one file each; words of an error: the crate's `error.rs`, put together in `weir-terminal`.
#[macro_use]
extern crate weir_terminal;

mod argv;
mod cli;
mod commands;
#[cfg(test)]
mod documented;
mod progress;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use weir_load::LoadError;
use weir_terminal::{Outcome, interrupt, output, password};

use crate::cli::{Cli, Command, DriveCommand, LoadArguments};

fn main() -> ExitCode {
    weir_terminal::exit_code("weir", run(command()), failure_code)
}

/// 2 for a load that did not begin or end in time, as in sysbench; 1 for all other failures.
fn failure_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(LoadError::InitTimeout { .. } | LoadError::Unfinished(_)) => 2,
        _ => 1,
    }
}

/// The command line, understood; wrong usage ends here with exit code 2.
fn command() -> Command {
    let words: Vec<_> = std::env::args_os().collect();
    if let Err(error) = argv::hide_passwords(&words) {
        eprintln!("note: passwords on the command line can be seen by others ({error})");
    }
    let program = words.first().map(PathBuf::from).unwrap_or_default();
    // A link of this name makes Weir a drop-in for scripts that call it.
    if program.file_name().is_some_and(|name| name == "sysbench") {
        let arguments = words[1..]
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        return Command::Load(LoadArguments {
            arguments,
            is_drop_in: true,
        });
    }
    let cli = Cli::parse_from(words);
    output::choose_color(cli.color);
    cli.command
}

fn run(command: Command) -> anyhow::Result<Outcome> {
    if is_of_a_user(&command) {
        for line in commands::left_changed::lines() {
            eprintln!("warning: {line}");
        }
    }
    match command {
        Command::Look(arguments) => commands::look::execute(&arguments),
        Command::Advise(arguments) => commands::advise::execute(&arguments),
        Command::Init(arguments) => commands::init::execute(&arguments),
        Command::Run(arguments) => commands::run::execute(&arguments),
        Command::Upgrade(arguments) => commands::upgrade::execute(&arguments),
        Command::Plan(arguments) => commands::plan::execute(&arguments),
        Command::Report(arguments) => commands::report::execute(&arguments),
        Command::Serve(arguments) => commands::serve::execute(&arguments),
        Command::Compare(arguments) => commands::compare::execute(&arguments),
        Command::Predict { command } => commands::predict::execute(&command),
        Command::Claims(arguments) => commands::claims::execute(&arguments),
        Command::Explain(arguments) => commands::explain::execute(&arguments),
        Command::Load(arguments) => commands::load::execute(&arguments),
        Command::Capture { command } => commands::capture::execute(&command),
        Command::Bus { command } => commands::bus::execute(&command),
        Command::Agent(arguments) => commands::agent::execute(&arguments),
        Command::Agents { command } => commands::agents::execute(&command),
        Command::Workload { command } => commands::workload::execute(&command),
        Command::Drive { command } => commands::drive::execute(&command),
        Command::Server { command } => commands::server::execute(&command),
        Command::Ddl { command } => commands::ddl::execute(&command),
        Command::Facts { command } => commands::facts::execute(&command),
        #[cfg(feature = "flashback")]
        Command::Flashback(arguments) => weir_flashback::command::execute(&arguments),
        Command::CrashTest { command } => commands::crash_test::execute(&command),
        Command::Doctor(arguments) => commands::doctor::execute(&arguments),
        Command::Clean(arguments) => commands::clean::execute(&arguments),
        Command::Completions(arguments) => commands::shell::completions(&arguments),
        Command::Manual(arguments) => commands::shell::manual(&arguments),
        Command::Help(arguments) => commands::help::execute(&arguments),
    }
}

/// Returns true if a user sees its output, and it does not report changed settings by itself.
fn is_of_a_user(command: &Command) -> bool {
    match command {
        Command::Clean(_)
        | Command::Completions(_)
        | Command::Manual(_)
        | Command::Help(_)
        | Command::Load(LoadArguments {
            is_drop_in: true, ..
        }) => false,
        Command::Drive {
            command: DriveCommand::Mount(arguments),
        } => !arguments.foreground,
        _ => true,
    }
}

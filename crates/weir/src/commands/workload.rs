//! `weir workload`: workload files from captures, and how close they are.

mod check;
mod fit;
mod list;

use crate::Outcome;
use crate::cli::WorkloadCommand;

pub(crate) fn execute(command: &WorkloadCommand) -> anyhow::Result<Outcome> {
    match command {
        WorkloadCommand::Fit(arguments) => fit::execute(arguments),
        WorkloadCommand::Check(arguments) => check::execute(arguments),
        WorkloadCommand::List(arguments) => list::execute(arguments),
    }
}

//! `weir capture`: a user's own load as a file.

mod counters;
mod import;
mod poll;
mod proxy;
mod show;

use crate::Outcome;
use crate::cli::CaptureCommand;

pub(crate) fn execute(command: &CaptureCommand) -> anyhow::Result<Outcome> {
    match command {
        CaptureCommand::Proxy(arguments) => proxy::execute(arguments),
        CaptureCommand::Poll(arguments) => poll::execute(arguments),
        CaptureCommand::Import(arguments) => import::execute(arguments),
        CaptureCommand::Show(arguments) => show::execute(arguments),
    }
}

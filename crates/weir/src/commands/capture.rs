//! `weir capture`: a user's own load as a file.

mod import;
mod proxy;
mod show;

use crate::Outcome;
use crate::cli::CaptureCommand;

pub(crate) fn execute(command: &CaptureCommand) -> anyhow::Result<Outcome> {
    match command {
        CaptureCommand::Proxy(arguments) => proxy::execute(arguments),
        CaptureCommand::Import(arguments) => import::execute(arguments),
        CaptureCommand::Show(arguments) => show::execute(arguments),
    }
}

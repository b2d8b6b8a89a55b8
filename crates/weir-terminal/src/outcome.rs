//! The end of a program.

use std::process::ExitCode;

use crate::error_line::error_line;
use crate::{interrupt, output};

/// Outcome of a command; the numbers are the contract of `weir --help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// Done, and what was asked for does not hold: a gate is crossed, a crash state is damaged.
    Failed,
    /// Done, but a rule makes a verdict invalid.
    Invalid,
    /// Done, but too few runs to decide what was asked.
    Undecided,
    /// Stopped by Ctrl-C; what was complete is kept.
    Stopped,
    /// As a script says.
    Code(u8),
}

/// The exit code of `program`. An error is printed as one line, also one of writing to standard output; `failure` is
/// its code.
pub fn exit_code(
    program: &str,
    done: anyhow::Result<Outcome>,
    failure: impl Fn(&anyhow::Error) -> u8,
) -> ExitCode {
    match done.and_then(|outcome| output::check().map(|()| outcome)) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Ok(Outcome::Invalid) => ExitCode::from(3),
        Ok(Outcome::Undecided) => ExitCode::from(4),
        Ok(Outcome::Code(code)) => ExitCode::from(code),
        Ok(Outcome::Stopped) => ExitCode::from(interrupt::STOPPED),
        Err(error) => {
            eprintln!("{program}: {}", error_line(&error));
            ExitCode::from(failure(&error))
        }
    }
}

//! Standard output for data. A reader that goes away (`weir plan STUDY | head`) is no error; a full
//! disk is.

use std::fmt::{Arguments, Display};
use std::io::{self, ErrorKind, Write};

use anyhow::Context;

/// Writes `text` as it is.
pub(crate) fn text(text: impl Display) -> anyhow::Result<()> {
    write(format_args!("{text}"))
}

/// Writes `text` and ends the line.
pub(crate) fn line(text: impl Display) -> anyhow::Result<()> {
    write(format_args!("{text}\n"))
}

fn write(text: Arguments<'_>) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_fmt(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

//! Standard output for data. A reader that goes away (`weir plan STUDY | head`) is no error; a full
//! disk is.

use std::fmt::{Arguments, Display};
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};
use anyhow::{Context, bail};

const CANNOT_WRITE: &str = "cannot write to standard output";
/// Reason that the first text that could not be written was lost.
static LOST: OnceLock<String> = OnceLock::new();

/// Returns true if text on standard output has colours: by `--color`, else by `NO_COLOR`, `CLICOLOR_FORCE` and the
/// terminal.
pub fn is_colored() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Takes the choice of `--color`.
pub fn choose_color(choice: clap::ColorChoice) {
    let choice = match choice {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Writes `text` as it is.
pub fn text(text: impl Display) -> anyhow::Result<()> {
    write(format_args!("{text}"))
}

/// Writes `text` and ends the line.
pub fn line(text: impl Display) -> anyhow::Result<()> {
    write(format_args!("{text}\n"))
}

fn write(text: Arguments<'_>) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_fmt(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            LOST.get_or_init(|| error.to_string());
            Err(error).context(CANNOT_WRITE)
        }
        _ => Ok(()),
    }
}

/// Passes if all that was printed was also written; a load goes on where a line of it cannot be.
///
/// # Errors
///
/// The first text that could not be written.
pub fn check() -> anyhow::Result<()> {
    LOST.get()
        .map_or(Ok(()), |why| bail!("{CANNOT_WRITE}: {why}"))
}

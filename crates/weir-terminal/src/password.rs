//! Asking for a password: from a terminal without showing it, else a line of standard input.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::Context as _;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use weir_model::Secret;

use crate::interrupt;

/// A terminal that does not show what is typed, until this is dropped.
struct Silent(Termios);

impl Silent {
    /// Ctrl-C ends the line instead of the program, so that the terminal is given back as it was
    /// (termios(3), VEOL).
    fn new() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ISIG);
        silent.special_codes[SpecialCodeIndex::VEOL] =
            before.special_codes[SpecialCodeIndex::VINTR];
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self(before))
    }

    /// A line as the terminal gives it, in one piece; `None` if Ctrl-C ended it.
    fn line(&self) -> io::Result<Option<String>> {
        let interrupt = self.0.special_codes[SpecialCodeIndex::VINTR];
        let mut input = io::stdin().lock();
        let line = input.fill_buf()?.to_vec();
        input.consume(line.len());
        if line.last() == Some(&interrupt) {
            return Ok(None);
        }
        String::from_utf8(line).map(Some).map_err(io::Error::other)
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing restored.
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0);
        eprintln!();
    }
}

/// Reads a password.
pub fn ask() -> anyhow::Result<Secret> {
    let line = if io::stdin().is_terminal() {
        eprint!("Password: ");
        Silent::new()
            .context("cannot hide what is typed")?
            .line()
            .context("cannot read the password from the terminal")?
    } else {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        read.context("cannot read the password from standard input")?;
        Some(line)
    };
    match line {
        Some(line) => Ok(Secret::new(line.trim_end_matches(['\r', '\n']))),
        None => interrupt::exit(),
    }
}

//! Asking for a password: from a terminal without showing it, else a line of standard input.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::Context as _;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use weir_model::Secret;

/// A terminal that does not show what is typed, until this is dropped.
struct Silent(Termios);

impl Silent {
    fn new() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self(before))
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
pub(crate) fn ask() -> anyhow::Result<Secret> {
    let _silent = io::stdin()
        .is_terminal()
        .then(|| {
            eprint!("Password: ");
            Silent::new()
        })
        .transpose()
        .context("cannot hide what is typed")?;
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .context("cannot read the password from standard input")?;
    Ok(Secret::new(line.trim_end_matches(['\r', '\n'])))
}

//! A pseudo-terminal with the program in it, as a user's window is one.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::harness::World;

pub(crate) const COLUMNS: u16 = 90;

/// A window with a call of `weir` in it.
pub(crate) struct Window {
    keyboard: File,
    tty: OwnedFd,
    shown: Arc<Mutex<Vec<u8>>>,
    /// The terminal's settings before the program started.
    pub(crate) before: Termios,
    pub(crate) child: Child,
}

impl Window {
    /// `weir ARGUMENTS`, with sockets, records and home in `world`.
    pub(crate) fn open(world: &World, arguments: &[&str]) -> Self {
        Self::open_program(world, env!("CARGO_BIN_EXE_weir"), arguments)
    }

    /// The same with another program.
    pub(crate) fn open_program(world: &World, program: &str, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let tty = rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let size = Winsize {
            ws_row: 30,
            ws_col: COLUMNS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&tty, size).unwrap();
        let before = tcgetattr(tty.as_fd()).unwrap();
        let stdio = || Stdio::from(tty.try_clone().unwrap());
        // The terminal is its own, so that Ctrl-C reaches it as a signal.
        let child = Command::new("setsid")
            .args(["--ctty", "--wait", program])
            .args(arguments)
            .env("XDG_RUNTIME_DIR", world.runtime.path())
            .env("TERM", "xterm-256color")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();
        let shown = Arc::<Mutex<Vec<u8>>>::default();
        let screen = Arc::clone(&shown);
        let mut reader = File::from(master.try_clone().unwrap());
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                screen.lock().unwrap().extend(&buffer[..length]);
            }
        });
        Self {
            keyboard: File::from(master),
            tty,
            shown,
            before,
            child,
        }
    }

    /// All that was shown.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn settings(&self) -> Termios {
        tcgetattr(self.tty.as_fd()).unwrap()
    }
}

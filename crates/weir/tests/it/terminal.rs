//! `weir run` on a terminal: a real pseudo-terminal, as a user's window is one.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::harness::{World, small_study, wait_until};

const COLUMNS: u16 = 90;
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// A window with `weir run` in it.
struct Window {
    keyboard: File,
    tty: OwnedFd,
    shown: Arc<Mutex<Vec<u8>>>,
    child: Child,
}

impl Window {
    fn open(world: &World, study: &str) -> Self {
        let study = world.write("study.toml", study);
        fs::create_dir_all(world.path("work")).unwrap();
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
        let stdio = || Stdio::from(tty.try_clone().unwrap());
        // The terminal is its own, so that Ctrl-C reaches it as a signal.
        let child = Command::new("setsid")
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_weir"), "run"])
            .arg(study)
            .arg("--out")
            .arg(world.path("out"))
            .arg("--work")
            .arg(world.path("work"))
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
            child,
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    fn settings(&self) -> Termios {
        tcgetattr(self.tty.as_fd()).unwrap()
    }
}

/// No line that was drawn is wider than the window.
fn assert_fits(text: &str) {
    let screen = text.split(ENTER).nth(1).unwrap().split(LEAVE).next();
    // The terminal itself adds a carriage return to each line feed.
    for line in screen.unwrap().lines() {
        let plain = line
            .replace("\x1b[H", "")
            .replace("\x1b[K", "")
            .replace("\x1b[J", "")
            .replace("\x1b[?25l", "")
            .replace('\r', "");
        assert!(!plain.contains('\x1b'), "{plain:?}");
        assert!(plain.chars().count() <= usize::from(COLUMNS), "{plain:?}");
    }
}

#[test]
fn ctrl_c_in_a_window_gives_the_terminal_back_as_it_was() {
    let world = World::new();
    let study = small_study("mysql").replace("measure = \"2s\"", "measure = \"30s\"");
    let mut window = Window::open(&world, &study);
    let before = format!("{:?}", window.settings());
    wait_until("a limiter is shown", || {
        let text = window.text();
        text.rsplit("limited by").next().is_some_and(|rest| {
            text.contains("measuring, second")
                && !rest.trim_start().starts_with("not known")
                && rest.contains(": ")
        })
    });
    window.keyboard.write_all(b"\x03").unwrap();
    let status = window.child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{}", window.text());
    wait_until("the last words are shown", || window.text().contains(LEAVE));
    let text = window.text();
    assert_fits(&text);
    let after = text.rsplit(LEAVE).next().unwrap();
    assert!(after.contains("stopped"), "{after:?}");
    assert!(
        !after.contains(ENTER) && !after.contains("\x1b["),
        "{after:?}"
    );
    assert_eq!(format!("{:?}", window.settings()), before);
    world.assert_nothing_left();
}

#[test]
fn at_the_end_of_a_study_the_verdicts_stand_below_what_was_there_before() {
    let world = World::new();
    let study = small_study("mariadb").replace("runs = 3", "runs = 1");
    let mut window = Window::open(&world, &study);
    window.child.wait().unwrap();
    wait_until("the verdicts are shown", || {
        window.text().contains("report: ")
    });
    let text = window.text();
    assert_fits(&text);
    assert!(text.contains("finished runs"), "{text}");
    let after = text.rsplit(LEAVE).next().unwrap();
    assert!(
        after.contains("limited by") && !after.contains('\x1b'),
        "{after:?}"
    );
    world.assert_nothing_left();
}

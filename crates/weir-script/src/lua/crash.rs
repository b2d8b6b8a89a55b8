//! Position of a script when its process must end: it has crashed by FFI, or loops for ever.
//!
//! A signal's handler reads the interpreter's stack, which may be in any state. The process ends in any case, so that
//! the worst that can happen is that it ends without the line.

#![allow(unsafe_code)] // signals, and an interpreter that is looked at from outside

use std::ffi::{CStr, c_int};
use std::fs;
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mlua::ffi;

use crate::lua::state_data::running;

/// Signals of a crash.
const CRASHES: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "memory that is not its own"),
    (libc::SIGBUS, "memory that is not there"),
    (libc::SIGFPE, "a division by zero"),
    (libc::SIGILL, "no code"),
    (libc::SIGABRT, "an abort"),
];
/// Asks a thread where it is.
const WHERE: c_int = libc::SIGUSR2;
/// Time limit for a thread to answer.
const PATIENCE: Duration = Duration::from_millis(200);
/// Frames that are looked through for one of Lua.
const FRAMES_MAX: c_int = 32;

/// From here on, a crash prints one line before the process dies of it.
pub(crate) fn tell_crashes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (signal, _) in CRASHES {
            handle(signal, crashed);
        }
    });
}

fn handle(signal: c_int, handler: extern "C" fn(c_int)) {
    // SAFETY: sigaction(2) with a function that only reads and writes.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn crashed(signal: c_int) {
    static IS_FIRST: AtomicBool = AtomicBool::new(true);
    if !IS_FIRST.swap(false, Ordering::Relaxed) {
        // Another thread has crashed, and says so before it ends them all.
        loop {
            // SAFETY: pause(2).
            unsafe { libc::pause() };
        }
    }
    let what = CRASHES.iter().find(|(known, _)| *known == signal);
    say(b"FATAL: the script has crashed the program (");
    say(what.map_or("a signal", |(_, what)| *what).as_bytes());
    say(b")");
    say_place();
    say(b"\n");
    // SAFETY: signal(2): what crashed does so again when this returns, with the system's handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// One line is enough.
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Writes a line that says where one of the threads is that run a script, if any is within one.
pub fn tell_where() {
    handle(WHERE, asked);
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    for task in tasks.filter_map(Result::ok) {
        let name = task.file_name();
        let Some(thread) = name.to_str().and_then(|name| name.parse::<c_int>().ok()) else {
            continue;
        };
        // SAFETY: tgkill(2) of a thread of this process; one that has ended is an error.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, WHERE) };
    }
    std::thread::sleep(PATIENCE);
}

extern "C" fn asked(_: c_int) {
    if running().is_null() || IS_TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    say(b"FATAL: a thread of the script is still");
    say_place();
    say(b"\n");
}

/// ` at FILE:LINE` of the interpreter that runs on this thread.
fn say_place() {
    let state = running();
    if state.is_null() {
        return;
    }
    for level in 0..FRAMES_MAX {
        let mut frame = MaybeUninit::<ffi::lua_Debug>::zeroed();
        // SAFETY: the state lives as long as its script runs on this thread; its stack may be in any state, see
        // above.
        unsafe {
            if ffi::lua_getstack(state, level, frame.as_mut_ptr()) == 0 {
                return;
            }
            ffi::lua_getinfo(state, c"Sl".as_ptr(), frame.as_mut_ptr());
            let frame = frame.assume_init_ref();
            if frame.currentline > 0 {
                say(b" at ");
                say(CStr::from_ptr(frame.short_src.as_ptr()).to_bytes());
                say(b":");
                say_number(frame.currentline as u32);
                return;
            }
        }
    }
}

fn say_number(number: u32) {
    let mut digits = [0; 10];
    let (mut at, mut rest) = (digits.len(), number);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    say(&digits[at..]);
}

fn say(text: &[u8]) {
    // SAFETY: write(2) is allowed in a handler.
    unsafe { libc::write(libc::STDOUT_FILENO, text.as_ptr().cast(), text.len()) };
}

//! Ctrl-C, SIGTERM and SIGHUP.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

/// Exit code of a command that a signal has ended: 128 + SIGINT, as shells have it.
pub const STOPPED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

/// Calls `stop` at each signal. Later signals change nothing: stopping in order takes seconds, and
/// ending faster would leave servers and mounts to `weir clean`.
pub fn on_signal(stop: impl FnMut() + Send + 'static) -> anyhow::Result<()> {
    ctrlc::set_handler(stop).context("cannot watch for Ctrl-C")
}

/// A flag that becomes true at the first signal.
pub fn stop_flag() -> anyhow::Result<&'static AtomicBool> {
    on_signal(|| STOP.store(true, Ordering::SeqCst))?;
    Ok(&STOP)
}

/// As [`stop_flag`], for a command that leaves nothing behind: a second signal ends it at once, also
/// while it waits for a server that does not answer.
pub fn stop_flag_then_exit() -> anyhow::Result<&'static AtomicBool> {
    on_signal(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            exit();
        }
    })?;
    Ok(&STOP)
}

/// Ends the program where nothing has been started.
#[allow(
    clippy::exit,
    reason = "the function that should return may be the one that waits"
)]
pub fn exit() -> ! {
    std::process::exit(STOPPED.into())
}

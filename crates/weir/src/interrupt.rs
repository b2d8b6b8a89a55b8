//! Ctrl-C, SIGTERM and SIGHUP.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

static STOP: AtomicBool = AtomicBool::new(false);

/// Calls `stop` at each signal. Later signals change nothing: stopping in order takes seconds, and
/// ending faster would leave servers and mounts to `weir clean`.
pub(crate) fn on_signal(stop: impl FnMut() + Send + 'static) -> anyhow::Result<()> {
    ctrlc::set_handler(stop).context("cannot watch for Ctrl-C")
}

/// A flag that becomes true at the first signal.
pub(crate) fn stop_flag() -> anyhow::Result<&'static AtomicBool> {
    on_signal(|| STOP.store(true, Ordering::SeqCst))?;
    Ok(&STOP)
}

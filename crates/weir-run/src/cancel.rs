//! Watching and early end of work: one token instead of a flag that each layer looks at by itself.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_store::progress::Event;

use crate::RunError;

/// Tells whether the user wants an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cancel<'a>(&'a AtomicBool);

impl<'a> Cancel<'a> {
    /// Set from outside, by a signal for instance.
    pub(crate) fn on(flag: &'a AtomicBool) -> Self {
        Self(flag)
    }

    /// The flag itself, for a library that looks at one.
    pub(crate) fn flag(self) -> &'a AtomicBool {
        self.0
    }

    pub(crate) fn is_set(self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    ///
    /// [`RunError::Interrupted`] as soon as it is set.
    pub(crate) fn check(self) -> Result<(), RunError> {
        if self.is_set() {
            return Err(RunError::Interrupted);
        }
        Ok(())
    }

    /// Ends the wait for a server as soon as it is set.
    pub(crate) fn watching(self) -> impl FnMut(Duration) -> ControlFlow<()> + 'a {
        move |_| {
            if self.is_set() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
}

/// Control of long work: a way to end it, and a listener for its progress.
pub(crate) struct Control<'a> {
    pub(crate) cancel: Cancel<'a>,
    on_event: &'a mut dyn FnMut(&Event<'_>),
}

impl<'a> Control<'a> {
    pub(crate) fn new(stop: &'a AtomicBool, on_event: &'a mut dyn FnMut(&Event<'_>)) -> Self {
        Self {
            cancel: Cancel::on(stop),
            on_event,
        }
    }

    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        (self.on_event)(event);
    }
}

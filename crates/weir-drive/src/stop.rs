//! A request to stop, from any source: a signal, a control request, an unmount from outside.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A flag that can be waited for; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    shared: Arc<(Mutex<bool>, Condvar)>,
}

impl Stop {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag and wakes all that wait for it.
    pub fn request(&self) {
        let (requested, wake) = &*self.shared;
        *requested.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
    }

    /// Waits until the flag is set.
    pub fn wait(&self) {
        let (requested, wake) = &*self.shared;
        let guard = requested.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = wake.wait_while(guard, |requested| !*requested);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until the flag is set, but no longer than `patience`; whether it is set.
    pub fn wait_for(&self, patience: Duration) -> bool {
        let (requested, wake) = &*self.shared;
        let guard = requested.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = wake.wait_timeout_while(guard, patience, |requested| !*requested);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

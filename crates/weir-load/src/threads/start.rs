//! The beginning of a run of threads: none begins before all are ready.

use std::sync::Arc;

use super::meter::{MeterState, ThreadMeter};

/// A thread's way into the run. One that is dropped without being used has failed.
#[derive(Debug)]
pub struct Start {
    shared: Arc<MeterState>,
    number: u32,
    is_used: bool,
}

impl Start {
    pub(super) fn new(shared: Arc<MeterState>, number: u32) -> Self {
        Self {
            shared,
            number,
            is_used: false,
        }
    }

    /// Waits until all threads are ready; nothing if one of them is not going to be.
    pub fn ready(mut self) -> Option<ThreadMeter> {
        self.is_used = true;
        self.shared.ready_and_wait().then(|| {
            let shared = Arc::clone(&self.shared);
            ThreadMeter::new(shared, self.number)
        })
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        if !self.is_used {
            self.shared.give_up();
        }
    }
}

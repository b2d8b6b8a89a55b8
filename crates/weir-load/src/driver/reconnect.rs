//! New connections for those that were lost, made outside the reactor.
//!
//! A login waits for the server several times, which a reactor must not. It asks a helper thread
//! and looks for the result now and then; the helper tries until the server is back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{Statements, Transport};

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// A connection that is logged in and has its statements prepared.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) transport: Transport,
    pub(crate) eof_deprecated: bool,
    pub(crate) statements: Statements,
}

type Ready = Arc<Mutex<BTreeMap<u32, Fresh>>>;

/// The reactor's end. Dropping it ends the helper.
#[derive(Debug)]
pub(crate) struct Reconnector {
    wanted: Sender<u32>,
    ready: Ready,
    is_over: Arc<AtomicBool>,
}

/// The helper's end.
#[derive(Debug)]
pub(crate) struct Reconnecting {
    wanted: Receiver<u32>,
    ready: Ready,
    is_over: Arc<AtomicBool>,
}

/// Both ends.
pub(crate) fn reconnecting() -> (Reconnector, Reconnecting) {
    let (wanted, receiver) = channel();
    let ready = Ready::default();
    let is_over = Arc::new(AtomicBool::new(false));
    let helper = Reconnecting {
        wanted: receiver,
        ready: Arc::clone(&ready),
        is_over: Arc::clone(&is_over),
    };
    let reconnector = Reconnector {
        wanted,
        ready,
        is_over,
    };
    (reconnector, helper)
}

impl Reconnector {
    /// Asks for a new connection for this number.
    pub(super) fn ask(&self, number: u32) {
        // A helper that has panicked is noticed as a connection that does not come back.
        let _ = self.wanted.send(number);
    }

    /// The new connection, if it is there.
    pub(super) fn take(&self, number: u32) -> Option<Fresh> {
        self.ready
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&number)
    }
}

impl Drop for Reconnector {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Reconnecting {
    /// Makes connections with `connect`, which is given their numbers, until the reactor ends.
    pub(crate) fn serve(self, mut connect: impl FnMut(u32) -> Option<Fresh>) {
        while let Ok(number) = self.wanted.recv() {
            let fresh = loop {
                if self.is_over.load(Ordering::Relaxed) {
                    return;
                }
                match connect(number) {
                    Some(fresh) => break fresh,
                    None => std::thread::sleep(PAUSE),
                }
            };
            self.ready
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(number, fresh);
        }
    }
}

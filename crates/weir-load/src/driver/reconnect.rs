//! New connections for those that were lost or have done their number of transactions, made outside
//! the reactor.
//!
//! A login waits for the server several times, which a reactor must not. It asks a helper thread
//! and looks for the result now and then; helper threads make the connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Transport;
use crate::LoadError;
use crate::session::Statements;

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(20);
/// Time for which a server may refuse a connection that was not lost. It may not have noticed yet
/// that the one before is gone, or be asked for too many at a time.
const PATIENCE: Duration = Duration::from_secs(1);

/// Conditions under which connections are made again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Renewal {
    /// After so many transactions; 0 for never.
    pub(crate) every: u64,
    /// True if lost ones are made again, for as long as it takes.
    pub(crate) after_loss: bool,
}

/// A connection that is logged in and has its statements prepared.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) transport: Transport,
    pub(crate) eof_deprecated: bool,
    pub(crate) statements: Statements,
    /// Time at which it was made: it has been idle since then, until its first request.
    pub(crate) made: Instant,
}

impl Fresh {
    pub(crate) fn new(transport: Transport, eof_deprecated: bool, statements: Statements) -> Self {
        Self {
            transport,
            eof_deprecated,
            statements,
            made: Instant::now(),
        }
    }
}

type Ready = Arc<Mutex<BTreeMap<u32, Result<Fresh, LoadError>>>>;

/// The reactor's end. Dropping it ends the helpers.
#[derive(Debug)]
pub(crate) struct Reconnector {
    pub(super) renewal: Renewal,
    wanted: Sender<ConnectionRequest>,
    ready: Ready,
    is_over: Arc<AtomicBool>,
}

/// The number of a connection, and whether it is tried for as long as it takes.
type ConnectionRequest = (u32, bool);

/// A helper's end.
#[derive(Debug, Clone)]
pub(crate) struct ReconnectHelper {
    wanted: Arc<Mutex<Receiver<ConnectionRequest>>>,
    ready: Ready,
    is_over: Arc<AtomicBool>,
}

/// Both ends.
pub(crate) fn reconnecting(renewal: Renewal) -> (Reconnector, ReconnectHelper) {
    let (wanted, receiver) = channel();
    let ready = Ready::default();
    let is_over = Arc::new(AtomicBool::new(false));
    let helper = ReconnectHelper {
        wanted: Arc::new(Mutex::new(receiver)),
        ready: Arc::clone(&ready),
        is_over: Arc::clone(&is_over),
    };
    let reconnector = Reconnector {
        renewal,
        wanted,
        ready,
        is_over,
    };
    (reconnector, helper)
}

impl Reconnector {
    /// Asks for a new connection for this number; `is_patient`: which is tried for as long as it takes.
    pub(super) fn ask(&self, number: u32, is_patient: bool) {
        // A helper that has panicked is noticed as a connection that does not come back.
        let _ = self.wanted.send((number, is_patient));
    }

    /// The new connection, or why there is none, if that is known.
    pub(super) fn take(&self, number: u32) -> Option<Result<Fresh, LoadError>> {
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

impl ReconnectHelper {
    /// Makes connections with `connect`, which is given their numbers, until the reactor ends.
    pub(crate) fn serve(self, mut connect: impl FnMut(u32) -> Result<Fresh, LoadError>) {
        while let Some((number, is_patient)) = self.next() {
            let began = Instant::now();
            let result = loop {
                if self.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let result = connect(number);
                let is_final = !is_patient && began.elapsed() > PATIENCE;
                if result.is_ok() || is_final {
                    break result;
                }
                std::thread::sleep(PAUSE);
            };
            self.ready
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(number, result);
        }
    }

    /// The next connection that is wanted. Helpers wait for it in turn.
    fn next(&self) -> Option<ConnectionRequest> {
        let wanted = self.wanted.lock();
        wanted.unwrap_or_else(PoisonError::into_inner).recv().ok()
    }
}

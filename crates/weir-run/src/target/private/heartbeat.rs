//! A row of the primary that is written every 50 ms: its age on a replica is the replica's lag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use weir_model::Endpoint;
use weir_mysql::Gate;
use weir_server::{ServerError, Session};

use crate::RunError;

/// Time between two writes.
const EVERY: Duration = Duration::from_millis(50);
const ACTION: &str = "write the heartbeat";
const BEAT: &str = "UPDATE weir_heartbeat.beat SET written_at = UTC_TIMESTAMP(6)";

/// A thread that writes the row; dropping it ends the thread.
pub(super) struct Heartbeat {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Makes the row on the server at `endpoint`, and writes it from now on. When the connection is lost, it comes back
    /// as soon as a server listens there.
    pub(super) fn start(endpoint: Endpoint) -> Result<Self, RunError> {
        let mut session = Session::open(&endpoint, &Gate::own())?;
        for statement in [
            "CREATE DATABASE IF NOT EXISTS weir_heartbeat",
            "CREATE TABLE IF NOT EXISTS weir_heartbeat.beat (id INT PRIMARY KEY, written_at DATETIME(6))",
            "REPLACE INTO weir_heartbeat.beat VALUES (1, UTC_TIMESTAMP(6))",
        ] {
            session.run(ACTION, statement)?;
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = thread::spawn(move || beat(session, &endpoint, &told));
        Ok(Self {
            is_over,
            thread: Some(thread),
        })
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn beat(session: Session, endpoint: &Endpoint, is_over: &AtomicBool) {
    let mut session: Result<Session, ServerError> = Ok(session);
    while !is_over.load(Ordering::Relaxed) {
        let written = session.and_then(|mut session| {
            session.run(ACTION, BEAT)?;
            Ok(session)
        });
        thread::sleep(EVERY);
        session = match written {
            Ok(session) => Ok(session),
            Err(_) => Session::open(endpoint, &Gate::own()),
        };
    }
}

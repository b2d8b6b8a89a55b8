//! Making a part of the tables, in a thread of its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use weir_load::{BinaryLog, PreparePlan};

use super::job::gate;
use crate::authority_message::AuthorityFile;
use crate::messages::Answer;

/// Tables that are being made.
pub(super) struct PrepareJob {
    pub(super) run: String,
    shared: Arc<PrepareState>,
}

#[derive(Default)]
struct PrepareState {
    stop: AtomicBool,
    gave_up: OnceLock<String>,
    rows: AtomicU64,
    rows_total: AtomicU64,
    /// Ending of the job, if it has ended.
    ended: Mutex<Option<Result<(), String>>>,
}

impl PrepareJob {
    pub(super) fn start(
        run: String,
        (plan, authority): (PreparePlan, Option<AuthorityFile>),
        writes_replicas: bool,
    ) -> Result<Self, String> {
        let shared = Arc::new(PrepareState::default());
        let own = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("weir-prepare".to_owned())
            .spawn(move || {
                let skips_binary_log = plan.binary_log == BinaryLog::Off;
                let gate = gate(&plan.endpoint.database, writes_replicas, skips_binary_log);
                let done = weir_load::prepare(&plan, &gate, &own.stop, &mut |rows, total| {
                    own.rows.store(rows, Ordering::Relaxed);
                    own.rows_total.store(total, Ordering::Relaxed);
                });
                let gave_up = own.gave_up.get();
                let done =
                    done.map_err(|error| gave_up.map_or_else(|| error.to_string(), String::clone));
                drop(authority);
                *own.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            })
            .map_err(|error| error.to_string())?;
        Ok(Self { run, shared })
    }

    /// Ends it before its time; its rows stay, and the next time goes on with them.
    pub(super) fn end(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Ends it for a reason that is not its conductor's, who learns it.
    pub(super) fn give_up(&self, why: &str) {
        let _ = self.shared.gave_up.set(why.to_owned());
        self.end();
    }

    pub(super) fn has_ended(&self) -> bool {
        let ended = self.shared.ended.lock();
        ended.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Returns its state.
    pub(super) fn state(&self) -> Answer {
        let ended = self.shared.ended.lock();
        let ended = ended.unwrap_or_else(PoisonError::into_inner);
        Answer::Preparing {
            rows: self.shared.rows.load(Ordering::Relaxed),
            rows_total: self.shared.rows_total.load(Ordering::Relaxed),
            has_ended: ended.is_some(),
            failed: ended.as_ref().and_then(|ended| ended.clone().err()),
        }
    }
}

//! An event's statement: sent, watched, and sent again where it waited too long for a lock.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use weir_model::{EventDetail, EventEnding, EventStatement};
use weir_mysql::ClientError;

use super::clock::Clock;
use super::prepared_event::{PreparedEvent, Work, refused};
use super::watch::{StatementObservation, Watch};

/// `ER_LOCK_WAIT_TIMEOUT`.
const LOCK_WAIT_TIMEOUT: u16 = 1205;

impl PreparedEvent {
    /// Sends the statement, again where it waited too long for a lock.
    pub(super) fn run_statement(
        &mut self,
        statement: &EventStatement,
        clock: &Clock,
        measured_from: Instant,
    ) -> Work {
        let text = statement.text();
        let mut detail = EventDetail::default();
        let mut tries = 0;
        loop {
            tries += 1;
            let (done, seen) = self.run_watched(&text, clock, measured_from);
            let was_ended = seen.was_ended;
            add(&mut detail, seen);
            let ending = match done {
                Ok(()) => EventEnding::Done,
                Err(_) if was_ended => EventEnding::CutOff,
                Err(error) => {
                    let may_try = tries <= statement.retries && !clock.is_over();
                    if error.code() == Some(LOCK_WAIT_TIMEOUT) && may_try {
                        continue;
                    }
                    refused(&error)
                }
            };
            return Work {
                tries,
                ending,
                detail,
            };
        }
    }

    /// Runs one statement while the other connection looks at it.
    fn run_watched(
        &mut self,
        text: &str,
        clock: &Clock,
        measured_from: Instant,
    ) -> (Result<(), ClientError>, StatementObservation) {
        let connections = &mut self.connections;
        let (own, watcher) = (&mut connections.own, &mut connections.watcher);
        let watch = Watch {
            watcher,
            id: own.id(),
            names: &connections.names,
            own: self.own.as_ref(),
            clock,
            measured_from,
        };
        let (tell, done) = channel();
        thread::scope(|scope| {
            let watching = scope.spawn(move || watch.until(&done));
            let result = own.run(text).map(drop);
            drop(tell);
            let seen = watching.join();
            let seen = seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (result, seen)
        })
    }
}

/// Adds what was seen of another try.
fn add(detail: &mut EventDetail, seen: StatementObservation) {
    detail.phases.extend(seen.phases);
    let Some(new) = seen.temporary else {
        return;
    };
    match &mut detail.temporary {
        Some(files) => {
            files.peak_bytes = files.peak_bytes.max(new.peak_bytes);
            files.off_drive_peak_bytes = files.off_drive_peak_bytes.max(new.off_drive_peak_bytes);
            files.off_drive.extend(new.off_drive);
            files.off_drive.sort();
            files.off_drive.dedup();
        }
        None => detail.temporary = Some(new),
    }
}

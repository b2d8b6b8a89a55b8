//! Statements of a running server, asked for again and again: those that `performance_schema` remembers, or those of
//! the processlist. Digests say what share of all statements the polls saw.
//!
//! A poll only reads. Its own statements have an alias (`mark.rs`) by which they are left out of the capture and of the
//! counters.
//!
//! Method: MySQL manual, "Performance Schema Statement Event Tables" and "Statement Summary Tables"; MariaDB Knowledge
//! Base, "Performance Schema Tables" and "Information Schema PROCESSLIST Table".

mod counters;
mod event;
mod mark;
mod processlist;
mod record;
mod setup;
mod statement_events;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_mysql::{ClientError, Connection};

use crate::head::{CaptureHead, CaptureSource, CaptureTail};
use crate::import::Sessions;
use crate::{CaptureError, Literals};
use counters::{Counters, CountersAfter};
use event::Look;
use record::EventRecorder;
use setup::{Setup, Table};
use statement_events::StatementEvents;

/// Time between two polls, unless one is asked for.
const USUAL: Duration = Duration::from_secs(1);
/// Pause after a poll in times of its own, so that polls take 1 % of a core at most.
const PAUSE_TIMES: u32 = 99;
/// Pause between two looks at whether the capture is over.
const CHECK: Duration = Duration::from_millis(20);

/// Times of a capture by polls.
#[derive(Debug, Clone, Copy, Default)]
pub struct PollTimes {
    /// Length of the capture; `None`: until it is stopped.
    pub length: Option<Duration>,
    /// Time between the beginnings of two polls; `None`: 1 s, and longer where a poll takes more than 1 % of it.
    pub every: Option<Duration>,
}

/// A server whose statements can be polled.
#[derive(Debug)]
pub struct StatementPoll {
    connection: Connection,
    flavor: Flavor,
    setup: Setup,
}

/// A capture in the making.
struct PollSession<'a> {
    connection: &'a mut Connection,
    source: Source,
    recorder: EventRecorder,
    polls: u64,
    took: Duration,
}

/// Reader of a source's statements.
enum Source {
    Events(StatementEvents),
    Processlist,
    /// Digests alone.
    None,
}

impl StatementPoll {
    /// Asks a server what it remembers of its statements. `connection` needs to read only.
    ///
    /// # Errors
    ///
    /// A server that remembers nothing, an account that may not read it, or a server that is gone.
    pub fn open(mut connection: Connection, flavor: Flavor) -> Result<Self, CaptureError> {
        let setup = Setup::read(&mut connection, flavor);
        let setup = setup.map_err(|error| readable(error, flavor))?;
        Ok(Self {
            connection,
            flavor,
            setup,
        })
    }

    /// Returns what the capture comes from.
    pub fn source(&self) -> CaptureSource {
        self.setup.table.source()
    }

    /// Returns what the source guarantees and what it cannot see, a sentence each.
    pub fn guarantees(&self) -> Vec<String> {
        let known = self.source().guarantees().iter();
        let known = known.map(|line| (*line).to_owned());
        known.chain(self.setup.remarks.iter().cloned()).collect()
    }

    /// Polls until the time is over or `stop` is set, and writes what it saw to a new file.
    ///
    /// # Errors
    ///
    /// A file that cannot be written; a server that is lost, after what was seen is written.
    pub fn run(
        mut self,
        path: &Path,
        literals: Literals,
        times: PollTimes,
        stop: &AtomicBool,
    ) -> Result<CaptureTail, CaptureError> {
        let now_us = jiff::Timestamp::now().as_microsecond();
        let (source, began_unix_us) = match self.setup.table {
            Table::Processlist => (
                Source::Processlist,
                processlist::now_us(&mut self.connection)?,
            ),
            Table::None => (Source::None, now_us),
            table => {
                let events = StatementEvents::start(&mut self.connection, table)?;
                let began_unix_us = events.began_unix_us();
                (Source::Events(events), began_unix_us)
            }
        };
        let mut head = CaptureHead::new(self.source(), literals, began_unix_us);
        head.guarantees = self.guarantees();
        head.flavor = Some(self.flavor);
        head.version = Some(self.connection.version().to_owned());
        let sessions = Sessions::create(path, &head)?;
        let counters = Counters::read(&mut self.connection, &self.setup, began_unix_us)?;
        let mut polling = PollSession {
            connection: &mut self.connection,
            source,
            recorder: EventRecorder::new(sessions, self.setup.text_bytes_max),
            polls: 0,
            took: Duration::ZERO,
        };
        match polling
            .until(times, stop)
            .and_then(|()| polling.last(&counters))
        {
            Ok(read) => {
                let (polls, took, end_us) =
                    (polling.polls, polling.took, polling.recorder.now_us());
                let mut found = polling.recorder.finish(end_us)?;
                found.count(read, (polls, took));
                found.end()
            }
            Err(error) => {
                let end_us = polling.recorder.now_us();
                let found = polling.recorder.finish(end_us)?;
                found.end_early(&error.to_string())?;
                Err(error)
            }
        }
    }
}

impl PollSession<'_> {
    /// Polls until the capture is over.
    fn until(&mut self, times: PollTimes, stop: &AtomicBool) -> Result<(), CaptureError> {
        let began = Instant::now();
        loop {
            let took = self.poll()?;
            let pause = match times.every {
                Some(every) => every.saturating_sub(took),
                None => USUAL.saturating_sub(took).max(took * PAUSE_TIMES),
            };
            let next = Instant::now() + pause;
            loop {
                let is_over = times.length.is_some_and(|length| began.elapsed() >= length);
                if is_over || stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let rest = next.saturating_duration_since(Instant::now());
                if rest.is_zero() {
                    break;
                }
                std::thread::sleep(rest.min(CHECK));
            }
        }
    }

    /// Polls once; the time that the server took.
    fn poll(&mut self) -> Result<Duration, CaptureError> {
        let began = Instant::now();
        let look = self.look()?;
        self.recorder.meet(
            self.connection,
            &look,
            matches!(self.source, Source::Events(_)),
        )?;
        let took = began.elapsed();
        self.recorder.take(look)?;
        self.polls += 1;
        self.took += took;
        Ok(took)
    }

    fn look(&mut self) -> Result<Look, CaptureError> {
        match &mut self.source {
            Source::Events(events) => events.look(self.connection),
            Source::Processlist => processlist::look(self.connection),
            Source::None => Ok(Look::nothing()),
        }
    }

    /// Reads the counters at the end, and then the statements that had ended by then.
    fn last(&mut self, before: &Counters) -> Result<CountersAfter, CaptureError> {
        if let Source::Events(events) = &mut self.source {
            let now_ps = events.now_ps(self.connection)?;
            self.recorder.count_until(now_ps);
        }
        let after = before.read_again(self.connection)?;
        self.poll()?;
        Ok(after)
    }
}

/// Returns an error of the server with the privilege that the account needs.
fn readable(error: CaptureError, flavor: Flavor) -> CaptureError {
    match error {
        CaptureError::Server(ClientError::Privilege { message, .. }) => CaptureError::NotPolled {
            why: message,
            remedy: match flavor {
                Flavor::Mysql => "GRANT SELECT ON performance_schema.* TO the account",
                Flavor::Mariadb => {
                    "GRANT SELECT ON performance_schema.* and PROCESS ON *.* TO the account"
                }
            },
        },
        other => other,
    }
}

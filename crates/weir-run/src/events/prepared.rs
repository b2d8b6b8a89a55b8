//! One event with its connections: what it does when its time has come, and how that is put back.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::thread;

use weir_model::{Endpoint, EventEnding, EventKind, EventStatement, TimelineEvent};
use weir_mysql::{ClientError, Connection, Gate, Value, identifier};
use weir_server::{ConfigChanges, literal};

use super::clock::Clock;
use super::copying::Copying;
use super::lock_wait::{Seen, watch};

/// `ER_LOCK_WAIT_TIMEOUT`.
const LOCK_WAIT_TIMEOUT: u16 = 1205;

/// An event that waits for its time.
pub(super) struct Prepared {
    pub(super) event: TimelineEvent,
    /// For what opens connections of its own.
    pub(super) endpoint: Endpoint,
    pub(super) gate: Gate,
    /// Its own connection.
    pub(super) connection: Connection,
    /// Looks at the first one, and ends its statement.
    pub(super) watcher: Connection,
    /// Variables of its session, as the server says them.
    pub(super) session: BTreeMap<String, String>,
    /// For variables of a server that the user gives.
    pub(super) changes: Option<ConfigChanges>,
    /// The statement that puts a variable back.
    pub(super) way_back: Option<String>,
}

/// What became of it.
pub(super) struct Work {
    pub(super) tries: u32,
    pub(super) lock_wait_s: f64,
    pub(super) ending: EventEnding,
}

impl Work {
    /// Of an event that waits for nothing.
    fn once(done: Result<(), ClientError>) -> Self {
        Self {
            tries: 1,
            lock_wait_s: 0.0,
            ending: done.map_or_else(|error| refused(&error), |()| EventEnding::Done),
        }
    }
}

impl Prepared {
    /// Does it.
    pub(super) fn work(&mut self, clock: &Clock) -> Work {
        match self.event.kind.clone() {
            EventKind::Mark => Work::once(Ok(())),
            EventKind::Statement(statement) | EventKind::Ddl(statement) => {
                if let Some(copying) = Copying::of(&statement) {
                    let server = (&self.endpoint, &self.gate);
                    return Work {
                        ending: copying.run(&statement, server, &mut self.session, clock),
                        ..Work::once(Ok(()))
                    };
                }
                self.run_statement(&statement, clock)
            }
            EventKind::Hold { table, length } => {
                let held = self.open_transaction(&table);
                let is_cut_off = held.is_ok() && clock.is_over_within(length.0);
                let done = held.and_then(|()| self.connection.run("COMMIT").map(drop));
                match Work::once(done) {
                    work if is_cut_off && work.ending == EventEnding::Done => Work {
                        ending: EventEnding::CutOff,
                        ..work
                    },
                    work => work,
                }
            }
            EventKind::Set { variable, value } => self.set_variable(&variable, &value),
        }
    }

    /// Sends the statement, again where it waited too long for a lock.
    fn run_statement(&mut self, statement: &EventStatement, clock: &Clock) -> Work {
        let text = statement.text();
        let mut lock_wait_s = 0.0;
        let mut tries = 0;
        loop {
            tries += 1;
            let (done, seen) = self.run_watched(&text, clock);
            lock_wait_s += seen.lock_wait_s;
            let ending = match done {
                Ok(()) => EventEnding::Done,
                Err(_) if seen.was_ended => EventEnding::CutOff,
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
                lock_wait_s,
                ending,
            };
        }
    }

    /// Runs one statement while the other connection looks at it.
    fn run_watched(&mut self, text: &str, clock: &Clock) -> (Result<(), ClientError>, Seen) {
        let Self {
            connection,
            watcher,
            ..
        } = self;
        let (tell, done) = channel();
        thread::scope(|scope| {
            let id = connection.id();
            let watching = scope.spawn(move || watch(watcher, id, clock, &done));
            let result = connection.run(text).map(drop);
            drop(tell);
            let seen = watching.join();
            let seen = seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (result, seen)
        })
    }

    /// Begins a transaction that has read a row of `table`.
    fn open_transaction(&mut self, table: &str) -> Result<(), ClientError> {
        self.connection.run("START TRANSACTION")?;
        let read = format!("SELECT 1 FROM {} LIMIT 1", identifier(table));
        self.connection.run(read).map(drop)
    }

    fn set_variable(&mut self, variable: &str, value: &str) -> Work {
        if let Some(changes) = &mut self.changes {
            let wanted = BTreeMap::from([(variable.to_owned(), value.to_owned())]);
            let ending = changes.apply(&wanted).map_or_else(
                |error| EventEnding::Refused {
                    code: None,
                    message: error.to_string(),
                },
                |()| EventEnding::Done,
            );
            return Work {
                ending,
                ..Work::once(Ok(()))
            };
        }
        let done = self.set_own_variable(variable, value);
        Work::once(done)
    }

    /// On a server of Weir's own, which later runs may share.
    fn set_own_variable(&mut self, variable: &str, value: &str) -> Result<(), ClientError> {
        let query = format!("SELECT @@GLOBAL.{}", identifier(variable));
        let before: Vec<Value> = self.connection.execute(&query, ())?;
        let set = |literal: &str| format!("SET GLOBAL {} = {literal}", identifier(variable));
        self.connection.run(set(&literal(value)))?;
        self.way_back = before.first().map(|value| set(&value.as_sql(false)));
        Ok(())
    }

    /// Puts back what was set, once the load is over; the server's words if it refuses.
    pub(super) fn put_back(&mut self, clock: &Clock) -> Option<EventEnding> {
        let is_own = self.way_back.is_some();
        let is_set = matches!(self.event.kind, EventKind::Set { .. });
        if !is_own && !is_set {
            return None;
        }
        clock.wait_until_over();
        if let Some(way_back) = &self.way_back {
            let done = self.connection.put_back(way_back);
            return done.err().map(|error| refused(&error));
        }
        let error = self.changes.as_mut()?.put_back().err()?;
        Some(EventEnding::Refused {
            code: None,
            message: error.to_string(),
        })
    }
}

/// Sets the variables of an event's session; what the server says of them then.
pub(super) fn set_session(
    connection: &mut Connection,
    event: &TimelineEvent,
) -> Result<BTreeMap<String, String>, ClientError> {
    let (EventKind::Statement(statement) | EventKind::Ddl(statement)) = &event.kind else {
        return Ok(BTreeMap::new());
    };
    let mut said = BTreeMap::new();
    for (name, value) in &statement.session {
        let variable = identifier(name);
        connection.run(format!("SET SESSION {variable} = {}", literal(value)))?;
        let value = connection.first::<Option<String>>(format!("SELECT @@SESSION.{variable}"))?;
        said.insert(name.clone(), value.flatten().unwrap_or_default());
    }
    Ok(said)
}

fn refused(error: &ClientError) -> EventEnding {
    let message = match error {
        ClientError::Statement { message, .. } => message.clone(),
        other => other.words(),
    };
    EventEnding::Refused {
        code: error.code(),
        message,
    }
}

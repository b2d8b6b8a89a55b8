//! One event with its connections: what it does when its time has come, and how that is put back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use weir_model::{Bytes, Endpoint, EventDetail, EventEnding, EventKind, RunSpec, TimelineEvent};
use weir_mysql::{ClientError, Gate, Value, identifier};
use weir_server::{ConfigChanges, literal};

use super::clock::Clock;
use super::connections::Connections;
use super::copy_method::CopyMethod;
use crate::target::{Ending, OwnServer};

/// An event that waits for its time.
pub(super) struct PreparedEvent {
    pub(super) event: TimelineEvent,
    /// For an ALTER that is made by a copy.
    pub(super) copying: Option<CopyMethod>,
    /// For what opens connections of its own.
    pub(super) endpoint: Endpoint,
    pub(super) gate: Gate,
    pub(super) connections: Connections,
    /// Actions that it may take beside statements.
    pub(super) own: Option<OwnServer>,
    /// For variables of a server that the user gives.
    pub(super) changes: Option<ConfigChanges>,
    /// The run.
    pub(super) spec: RunSpec,
    /// Way in which its changes are undone when the load is over.
    pub(super) way_back: Option<WayBack>,
}

/// Way in which a change is undone.
#[derive(Debug)]
pub(super) enum WayBack {
    /// By this statement.
    Variable(String),
    /// By taking the faults off the drive that is mounted there.
    Drive(PathBuf),
    /// By giving the buffer pool this size.
    Pool(Bytes),
}

/// Result of the work.
pub(super) struct Work {
    pub(super) tries: u32,
    pub(super) ending: EventEnding,
    pub(super) detail: EventDetail,
}

impl Work {
    /// Of an event that is as it should be.
    pub(super) fn done() -> Self {
        Self {
            tries: 1,
            ending: EventEnding::Done,
            detail: EventDetail::default(),
        }
    }

    /// Of one that another program than the server refused.
    pub(super) fn refused(why: &str) -> Self {
        Self {
            ending: EventEnding::Refused {
                code: None,
                message: why.to_owned(),
            },
            ..Self::done()
        }
    }

    /// Of an event that waits for nothing.
    pub(super) fn once(done: Result<(), ClientError>) -> Self {
        Self {
            ending: done.map_or_else(|error| refused(&error), |()| EventEnding::Done),
            ..Self::done()
        }
    }
}

impl PreparedEvent {
    /// Does it. `stop`: the study is to end.
    pub(super) fn work(
        &mut self,
        clock: &Clock,
        measured_from: Instant,
        stop: &AtomicBool,
    ) -> Work {
        if sends_statements(&self.event.kind)
            && let Err(error) = self.connections.renew(&self.event)
        {
            // Such as while another event has the server down.
            return Work::refused(&format!("no connection: {}", error.words()));
        }
        match self.event.kind.clone() {
            // The load changes its rate by itself.
            EventKind::Mark | EventKind::Rate { .. } => Work::done(),
            EventKind::Statement(statement) | EventKind::Ddl(statement) => {
                if let Some(copying) = &self.copying {
                    let server = (&self.endpoint, &self.gate);
                    let told = &mut self.connections.session;
                    return Work {
                        ending: copying.run(&statement, server, told, clock),
                        ..Work::done()
                    };
                }
                self.run_statement(&statement, clock, measured_from)
            }
            EventKind::Hold { table, length } => {
                let held = self.open_transaction(&table);
                let is_cut_off = held.is_ok() && clock.is_over_within(length.0);
                let done = held.and_then(|()| self.connections.own.run("COMMIT").map(drop));
                match Work::once(done) {
                    work if is_cut_off && work.ending == EventEnding::Done => Work {
                        ending: EventEnding::CutOff,
                        ..work
                    },
                    work => work,
                }
            }
            EventKind::Set { variable, value } => self.set_variable(&variable, &value),
            EventKind::Kill { down } => self.restart(Ending::Kill, down.0, stop),
            EventKind::Failover { .. } => self.fail_over(),
            EventKind::Restart { down } => self.restart(Ending::Shutdown, down.0, stop),
            EventKind::Drive { settings, length } => {
                self.disturb_drive(&settings, length.map(|length| length.0), clock)
            }
            EventKind::Pool { action, size } => self.change_pool(action, size, clock),
        }
    }

    /// Begins a transaction that has read a row of `table`.
    fn open_transaction(&mut self, table: &str) -> Result<(), ClientError> {
        let connection = &mut self.connections.own;
        connection.run("START TRANSACTION")?;
        let read = format!("SELECT 1 FROM {} LIMIT 1", identifier(table));
        connection.run(read).map(drop)
    }

    fn set_variable(&mut self, variable: &str, value: &str) -> Work {
        if let Some(changes) = &mut self.changes {
            let wanted = BTreeMap::from([(variable.to_owned(), value.to_owned())]);
            return match changes.apply(&wanted) {
                Ok(()) => Work::done(),
                Err(error) => Work::refused(&error.to_string()),
            };
        }
        let done = self.set_own_variable(variable, value);
        Work::once(done)
    }

    /// On a server of Weir's own, which later runs may share.
    fn set_own_variable(&mut self, variable: &str, value: &str) -> Result<(), ClientError> {
        let connection = &mut self.connections.own;
        let query = format!("SELECT @@GLOBAL.{}", identifier(variable));
        let before: Vec<Value> = connection.execute(&query, ())?;
        let set = |literal: &str| format!("SET GLOBAL {} = {literal}", identifier(variable));
        connection.run(set(&literal(value)))?;
        let before = before.first();
        self.way_back = before.map(|value| WayBack::Variable(set(&value.as_sql(false))));
        Ok(())
    }

    /// Puts back what was changed, once the load is over; the words of who refuses that.
    pub(super) fn put_back(&mut self, clock: &Clock) -> Option<EventEnding> {
        let is_set = matches!(self.event.kind, EventKind::Set { .. });
        if self.way_back.is_none() && !is_set {
            return None;
        }
        clock.wait_until_over();
        let Some(way_back) = self.way_back.take() else {
            let error = self.changes.as_mut()?.put_back().err()?;
            return Some(Work::refused(&error.to_string()).ending);
        };
        let done = match way_back {
            WayBack::Variable(statement) => {
                let renewed = self.connections.renew(&self.event);
                let put_back = |()| self.connections.own.put_back(&statement).map(drop);
                return renewed
                    .and_then(put_back)
                    .err()
                    .map(|error| refused(&error));
            }
            WayBack::Drive(drive) => weir_drive::reset_faults(&drive).map_err(|e| e.to_string()),
            WayBack::Pool(size) => {
                let session = self.own.as_ref()?.server.session();
                let resized = session.and_then(|mut session| session.resize_pool(size));
                resized.map(drop).map_err(|error| error.to_string())
            }
        };
        done.err().map(|why| Work::refused(&why).ending)
    }
}

/// Returns true if the event is done by statements, for which the server has to be there.
fn sends_statements(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Statement(_)
            | EventKind::Ddl(_)
            | EventKind::Hold { .. }
            | EventKind::Set { .. }
            | EventKind::Pool { .. }
    )
}

pub(super) fn refused(error: &ClientError) -> EventEnding {
    let message = match error {
        ClientError::Statement { message, .. } => message.clone(),
        other => other.words(),
    };
    EventEnding::Refused {
        code: error.code(),
        message,
    }
}

//! Statements that `performance_schema` remembers.

use std::collections::HashSet;

use weir_mysql::Connection;

use super::event::{EXECUTION, Event, EventEnd, Look, UNTOLD};
use super::mark::is_marked;
use super::setup::Table;
use crate::CaptureError;

/// A statement is in a history a moment after its end: a poll looks again at this time before the last one, picoseconds.
const AGAIN_PS: u64 = 200_000_000_000;
const PS_PER_US: u64 = 1_000_000;

/// Columns of the events, of which the fifth tells whether it has ended.
const COLUMNS: &str = "THREAD_ID weir_poll, EVENT_ID, EVENT_NAME, TIMER_START, IF(END_EVENT_ID IS NULL, NULL, TIMER_END), \
     SQL_TEXT, DIGEST, CURRENT_SCHEMA, MYSQL_ERRNO, ROWS_AFFECTED, ROWS_SENT, NESTING_EVENT_LEVEL";

type Columns = (
    u64,
    u64,
    String,
    Option<u64>,
    Option<u64>,
    Option<Vec<u8>>,
    Option<String>,
    Option<String>,
    Option<u32>,
    u64,
    u64,
    Option<u64>,
);

/// Reads the statements of a server that it has not read before.
#[derive(Debug)]
pub(super) struct StatementEvents {
    table: Table,
    /// The poll's own thread.
    own: u64,
    /// Time of the server's timer at its zero, microseconds since 1970.
    zero_us: i64,
    /// Statements that ended before are not read.
    from_ps: u64,
    /// Those that were read last.
    read: HashSet<(u64, u64)>,
}

impl StatementEvents {
    /// Begins with the statements that end from now on.
    pub(super) fn start(connection: &mut Connection, table: Table) -> Result<Self, CaptureError> {
        let query = "SELECT THREAD_ID weir_poll FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()";
        let own: Option<(u64,)> = connection.first(query)?;
        let own = own.map(|(thread,)| thread).unwrap_or_default();
        let mut events = Self {
            table,
            own,
            zero_us: 0,
            from_ps: 0,
            read: HashSet::new(),
        };
        let (now_ps, now_us) = events.clock(connection)?;
        events.from_ps = now_ps;
        events.zero_us = now_us - (now_ps / PS_PER_US).cast_signed();
        Ok(events)
    }

    /// When it began, microseconds since 1970.
    pub(super) fn began_unix_us(&self) -> i64 {
        self.unix_us(self.from_ps)
    }

    /// Time of the server's timer, picoseconds.
    pub(super) fn now_ps(&self, connection: &mut Connection) -> Result<u64, CaptureError> {
        self.clock(connection).map(|(now_ps, _)| now_ps)
    }

    /// The server's timer and its clock at the beginning of this statement.
    fn clock(&self, connection: &mut Connection) -> Result<(u64, i64), CaptureError> {
        let query = format!(
            "SELECT TIMER_START weir_poll, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) \
             FROM performance_schema.events_statements_current WHERE THREAD_ID = {} AND END_EVENT_ID IS NULL",
            self.own
        );
        connection.first(query)?.ok_or_else(|| CaptureError::NotPolled {
            why: "performance_schema does not watch the account's sessions (setup_actors, setup_instruments)".to_owned(),
            remedy: "name another account, or turn its instrumentation on",
        })
    }

    /// Reads what runs, and what has ended since the last look.
    pub(super) fn look(&mut self, connection: &mut Connection) -> Result<Look, CaptureError> {
        let mut look = Look::nothing();
        let mut now_ps = self.from_ps;
        let query = format!("SELECT {COLUMNS} FROM performance_schema.events_statements_current");
        let mut all: Vec<Columns> = connection.rows(query)?;
        for row in &all {
            look.sessions.insert(row.0);
            if row.0 == self.own && row.4.is_none() {
                now_ps = now_ps.max(row.3.unwrap_or(0));
            }
        }
        look.now_us = self.unix_us(now_ps);
        if self.table != Table::Current {
            let query = format!(
                "SELECT {COLUMNS} FROM performance_schema.{} WHERE TIMER_END > {}",
                match self.table {
                    Table::HistoryLong => "events_statements_history_long",
                    _ => "events_statements_history",
                },
                self.from_ps
            );
            all.retain(|row| row.4.is_none());
            all.extend(connection.rows::<Columns>(query)?);
        }
        let mut read = HashSet::new();
        for event in all.into_iter().filter_map(|row| self.event(row)) {
            let Some(end) = event.end else {
                look.running.push(event);
                continue;
            };
            let key = (event.session, event.id);
            if end.at_ps > self.from_ps && read.insert(key) && !self.read.contains(&key) {
                look.ended.push(event);
            }
        }
        self.read = read;
        self.from_ps = self.from_ps.max(now_ps.saturating_sub(AGAIN_PS));
        Ok(look)
    }

    /// A row as a statement; `None` for the poll's own and those of other polls.
    fn event(&self, row: Columns) -> Option<Event> {
        let (
            session,
            id,
            name,
            start_ps,
            end_ps,
            text,
            digest,
            schema,
            error,
            affected,
            rows,
            level,
        ) = row;
        let start_ps = start_ps?;
        if session == self.own || text.as_deref().is_some_and(is_marked) {
            return None;
        }
        let is_untold = name == EXECUTION && text.is_none() && digest.is_none();
        let untold = is_untold.then_some(UNTOLD);
        Some(Event {
            session,
            id,
            name,
            began_us: self.unix_us(start_ps),
            end: end_ps.map(|at_ps| EventEnd {
                at_ps,
                took_ps: at_ps.saturating_sub(start_ps),
                rows,
                affected,
                error: error
                    .and_then(|code| u16::try_from(code).ok())
                    .unwrap_or(u16::MAX),
            }),
            text: text.or_else(|| untold.map(|text| text.as_bytes().to_vec())),
            digest: digest.or_else(|| untold.map(str::to_owned)),
            schema: schema.unwrap_or_default(),
            is_nested: level.is_some_and(|level| level > 0),
        })
    }

    fn unix_us(&self, timer_ps: u64) -> i64 {
        self.zero_us
            .saturating_add((timer_ps / PS_PER_US).cast_signed())
    }
}

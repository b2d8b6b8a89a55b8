//! A statement as a poll sees it.

use std::collections::HashSet;

/// Event of an execution of a prepared statement.
pub(super) const EXECUTION: &str = "statement/com/Execute";
/// Text of executions of which the server keeps neither text nor digest (`MariaDB`), also in the place of their digest.
pub(super) const UNTOLD: &str = "EXECUTE ?";

/// A statement that runs or has ended.
#[derive(Debug, Clone)]
pub(super) struct Event {
    /// The session, by the server's number of its thread or connection.
    pub(super) session: u64,
    /// The server's number of the statement, in the session or in the server.
    pub(super) id: u64,
    /// Name of the event, such as `statement/sql/select`.
    pub(super) name: String,
    /// When it began, microseconds since 1970.
    pub(super) began_us: i64,
    /// End of a statement that has ended.
    pub(super) end: Option<EventEnd>,
    pub(super) text: Option<Vec<u8>>,
    pub(super) digest: Option<String>,
    pub(super) schema: String,
    /// It is a part of another statement, such as one of a procedure.
    pub(super) is_nested: bool,
}

/// End of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventEnd {
    /// When, by the server's timer, picoseconds.
    pub(super) at_ps: u64,
    /// Duration, picoseconds.
    pub(super) took_ps: u64,
    pub(super) rows: u64,
    pub(super) affected: u64,
    pub(super) error: u16,
}

/// Result of one poll.
#[derive(Debug)]
pub(super) struct Look {
    /// When, microseconds since 1970.
    pub(super) now_us: i64,
    /// Statements that ran then.
    pub(super) running: Vec<Event>,
    /// Statements that have ended and that no poll saw ended before.
    pub(super) ended: Vec<Event>,
    /// Accounts of the sessions, if the source has them at hand.
    pub(super) users: Vec<(u64, String)>,
    /// Sessions that were there.
    pub(super) sessions: HashSet<u64>,
}

impl Look {
    /// Look at a server that remembers no statements.
    pub(super) fn nothing() -> Self {
        Self {
            now_us: jiff::Timestamp::now().as_microsecond(),
            running: Vec::new(),
            ended: Vec::new(),
            users: Vec::new(),
            sessions: HashSet::new(),
        }
    }
}

impl Event {
    /// Returns true if a client sent its text as a statement: no command, no preparation, and no part of another one.
    pub(super) fn is_statement(&self) -> bool {
        let is_preparation = match self.name.rsplit('/').next() {
            Some("Prepare") => true,
            // MySQL notes the text that is prepared, MariaDB the statement.
            Some("prepare_sql") => !self.text.as_deref().is_some_and(crate::sql::is_by_sql),
            _ => false,
        };
        self.text.is_some() && !self.is_nested && !is_preparation
    }

    /// Returns true if it executed a prepared statement whose parameters are not in its text.
    pub(super) fn lacks_values(&self) -> bool {
        let is_execution = matches!(
            self.name.rsplit('/').next(),
            Some("Execute" | "execute_sql")
        );
        is_execution && self.text.as_deref().is_some_and(crate::sql::has_marks)
    }
}

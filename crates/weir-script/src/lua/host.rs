//! Demands of a state on the world: the seam between the interpreter and its runner.

use std::ops::Range;

/// One state's world: its connections, its part of the run, its random numbers.
///
/// Every method may take as long as it needs. A host belongs to one state.
pub trait Host {
    /// Opens a connection to the next server; its number, for [`Self::request`].
    ///
    /// # Errors
    ///
    /// A server that cannot be reached or refuses. The host does not try again.
    fn connect(&mut self) -> Result<u32, Failure>;

    /// Closes a connection; an unknown number changes nothing.
    fn disconnect(&mut self, connection: u32);

    /// Opens a closed or broken connection under its old number, as often as it takes.
    ///
    /// # Errors
    ///
    /// Only when the run is to end.
    fn reconnect(&mut self, connection: u32) -> Result<(), Failure>;

    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    ///
    /// The server's refusal, or a connection that is lost.
    fn request(&mut self, connection: u32, request: Request<'_>) -> Result<Reply, Failure>;

    /// Writes a line to the log.
    fn log(&mut self, level: Level, line: &str);

    /// Notes that the script uses a database, so that the report has its statistics.
    fn uses_sql(&mut self);

    /// Adds one to a counter of the run.
    fn count(&mut self, counter: Counter);

    /// Returns true if another event is to be done; at a rate, waits until one is due.
    fn has_more_events(&mut self) -> bool;

    /// An event begins: its latency counts from now.
    fn begin_event(&mut self);

    /// The event that began last is complete.
    fn end_event(&mut self);

    /// Seconds on a clock that never goes back.
    fn clock_s(&mut self) -> f64 {
        0.0
    }

    /// A line of the script has waited in this call for so many seconds; without a line, it is a whole event.
    fn waited(&mut self, _place: &str, _call: &str, _seconds: f64) {}

    /// A number of `low..=high`.
    fn random(&mut self, kind: RandomKind, low: u32, high: u32) -> u32;

    /// 64 random bits.
    fn random_bits(&mut self) -> u64;

    /// A number that no other state of this run gets, until all of 32 bits are used up.
    fn unique(&mut self) -> u32;
}

/// Request to a connection.
#[derive(Debug, Clone, Copy)]
pub enum Request<'a> {
    /// Run this text.
    Query(&'a [u8]),
    /// Prepare this text.
    Prepare(&'a [u8]),
    /// Execute the server's statement of this number.
    Execute {
        /// The server's number.
        statement: u32,
        /// A value for each of its parameters.
        values: &'a [Parameter],
        /// As the script wrote it.
        text: &'a [u8],
    },
    /// Forget the server's statement of this number; there is no reply to wait for.
    Close(u32),
    /// The next result of a statement that has several.
    NextResult,
}

/// A value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text or bytes.
    Text(Vec<u8>),
}

/// Reply of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Done, without a result set.
    Done {
        /// Rows that were changed.
        affected_rows: u64,
        /// Further results follow.
        has_more: bool,
    },
    /// A result set.
    Rows(Rows),
    /// A statement is prepared.
    Prepared {
        /// The server's number of it.
        statement: u32,
        /// Parameters that it takes.
        parameters: u16,
    },
}

impl Reply {
    /// Returns true if further results follow.
    pub(crate) fn has_more(&self) -> bool {
        match self {
            Self::Done { has_more, .. } | Self::Rows(Rows { has_more, .. }) => *has_more,
            Self::Prepared { .. } => false,
        }
    }
}

/// A result set; all values as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// Fields of each row.
    pub fields: usize,
    /// Texts of all fields, one after the other.
    pub bytes: Vec<u8>,
    /// Range of each field in `bytes`, row by row; `None` is NULL.
    pub cells: Vec<Option<Range<usize>>>,
    /// Further results follow.
    pub has_more: bool,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.fields).unwrap_or(0)
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The fields of a row.
    pub fn row(&self, index: usize) -> impl Iterator<Item = Option<&[u8]>> {
        let cells = self.cells.iter().skip(index * self.fields);
        let field = |cell: &Option<Range<usize>>| Some(&self.bytes[cell.clone()?]);
        cells.take(self.fields).map(field)
    }
}

/// Reason that a request has no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server, or the client library in its place, refuses.
    Refused(Refusal),
    /// The run is to end: nothing is asked for any more.
    Stopped,
}

/// An error with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error's number: the server's, or 2000 and above as MySQL's client library numbers them.
    pub code: u16,
    /// Five characters.
    pub state: String,
    /// In words.
    pub message: String,
    /// Address to which no connection was made: `on socket '...'` or `on host '...', port ...`.
    pub place: String,
}

/// Counter of a run beside events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// A statement that returned rows.
    Read,
    /// A statement that changed rows.
    Write,
    /// Another statement.
    Other,
    /// An event, when a script counts by itself.
    Event,
    /// A failed statement, or an error of the script's own.
    Error,
    /// A connection that was made again.
    Reconnect,
}

/// A distribution of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RandomKind {
    /// The one of `--rand-type`.
    Default,
    /// All alike.
    Uniform,
    /// More in the middle.
    Gaussian,
    /// 1.0.20's: few rows are hot.
    Special,
    /// Self-similar.
    Pareto,
    /// By Zipf's law.
    Zipfian,
}

/// Severity of a line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing goes on.
    Fatal,
    /// Misuse.
    Alert,
    /// Odd.
    Warning,
    /// Of a report.
    Notice,
}

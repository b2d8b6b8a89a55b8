//! Request of a script's call to a server, its result, and its failure.

use std::rc::Rc;

use crate::lua::host::{Parameter, Refusal, Request};

/// Operation that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Connect,
    Reconnect,
    Disconnect,
    Query,
    Prepare,
    Execute,
    CloseStatement,
    NextResult,
    BulkNext,
    BulkDone,
    MoreEvents,
}

/// Each with its name for the prelude, in the order of the prelude's numbers.
pub(super) const OPERATIONS: [(&str, Operation); 11] = [
    ("CONNECT", Operation::Connect),
    ("RECONNECT", Operation::Reconnect),
    ("DISCONNECT", Operation::Disconnect),
    ("QUERY", Operation::Query),
    ("PREPARE", Operation::Prepare),
    ("EXECUTE", Operation::Execute),
    ("CLOSE_STATEMENT", Operation::CloseStatement),
    ("NEXT_RESULT", Operation::NextResult),
    ("BULK_NEXT", Operation::BulkNext),
    ("BULK_DONE", Operation::BulkDone),
    ("MORE_EVENTS", Operation::MoreEvents),
];

/// The names of the prelude's operations, in the order of their numbers.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    OPERATIONS.iter().map(|(name, _)| *name)
}

/// Severity of an error for the script; the numbers are the prelude's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// The event is to be tried again.
    Ignorable = 1,
    /// The hook decides.
    Fatal = 2,
    /// There is no number and no text: `SQL API error`.
    Misuse = 3,
}

/// A failed call, as the prelude learns of it.
pub(crate) struct CallFailure {
    pub(super) severity: Severity,
    pub(super) refusal: Option<Refusal>,
}

/// Request of a call to a server.
#[derive(Debug)]
pub struct PendingRequest {
    /// The connection's number, as the host gave it.
    pub connection: u32,
    pub(super) ask: Ask,
}

#[derive(Debug)]
pub(super) enum Ask {
    Query(Vec<u8>),
    Prepare(Vec<u8>),
    Execute {
        statement: u32,
        values: Vec<Parameter>,
        text: Rc<[u8]>,
    },
    /// A prepared statement that is sent as text, with its values.
    Text {
        sql: Vec<u8>,
        text: Rc<[u8]>,
    },
    /// Rows of a bulk insert, and the one that found no room.
    Bulk {
        sql: Vec<u8>,
        row: Option<Vec<u8>>,
    },
    NextResult,
}

impl PendingRequest {
    /// The request.
    pub fn request(&self) -> Request<'_> {
        match &self.ask {
            Ask::Query(sql) | Ask::Text { sql, .. } | Ask::Bulk { sql, .. } => Request::Query(sql),
            Ask::Prepare(sql) => Request::Prepare(sql),
            Ask::Execute {
                statement,
                values,
                text,
            } => Request::Execute {
                statement: *statement,
                values,
                text,
            },
            Ask::NextResult => Request::NextResult,
        }
    }
}

/// Result of a call's first half.
pub(super) enum First {
    Ask(Ask),
    Now(CallAnswer),
}

impl From<Option<Ask>> for First {
    fn from(ask: Option<Ask>) -> Self {
        ask.map_or(Self::Now(CallAnswer::Nothing), Self::Ask)
    }
}

/// Result of a call.
pub(crate) enum CallAnswer {
    Nothing,
    /// Number, rows and fields of a result set.
    Set(u32, usize, usize),
    /// Number and parameters of a statement.
    Prepared(u32, usize),
}

impl CallFailure {
    pub(super) fn misuse() -> Self {
        Self {
            severity: Severity::Misuse,
            refusal: None,
        }
    }
}

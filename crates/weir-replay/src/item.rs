//! Next step of a slot of the replay.

use std::sync::Arc;

use weir_capture::{Template, TransactionStep, Value};

use crate::order::RowUse;

/// Next step of a slot.
#[derive(Debug)]
pub(crate) enum Item {
    /// A session connects.
    Open { at_us: u64 },
    /// A session asks.
    Ask(Ask),
    /// A session leaves.
    Close { at_us: u64 },
}

/// When a session asks, in the capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) at_us: u64,
    /// Time since the answer before it, microseconds; `None` for a session's first, or if it is not known.
    pub(crate) think_us: Option<u64>,
}

/// Request of a session.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) moment: Moment,
    /// Number of the request in the replay, by which its result is compared.
    pub(crate) number: u64,
    /// Which fingerprint it has.
    pub(crate) fingerprint: usize,
    pub(crate) transaction: TransactionStep,
    /// Writing transactions that had ended in the capture when it began.
    pub(crate) after: u64,
    /// It may wait for rows that others have locked.
    pub(crate) wants_rows: bool,
    pub(crate) action: Action,
}

impl Ask {
    /// One that is no statement: it has no number, and waits for no transaction.
    pub(crate) fn new(moment: Moment, action: Action) -> Self {
        Self {
            moment,
            number: 0,
            fingerprint: 0,
            transaction: TransactionStep::None,
            after: 0,
            wants_rows: false,
            action,
        }
    }
}

/// The request.
#[derive(Debug)]
pub(crate) enum Action {
    Query {
        text: Vec<u8>,
        /// Text that the gate judges.
        judged: String,
    },
    Prepare {
        /// The capture's number of the statement; 0 if it was refused there.
        handle: u32,
        statement: Arc<Statement>,
    },
    Execute {
        handle: u32,
        statement: Arc<Statement>,
        values: Vec<Value>,
    },
    /// Makes the session what it was before the replay's part; it is not counted.
    Restore {
        text: Vec<u8>,
        judged: String,
    },
    /// Not answered.
    Forget {
        handle: u32,
    },
    Reset,
    /// Nothing is sent, for this reason.
    Skip(Reason),
}

/// A statement that a session has prepared.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) text: Vec<u8>,
    pub(crate) fingerprint: usize,
    pub(crate) is_unusable: bool,
    pub(crate) asks_for_file: bool,
    pub(crate) rows: RowUse,
    pub(crate) transaction: TransactionStep,
}

/// Why a statement is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Something of it is missing in the capture.
    Unusable,
    /// It asks for a file of the client's.
    AsksForFile,
    /// It is about another schema.
    OtherSchema,
    /// A statement whose preparation is not in the capture.
    NotPrepared,
    /// It may not be sent to this server.
    NotAllowed,
    /// A statement whose session was not let in, or has lost its connection.
    NoConnection,
    /// A statement whose session has a character set in which it cannot be sent.
    CharacterSet,
}

/// Returns the text of a statement that the gate judges. Values that hide nothing are left out, so that all statements
/// of a kind are one to it.
pub(crate) fn judged(template: &Template, literals: &[Vec<u8>], text: &[u8]) -> String {
    let hides = |literal: &Vec<u8>| literal.starts_with(b"\"") || literal.contains(&b'\\');
    let is_data = ["select", "insert", "replace", "update", "delete"]
        .iter()
        .any(|verb| template.fingerprint().starts_with(verb));
    if is_data && !literals.iter().any(hides) {
        return String::from_utf8_lossy(&template.text_with(&[])).into_owned();
    }
    String::from_utf8_lossy(text).into_owned()
}

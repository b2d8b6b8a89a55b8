//! Errors of a log.

use std::fmt;
use std::sync::Arc;

use crate::ClientError;
use thiserror::Error;

/// A place in the binary log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file by the server's name.
    pub file: Arc<str>,
    /// Where the event begins in it, bytes.
    pub position: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.position)
    }
}

/// Bytes that are no event of a binary log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MalformedEvent(pub &'static str);

/// Why the log cannot be read on.
#[derive(Debug, Error)]
pub enum BinlogError {
    /// An event that is damaged, cut short or unknown.
    #[error("binary log at {place}: {why}; compare with what `mysqlbinlog` says of that file")]
    Malformed {
        /// Where.
        place: Place,
        /// The fault of the event.
        why: String,
    },
    /// The connection or the server.
    #[error(transparent)]
    Client(#[from] ClientError),
}

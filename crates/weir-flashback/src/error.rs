//! Why a flashback is not made, in one line with a place and a remedy.

use thiserror::Error;
use weir_mysql::ClientError;
use weir_mysql::binlog::{BinlogError, MalformedEvent, Place};
use weir_process::{PathError, ProcessError};
use weir_server::ServerError;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum FlashbackError {
    /// Something that would make the answer wrong.
    #[error("{what}; {remedy}")]
    Refused {
        /// Obstacle, and where it is.
        what: String,
        /// Remedy.
        remedy: String,
    },
    /// A statement that names no time, or several.
    #[error("the statement {why}; write `FROM SCHEMA.TABLE AS OF TIMESTAMP 'YYYY-MM-DD HH:MM:SS'`")]
    Statement {
        /// The fault of the statement.
        why: String,
    },
    /// It is not known whether a snapshot shows a change of a table without a key.
    #[error(
        "{table} has no key and is changed all the time, so that it is not known what a snapshot of it shows ({transaction}); \
         ask when it is changed less, or give it a primary key"
    )]
    Unsettled {
        /// The table.
        table: String,
        /// Which change.
        transaction: String,
    },
    /// The user stopped it.
    #[error("the flashback was stopped before its end; nothing of it is left")]
    Stopped,
    /// The private server refused what it was given.
    #[error(
        "the private server of this flashback: {words}; look for free space below {path}, or pass --work DIR"
    )]
    Private {
        /// Message of the private server.
        words: String,
        /// Where its data lie.
        path: String,
    },
    /// The log.
    #[error(transparent)]
    Log(#[from] BinlogError),
    /// The user's server or the connection to it.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A server could not be found, made or started.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A directory of Weir's own.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// A file.
    #[error(transparent)]
    Path(#[from] PathError),
}

impl FlashbackError {
    pub(crate) fn refused(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Refused {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// For `map_err`: an event at `place` is damaged.
    pub(crate) fn malformed(place: Place) -> impl FnOnce(MalformedEvent) -> Self {
        move |malformed| {
            Self::Log(BinlogError::Malformed {
                place,
                why: malformed.to_string(),
            })
        }
    }
}

impl From<weir_server::StopRequested> for FlashbackError {
    fn from(_: weir_server::StopRequested) -> Self {
        Self::Stopped
    }
}

/// Returns the error for a file that is gone, with the server's message in words.
pub(crate) fn purged(error: BinlogError) -> FlashbackError {
    const FATAL_ERROR_READING: u16 = 1236;
    match &error {
        BinlogError::Client(client) if client.code() == Some(FATAL_ERROR_READING) => {
            FlashbackError::refused(
                format!("the server cannot send the log ({})", client.words()),
                "was it purged meanwhile? SHOW BINARY LOGS lists the remaining files; ask for a later time",
            )
        }
        BinlogError::Client(client) if client.code().is_some() => FlashbackError::refused(
            format!("the server does not send its log ({})", client.words()),
            "GRANT REPLICATION SLAVE ON *.* to the account",
        ),
        _ => FlashbackError::Log(error),
    }
}

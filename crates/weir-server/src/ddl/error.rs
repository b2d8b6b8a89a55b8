//! Reason that there is no advice, in one line with a remedy.

use crate::ServerError;
use thiserror::Error;
use weir_mysql::ClientError;
use weir_process::ProcessError;

/// Errors of the advice.
#[derive(Debug, Error)]
pub enum DdlError {
    /// A statement that cannot be tried.
    #[error(
        "the statement `{statement}` cannot be tried ({why}); give one ALTER TABLE, as in \
             \"ALTER TABLE shop.orders ADD INDEX k (status)\""
    )]
    Statement {
        /// Beginning of the statement.
        statement: String,
        /// Problem of the statement.
        why: String,
    },
    /// The server refuses the statement, whatever the algorithm.
    #[error("the server refuses `{statement}` ({why}); correct the statement")]
    Refused {
        /// Beginning of the statement.
        statement: String,
        /// The server's words.
        why: String,
    },
    /// A table that cannot be tried.
    #[error("the table {table} cannot be tried ({why}); {remedy}")]
    Table {
        /// Name of the table.
        table: String,
        /// Reason.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// No server like the user's.
    #[error(
        "no {like} on this machine, on which a copy of the table would be tried; install one, or pass --server PATH of \
         its mysqld or mariadbd"
    )]
    NoServer {
        /// Flavour and version.
        like: String,
    },
    /// The copy of a table could not be made.
    #[error("the private server refuses a copy of {table} ({why}); {remedy}")]
    Copy {
        /// The table.
        table: String,
        /// The server's words.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// A table of facts that cannot be read.
    #[error("the table of facts cannot be read ({0}); correct it")]
    Facts(String),
    /// A tool of the user's.
    #[error("the tool `{line}` failed ({why}); {remedy}")]
    Tool {
        /// Command line of the tool.
        line: String,
        /// Reason.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// A file.
    #[error(transparent)]
    Path(#[from] weir_process::PathError),
    /// The user stopped it.
    #[error("stopped before the end; nothing is left")]
    Stopped,
    /// The binary log.
    #[error(transparent)]
    Log(#[from] weir_mysql::binlog::BinlogError),
    /// A server or the connection to it.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A server could not be found, made or started.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A directory of Weir's own.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

impl From<crate::StopRequested> for DdlError {
    fn from(_: crate::StopRequested) -> Self {
        Self::Stopped
    }
}

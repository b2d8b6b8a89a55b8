//! Reason that a sample could not be taken.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

/// Reason that a sample is missing.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// A file of /proc could not be read: usually the process has ended.
    #[error("cannot read `{path}` ({source})")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of /proc does not look as the manual says.
    #[error("cannot understand `{path}` (no {what} in it)")]
    Format {
        /// The file.
        path: PathBuf,
        /// Thing that was looked for.
        what: &'static str,
    },
    /// The process has ended; its parent has not taken note yet.
    #[error("process {pid} has ended")]
    Ended {
        /// The process.
        pid: u32,
    },
    /// The server did not answer, or refused.
    #[error("cannot ask the server: {}", source.words())]
    Server {
        /// Error of the connection.
        source: Box<weir_mysql::ClientError>,
    },
    /// The drive has no statistics: it was unmounted, or does not answer.
    #[error("the drive gives no statistics (unmounted?)")]
    Drive,
    /// An agent on another host gave no sample.
    #[error("agent {agent}: {why}")]
    Agent {
        /// Name of the agent.
        agent: String,
        /// Reason.
        why: String,
    },
    /// The reading took so long that its time is unknown.
    #[error("the reading took {:.2} s, longer than the {:.2} s between samples", took.as_secs_f64(), interval.as_secs_f64())]
    Late {
        /// Time that it took.
        took: Duration,
        /// The time between samples.
        interval: Duration,
    },
}

impl ProbeError {
    /// For `map_err`: `path` could not be read.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Read {
            path: path.to_owned(),
            source,
        }
    }

    /// For `ok_or_else`: `path` has no `what`.
    pub(crate) fn format(path: &Path, what: &'static str) -> impl FnOnce() -> Self {
        move || Self::Format {
            path: path.to_owned(),
            what,
        }
    }

    /// For `map_err`: the connection failed.
    pub(crate) fn server(source: weir_mysql::ClientError) -> Self {
        Self::Server {
            source: Box::new(source),
        }
    }
}

//! Errors of this crate.

use std::path::PathBuf;

use thiserror::Error;
use weir_model::{Bytes, Scale};
use weir_process::PathError;
use weir_server::ServerError;

/// A plan that cannot be run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The load failed in a run.
    #[error("{run}: {source}{server}")]
    Load {
        /// Name of the run.
        run: String,
        /// The load engine's reason.
        source: Box<weir_load::LoadError>,
        /// Words of the server's error log, after "; ", or nothing.
        server: String,
    },
    /// A workload's own file that cannot be used.
    #[error("{0}")]
    Workload(String),
    /// An event that cannot be prepared before the measurement.
    #[error("event `{name}`: {why}")]
    Event {
        /// Name of the event.
        name: String,
        /// Words of the server, or the thing that was not possible.
        why: String,
    },
    /// A server that an event cannot end and start again.
    #[error("the server cannot be started again ({why})")]
    Restart {
        /// Reason.
        why: String,
    },
    /// `--resume` on a result of another study.
    #[error(
        "`{path}` holds another study or other settings; give a new --out folder, or the study \
         file as it was"
    )]
    OtherPlan {
        /// The result.
        path: PathBuf,
    },
    /// A drive cannot hold the data.
    #[error(
        "drive `{name}` holds {capacity} at data scale {scale}, less than the data ({needed}); \
         choose a larger drive, a larger scale or fewer rows"
    )]
    DriveTooSmall {
        /// Profile of the drive.
        name: String,
        /// Scaled capacity of the drive.
        capacity: Bytes,
        /// The scale.
        scale: Scale,
        /// The data directory's size.
        needed: Bytes,
    },
    /// A server that the user gives, of which something is asked that it cannot have.
    #[error("cannot use `{url}` ({why})")]
    External {
        /// As the user names it.
        url: String,
        /// Reason and remedy.
        why: String,
    },
    /// The agent of a server's host does not give its figures.
    #[error("cannot read the host of `{url}` ({why})")]
    ServerHost {
        /// The server as the user names it.
        url: String,
        /// Reason and remedy.
        why: String,
    },
    /// A server cannot listen where it is to.
    #[error("cannot listen on {address}, port {port} ({why}); name another with --listen")]
    Listening {
        /// The address.
        address: std::net::IpAddr,
        /// The port; 0: a free one.
        port: u16,
        /// The system's words.
        why: String,
    },
    /// A server on the host of an agent.
    #[error("server on another host: {0}")]
    OnAgent(weir_agent::AgentError),
    /// The host of an agent does not do what a study's server wants.
    #[error("{what}: {value} ({why})")]
    NotOnAgent {
        /// Thing that is wanted.
        what: String,
        /// Value of the variable.
        value: String,
        /// Reason and remedy.
        why: &'static str,
    },
    /// A statement of `[[data.before]]` that the server refuses.
    #[error("data.before.{name}: {why}; correct the statement, and name tables with their schema")]
    Change {
        /// Name of the change.
        name: String,
        /// The server's words.
        why: String,
    },
    /// Another process removed the data set that this study was about to use.
    #[error("the snapshot `{name}` was removed meanwhile; run the study again to make a new one")]
    SnapshotRemoved {
        /// Name in the cache.
        name: String,
    },
    /// Ctrl-C before the first run was complete. Later, a study ends with what it has.
    #[error("stopped before the first run; nothing was measured")]
    Interrupted,
    /// The server.
    #[error(transparent)]
    Server(ServerError),
    /// The drive.
    #[error(transparent)]
    Drive(#[from] weir_drive::DriveError),
    /// Stacks of a server that this host does not have.
    #[error(
        "profile: on (the server's process is not on this host); leave profile out, or run the study on the server's host"
    )]
    NoProcess,
    /// The server's stacks.
    #[error("profile: on: {0}")]
    Profile(#[from] weir_probe::ProfileError),
    /// A flame graph.
    #[error(transparent)]
    FlameGraph(#[from] weir_report::ReportError),
    /// A file or directory could not be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The store.
    #[error(transparent)]
    Store(#[from] weir_store::StoreError),
    /// Processes and directories.
    #[error(transparent)]
    Process(#[from] weir_process::ProcessError),
    /// The file that tells where a study is.
    #[error(transparent)]
    Progress(#[from] weir_store::progress::ProgressError),
    /// Error of the runs' judgement.
    #[error(transparent)]
    Judge(#[from] weir_judge::JudgeError),
    /// Error of the plan, by the study file or installed servers.
    #[error(transparent)]
    Study(#[from] weir_study::StudyError),
}

impl RunError {
    /// Returns the error for an answer that an agent of the same version does not give.
    pub(crate) fn wrong_answer() -> Self {
        Self::NotOnAgent {
            what: "answer".to_owned(),
            value: "of another step".to_owned(),
            why: "install the same version on both hosts",
        }
    }
}

impl From<weir_agent::AgentError> for RunError {
    fn from(error: weir_agent::AgentError) -> Self {
        match error {
            weir_agent::AgentError::Interrupted => Self::Interrupted,
            error => Self::OnAgent(error),
        }
    }
}

impl From<ServerError> for RunError {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Interrupted => Self::Interrupted,
            error => Self::Server(error),
        }
    }
}

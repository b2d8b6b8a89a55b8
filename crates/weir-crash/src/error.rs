//! Reason that the crash lab could not do its work. What it *found* is a verdict, not an error.

use std::path::PathBuf;

use thiserror::Error;
use weir_drive::DriveError;
use weir_drive::powercut::PowercutError;
use weir_innodb::InnodbError;
use weir_load::LoadError;
use weir_process::{PathError, ProcessError};
use weir_server::ServerError;

/// Reason that a crash test could not be made.
#[derive(Debug, Error)]
pub enum CrashError {
    /// A file or directory.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The drive.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The power-cut test of a device.
    #[error(transparent)]
    Powercut(#[from] PowercutError),
    /// The server, where it had to work.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A process or working directory.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// A tablespace that could not even be read.
    #[error(transparent)]
    Innodb(#[from] InnodbError),
    /// A statement of the workload.
    #[error("the crash test's workload failed: {doing} ({}); see the server's error log", .source.words())]
    Statement {
        /// Action that failed.
        doing: String,
        /// The server's words.
        source: Box<weir_mysql::ClientError>,
    },
    /// The order entry beside the workload.
    #[error("the crash test's order entry failed: {0}; see the server's error log")]
    OrderEntry(#[from] LoadError),
    /// A file of an earlier test.
    #[error("reading a crash test's file failed: {} ({why}); give the file that `weir crash-test` wrote", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Problem.
        why: String,
    },
    /// A verdict of another version of Weir.
    #[error(
        "the crash test does not count for a server: {} (its format is {found}, this version \
         reads {known}); make it again with this version of Weir", path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Format of the file; 0 before there were numbers.
        found: u32,
        /// The format that counts.
        known: u32,
    },
    /// A state that was not part of the test.
    #[error("no such crash state: {state} (the test has states 1 to {states}); name one of these")]
    NoSuchState {
        /// The number asked for.
        state: u32,
        /// Number of states.
        states: u32,
    },
    /// A folder that has a test already.
    #[error("there is a crash test in this folder already: {} (perhaps still at work); name another with --out", folder.display())]
    FolderTaken {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder with the recording of another test.
    #[error("there is a recording of other settings in this folder: {}; give the same --server, --drive, --seed, --set and so on to go on from it, or name another folder with --out", folder.display())]
    OtherRecording {
        /// The folder of the recording.
        folder: PathBuf,
    },
    /// The recording ends where it should not.
    #[error("the recording is cut short: {} ({why}); its states cannot be made again, make the test once more", folder.display())]
    CutShort {
        /// The folder of the recording.
        folder: PathBuf,
        /// Sign of it.
        why: String,
    },
    /// The server has another setting than the test asked for.
    #[error(
        "the server has {name} = {found}: {wanted} was asked for; a test of it would say nothing about {wanted}"
    )]
    OtherSetting {
        /// The variable.
        name: String,
        /// Value that was asked for.
        wanted: String,
        /// Value that the server shows.
        found: String,
    },
    /// The server alone did damage.
    #[error(
        "the database is damaged though nothing was cut: {why}; the server did that, so its crash states say nothing about the drive: try another seed or version"
    )]
    DamagedUncut {
        /// First complaint.
        why: String,
    },
    /// Nothing was recorded from which states could be made.
    #[error("the recording is too short for a crash test: {why}; let it run longer with --seconds")]
    TooShort {
        /// Missing part.
        why: String,
    },
    /// Ctrl-C.
    #[error("stopped")]
    Stopped,
}

impl CrashError {
    pub(crate) fn statement(
        doing: impl Into<String>,
    ) -> impl FnOnce(weir_mysql::ClientError) -> Self {
        let doing = doing.into();
        move |source| Self::Statement {
            doing,
            source: Box::new(source),
        }
    }
}

//! A recording: every operation that reached the drive, in the order in which it did.
//!
//! What a crash lab needs to know what a power cut could have left: the data of each write, what
//! was flushed when, what had been answered, and how names changed. `docs/drive-recording.md`
//! describes the files. A mounted drive writes them ([`RecordingOptions`]), [`Recording`] reads
//! them, and [`Replayer`] applies them, whole or in parts, to a plain directory.

mod base;
mod data;
mod format;
mod log;
mod names;
mod operation;
mod reader;
mod recorder;
mod replayer;

use std::path::PathBuf;

use weir_model::Bytes;

pub use self::data::Data;
pub use self::names::Names;
pub use self::operation::{Event, Node, OpenMode, Operation, Place};
pub use self::reader::{Events, Recording, RecordingEnd};
pub(crate) use self::recorder::{PendingRecord, Recorder};
pub use self::replayer::Replayer;

/// Small: times, files, lengths and names.
const EVENTS_FILE: &str = "events";
/// Name of the file of written data.
const DATA_FILE: &str = "data";

/// Options of a recording of a drive's operations.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordingOptions {
    /// An empty directory, created if it does not exist; neither on the drive nor in its backing.
    pub directory: PathBuf,
    /// The recording ends when it has grown to this; the drive goes on.
    pub limit: Bytes,
}

impl RecordingOptions {
    /// Enough for minutes of writes at 16 KiB, and no more than a laptop's disk can spare.
    pub const LIMIT: Bytes = Bytes(2 << 30);

    /// Returns the place of a copy of the drive's content at the start. A program that mounts a drive whose power is
    /// to be cut puts it there.
    pub fn base(&self) -> PathBuf {
        self.directory.join("base")
    }

    /// Into `directory`, up to [`Self::LIMIT`].
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            limit: Self::LIMIT,
        }
    }
}

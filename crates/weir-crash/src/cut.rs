//! A cut in a recording, in plain words: what ended, where, and what was going on.

use serde::{Deserialize, Serialize};
use weir_model::FileKind;

/// Kind of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// The drive lost its power: what was not yet safe is lost, torn or there, by the device's rules.
    Power,
    /// The server was killed: all that it had handed to the kernel is there.
    ProcessKill,
}

/// Activity at a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Anywhere.
    Any,
    /// A page of a table was being written to its place.
    PageFlush,
    /// Pages were being written to the doublewrite buffer.
    DoublewriteBatch,
    /// The redo log was being written.
    RedoWrite,
    /// The redo log had just begun again at its start, or in a new file.
    RedoWrap,
    /// The head of a redo log file, where a checkpoint is noted, was being written.
    Checkpoint,
    /// An undo tablespace had just been truncated or replaced.
    UndoTruncation,
    /// Files had just been created, renamed, truncated or removed: DDL.
    Ddl,
}

impl Moment {
    /// Returns true if a cut at this moment is meant to hit a write to a file of `kind`.
    pub(crate) fn aims_at(self, kind: FileKind) -> bool {
        match self {
            Self::PageFlush => matches!(kind, FileKind::Data | FileKind::Undo),
            Self::DoublewriteBatch => kind == FileKind::Doublewrite,
            Self::RedoWrite | Self::RedoWrap | Self::Checkpoint => kind == FileKind::Redo,
            Self::UndoTruncation => kind == FileKind::Undo,
            Self::Any | Self::Ddl => true,
        }
    }

    /// As words for a reader.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any moment",
            Self::PageFlush => "page flush in flight",
            Self::DoublewriteBatch => "doublewrite batch half written",
            Self::RedoWrite => "redo write in flight",
            Self::RedoWrap => "redo wrap",
            Self::Checkpoint => "checkpoint",
            Self::UndoTruncation => "undo truncation",
            Self::Ddl => "DDL",
        }
    }
}

/// One crash state: a place in the recording, and one outcome there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choice {
    /// Number of the first event that does not happen any more.
    pub(crate) position: u64,
    /// Number of the outcome among the possible ones at this place.
    pub(crate) branch: u32,
    /// Number of outcomes, where all are tried; `None`: this one was drawn.
    pub(crate) outcomes: Option<u32>,
    pub(crate) moment: Moment,
}

//! Messages between writer and witness: a line of JSON each, over TCP.
//!
//! The writer names its run in each line. The witness answers with the number of lines that are safe in its log, or
//! refuses and closes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::run_id::RunId;
use super::storage_identity::StorageIdentity;

/// Version of messages and log.
pub(crate) const FORMAT: u32 = 1;
/// Longest line, bytes.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

/// A line of the writer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    pub(crate) run: RunId,
    pub(crate) event: Event,
}

/// Event of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// The first line of a run.
    Begin(Box<RunStart>),
    /// The files are filled and flushed.
    Filled,
    /// The system has acknowledged all writes of this lane up to this one.
    Flushed { lane: u16, sequence: u64 },
    /// Nothing happened; the writer lives.
    Alive,
    /// The writer was stopped before any cut.
    Ended,
    /// An operation failed, as when the device goes away.
    Failed { why: String },
}

/// Facts about a run that the check needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunStart {
    pub(crate) format: u32,
    /// Folder in which the run's own folder lies.
    pub(crate) directory: PathBuf,
    /// Pages of each file.
    pub(crate) pages: u32,
    /// Numbers of the lanes that are written.
    pub(crate) lanes: Vec<u16>,
    /// The kernel's id of this start of the host.
    pub(crate) boot: String,
    pub(crate) storage: StorageIdentity,
}

/// Answer of the witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// So many lines of this connection are on the witness's disk.
    Kept(u64),
    /// It takes no more from this connection.
    Refused(String),
}

/// The kernel's id of this start of the host.
pub(crate) fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.unwrap_or_default().trim().to_owned()
}

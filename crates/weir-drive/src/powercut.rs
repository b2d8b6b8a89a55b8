//! The power-cut test of a real device: a writer, a witness on another host, and a check after the cut.
//!
//! The writer overwrites pages of known content in files of its own, in each way that a server writes, and tells the
//! witness each flush that the system has acknowledged. After the cut every page must be at least as new as its last
//! acknowledged flush, of one write only, and no page may be newer than one that was flushed before it and is lost.
//! Change here: content of a sector: `record.rs`; ways of writing: `lane.rs`; what counts as lost, torn or out of order:
//! `judge.rs`; statement over several cuts: `verdict.rs`; the device's identity: `storage_identity.rs`.

mod check;
mod error;
mod judge;
mod lane;
mod lane_writer;
mod order;
mod record;
mod run_directory;
mod run_id;
mod storage_identity;
mod verdict;
mod witness;
mod witness_link;
mod witness_log;
mod witness_message;
mod writer;

pub use check::{CheckOptions, CheckReport, check};
pub use error::PowercutError;
pub use judge::LaneFindings;
pub use lane::{Durability, Lane};
pub use run_id::RunId;
pub use storage_identity::{DeviceIdentity, StorageIdentity, Substitute};
pub use verdict::{
    CONFIDENCE, CutCount, CutKind, CutRecord, DeviceSummary, LaneTally, PowercutVerdict,
    cuts_needed,
};
pub use witness::Witness;
pub use writer::{WriteOptions, Writer};

//! Space that a statement needs beside the table: room for a new one or a new index, sort files, the row log.
//!
//! MySQL manual, "Online DDL Space Requirements".

use crate::space_available;
use serde::Serialize;
use weir_model::Bytes;

use super::obstacle::Obstacle;
use super::row_log::log_bytes;
use super::table::TableCopy;
use super::user_server::UserServer;
use crate::ddl::{Algorithm, Trial, Work};

/// A page of an index that is built keeps a sixteenth free.
const FILL: f64 = 15.0 / 16.0;
/// Bytes of an index entry beside its columns: header, and the primary key at most.
const ENTRY_BYTES: u64 = 13;

/// Upper estimates, bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Space {
    /// The new table, or new indexes, in the data directory.
    pub new_bytes: u64,
    /// Sort files, in the directory for temporary files.
    pub sort_bytes: u64,
    /// The row log, at most.
    pub row_log_bytes: u64,
    /// The directory of sort files.
    pub temporary_dir: String,
    /// Free bytes where the data lie; `None`: they are not on this host.
    pub free_bytes: Option<u64>,
    /// Free bytes in the directory of sort files.
    pub free_temporary_bytes: Option<u64>,
}

impl Space {
    pub(super) fn new(copy: &TableCopy, trial: &Trial, user: &UserServer) -> Self {
        let way = &trial.way;
        let whole = copy.bytes_now();
        // An entry holds columns of its row: all of them at most.
        let entries = copy.column_bytes() + copy.rows * ENTRY_BYTES;
        let index = (entries as f64 / FILL) as u64;
        let indexes = index * way.indexes_built as u64;
        let (new_bytes, sort_bytes) = match (way.work, way.algorithm) {
            (Work::Metadata, _) => (0, 0),
            (Work::Index, _) => (indexes, indexes),
            (Work::Rebuild, Some(Algorithm::Copy)) => (whole, 0),
            (Work::Rebuild, _) => (whole, whole),
        };
        let is_here = user.data_dir.is_some();
        let temporary_dir = user.temporary_dir();
        let free = |path: &std::path::Path| space_available(path).ok().map(|free| free.0);
        Self {
            new_bytes,
            sort_bytes,
            row_log_bytes: log_bytes(way, user),
            temporary_dir: temporary_dir
                .map_or_else(String::new, |path| path.display().to_string()),
            free_bytes: user.data_dir.as_deref().and_then(free),
            free_temporary_bytes: temporary_dir.filter(|_| is_here).and_then(free),
        }
    }

    /// Returns an obstacle if there is too little space.
    pub(super) fn look(&self) -> Vec<Obstacle> {
        if self.new_bytes == 0 {
            return Vec::new();
        }
        let temporary_bytes = self.sort_bytes + self.row_log_bytes;
        let asked = [
            (self.new_bytes, self.free_bytes, "the data directory"),
            (
                temporary_bytes,
                self.free_temporary_bytes,
                "the directory of temporary files",
            ),
        ];
        let mut found = Vec::new();
        for (needed, free, place) in asked {
            let Some(free) = free.filter(|free| *free < needed) else {
                continue;
            };
            let text = format!(
                "up to {} are needed in {place}, and {} are free; make room, or set innodb_tmpdir for temporary files",
                Bytes(needed),
                Bytes(free)
            );
            found.push(Obstacle::blocks("free space", text));
        }
        if self.free_bytes.is_none() {
            let text =
                "free space is not known: the data are on another host, or may not be looked at";
            found.push(Obstacle::note("free space", text.to_owned()));
        }
        found
    }
}

//! The folder of a result: one SQLite file, whose schema only this crate knows, and where a running study is.
//! Change here: a column: `schema.sql`, `write.rs`, `read.rs`, and how the version before is read: a new `schema-*.sql`; progress of a running study: `progress/`.
//!
//! A run is written in one transaction when it is complete, so that a kill at any moment leaves
//! whole runs only. Comparisons and verdicts are not stored: they follow from the runs.
#![warn(clippy::missing_errors_doc)]

mod earlier_plan;
mod error;
pub mod progress;
mod read;
mod rows;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

pub use error::StoreError;

/// Version of the schema that this crate writes. It reads earlier ones as well.
pub const SCHEMA_VERSION: i64 = 7;

/// Earlier schemas that can be read, each with what lets a result of it be read as one of the next.
const EARLIER: [(i64, &str); 5] = [
    (2, include_str!("schema-2-as-3.sql")),
    (3, include_str!("schema-3-as-4.sql")),
    (4, include_str!("schema-4-as-5.sql")),
    (5, include_str!("schema-5-as-6.sql")),
    (6, include_str!("schema-6-as-7.sql")),
];

/// The first schema whose plans are of today's form; `earlier_plan.rs` reads those before.
const PLANS_SINCE: i64 = 5;

/// Time to wait for another program that uses the file.
const BUSY_TIMEOUT: Duration = Duration::from_mins(1);

/// An open result.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// True if it has this version's schema, and may be written to.
    is_current: bool,
    /// True if its plan is of another form than today's.
    has_earlier_plan: bool,
}

impl Store {
    /// Opens the result at `path` for reading and appending; one of an earlier schema for reading.
    ///
    /// # Errors
    /// If there is no such file, it is no result, or its schema is not one of those that can be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.is_file() {
            return Err(StoreError::Missing {
                path: path.to_owned(),
            });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags);
        let store = Self {
            connection: connection.map_err(StoreError::sqlite("open", path))?,
            path: path.to_owned(),
            is_current: true,
            has_earlier_plan: false,
        };
        // A reader of a large result must not make the study fail that is adding to it.
        let patience = store.connection.busy_timeout(BUSY_TIMEOUT);
        patience.map_err(store.error("open"))?;
        let version = store.schema_version()?;
        if !(EARLIER[0].0..=SCHEMA_VERSION).contains(&version) {
            return Err(StoreError::Version {
                path: path.to_owned(),
                version,
            });
        }
        for (_, views) in EARLIER.iter().filter(|(earlier, _)| *earlier >= version) {
            let made = store.connection.execute_batch(views);
            made.map_err(store.error("read"))?;
        }
        Ok(Self {
            is_current: version == SCHEMA_VERSION,
            has_earlier_plan: version < PLANS_SINCE,
            ..store
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// For `map_err`: `action` on this store failed.
    fn error(&self, action: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError {
        StoreError::sqlite(action, &self.path)
    }
}

#[cfg(test)]
mod column_reference;
#[cfg(test)]
mod tests;

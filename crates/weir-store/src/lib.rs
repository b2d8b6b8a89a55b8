//! The result store: one SQLite file per result, and the only place that knows its schema.
//!
//! A run is written in one transaction when it is complete, so that a kill at any moment leaves
//! whole runs only. Comparisons and verdicts are not stored: they follow from the runs.

mod error;
mod read;
mod rows;
mod write;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

pub use error::StoreError;

/// Version of the schema that this crate writes. It reads the one before as well.
pub const SCHEMA_VERSION: i64 = 3;

/// What lets a result of the schema before be read as one of this.
const PREVIOUS_AS_CURRENT: &str = include_str!("schema-2-as-3.sql");

/// An open result.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// Whether it has this version's schema, and may be written to.
    is_current: bool,
}

impl Store {
    /// Opens the result at `path` for reading and appending; one of the schema before for reading.
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
        };
        let version = store.schema_version()?;
        match SCHEMA_VERSION - version {
            0 => Ok(store),
            1 => {
                let views = store.connection.execute_batch(PREVIOUS_AS_CURRENT);
                views.map_err(store.error("read"))?;
                Ok(Self {
                    is_current: false,
                    ..store
                })
            }
            _ => Err(StoreError::Version {
                path: path.to_owned(),
                version,
            }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// For `map_err`: `action` on this store failed.
    fn error(&self, action: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError {
        StoreError::sqlite(action, &self.path)
    }
}

#[cfg(test)]
mod tests;

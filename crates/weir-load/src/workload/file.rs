//! A user's own workload: tables, values and transactions in a TOML file.
//!
//! The file is read as it is written (`format`) and then resolved into the tables and the script
//! that sysbench's workloads become too (`resolve`). Its language is described in
//! docs/workloads.md.

mod format;
mod resolve;

use std::fmt;
use std::path::{Path, PathBuf};

use format::File;
use weir_model::parse_toml;

use super::{Distribution, Script, Table};
use crate::LoadError;

/// A workload file that holds together.
#[derive(Clone)]
pub(crate) struct WorkloadFile {
    path: PathBuf,
    text: String,
    file: File,
}

impl WorkloadFile {
    /// Reads and checks a file; an error says file, line, reason and what to do.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let failed = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| {
            failed(format!("{}; name a file", error.to_string().to_lowercase()))
        })?;
        let file = parse_toml(&text).map_err(failed)?;
        let read = Self {
            path: path.to_owned(),
            text,
            file,
        };
        // Whatever the settings of a run will be, they do not make it wrong.
        let resolved = read.resolve(0, Distribution::Uniform);
        resolved.map_err(failed)?;
        Ok(read)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its transactions. `seed` and `distribution` are the run's.
    pub(crate) fn script(
        &self,
        seed: u64,
        distribution: Distribution,
    ) -> Result<Script, LoadError> {
        let resolved = self.resolve(seed, distribution);
        resolved
            .map(|(_, script)| script)
            .map_err(|why| self.failed(why))
    }

    /// Its tables. `distribution` is that of keys that name none.
    pub(crate) fn tables(&self, distribution: Distribution) -> Result<Vec<Table>, LoadError> {
        let resolved = self.resolve(0, distribution);
        resolved
            .map(|(tables, _)| tables)
            .map_err(|why| self.failed(why))
    }

    fn failed(&self, why: String) -> LoadError {
        LoadError::File {
            path: self.path.display().to_string(),
            why,
            remedy: "see docs/workloads.md",
        }
    }
}

impl fmt::Debug for WorkloadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkloadFile({})", self.path.display())
    }
}

impl PartialEq for WorkloadFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.text == other.text
    }
}

impl Eq for WorkloadFile {}

#[cfg(test)]
mod tests;

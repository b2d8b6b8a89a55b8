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
use weir_model::{Distribution, TableSize, parse_toml};

use super::{Script, Table};
use crate::LoadError;

/// First words of statements that change no row.
const HARMLESS: [&str; 9] = [
    "BEGIN", "COMMIT", "DO", "ROLLBACK", "SELECT", "SET", "SHOW", "START", "TABLE",
];

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
        let text = std::fs::read_to_string(path).map_err(|error| {
            let why = error.to_string().to_lowercase();
            format!("{}: {why}; name a file", path.display())
        })?;
        Self::parse(path, &text)
    }

    /// Checks `text`, which was read from `path`.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let failed = |why: String| format!("{}: {why}", path.display());
        let read = Self {
            path: path.to_owned(),
            text: text.to_owned(),
            file: parse_toml(text).map_err(failed)?,
        };
        // Whatever the settings of a run will be, they do not make it wrong.
        let resolved = read.resolve(0, Distribution::Uniform);
        resolved.map_err(failed)?;
        Ok(read)
    }

    /// What it says.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text whose lines it takes, if it names one. It is named as seen from the file.
    pub(crate) fn book(&self) -> Option<PathBuf> {
        let named = self.file.text_file.as_ref()?;
        let directory = self.path.parent();
        Some(directory.map_or_else(|| named.clone(), |directory| directory.join(named)))
    }

    /// Its tables with their rows.
    pub(crate) fn table_sizes(&self) -> Vec<TableSize> {
        let tables = self.file.tables.iter();
        let sizes = tables.map(|(name, table)| TableSize {
            name: name.clone(),
            rows: table.get_ref().rows,
        });
        sizes.collect()
    }

    /// Whether no statement changes anything, by the word that it begins with.
    pub(crate) fn only_reads(&self) -> bool {
        let transactions = self.file.transactions.iter();
        let mut statements = transactions.flat_map(|entry| &entry.get_ref().statements);
        statements.all(|entry| {
            let first = entry.get_ref().sql.split_whitespace().next();
            let is_first =
                |word: &&str| first.is_some_and(|first| first.eq_ignore_ascii_case(word));
            HARMLESS.iter().any(is_first)
        })
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

//! A user's own workload: tables, values and transactions in a TOML file.
//!
//! The file is read as it is written (`format`) and then resolved into the tables and the script
//! that sysbench's workloads become too (`resolve`). Its language is described in
//! docs/workloads.md.

mod format;
mod keys;
mod resolve;

use std::fmt;
use std::path::PathBuf;

use format::File;
use weir_model::{FileWorkload, TableSize, parse_toml};
use weir_mysql::StatementText;

use crate::{Script, Table, WorkloadError};

/// First words of statements that change no row.
const HARMLESS: [&str; 9] = [
    "BEGIN", "COMMIT", "DO", "ROLLBACK", "SELECT", "SET", "SHOW", "START", "TABLE",
];

/// A workload file that holds together.
#[derive(Clone)]
pub(crate) struct WorkloadFile {
    spec: FileWorkload,
    file: File,
}

impl WorkloadFile {
    /// Checks what a file says; an error says file, line, reason and what to do.
    pub(crate) fn new(spec: FileWorkload) -> Result<Self, String> {
        let failed = |why: String, spec: &FileWorkload| format!("{}: {why}", spec.path.display());
        let file = parse_toml(&spec.text).map_err(|why| failed(why, &spec))?;
        let read = Self { spec, file };
        // Whatever the seed of a run will be, it does not make it wrong.
        match read.resolve(0) {
            Ok(_) => Ok(read),
            Err(why) => Err(failed(why, &read.spec)),
        }
    }

    /// Returns the description.
    pub(crate) fn spec(&self) -> &FileWorkload {
        &self.spec
    }

    /// The text whose lines it takes, if it names one. It is named as seen from the file.
    pub(crate) fn book(&self) -> Option<PathBuf> {
        let named = self.file.text_file.as_ref()?;
        let directory = self.spec.path.parent();
        Some(directory.map_or_else(|| named.clone(), |directory| directory.join(named)))
    }

    /// Returns its tables with their rows.
    pub(crate) fn table_sizes(&self) -> Vec<TableSize> {
        let tables = self.file.tables.iter();
        let sizes = tables.map(|(name, table)| TableSize {
            name: name.clone(),
            rows: table.get_ref().rows,
        });
        sizes.collect()
    }

    /// Returns true if no statement changes anything, by the word that it begins with.
    pub(crate) fn only_reads(&self) -> bool {
        let transactions = self.file.transactions.iter();
        let mut statements = transactions.flat_map(|entry| &entry.get_ref().statements);
        statements.all(|entry| {
            let text = StatementText::read(&entry.get_ref().sql);
            let words = text.first_words();
            words
                .first()
                .is_some_and(|word| HARMLESS.contains(&word.as_str()))
        })
    }

    /// Returns its transactions. `seed` is the run's.
    pub(crate) fn script(&self, seed: u64) -> Result<Script, WorkloadError> {
        let resolved = self.resolve(seed);
        resolved
            .map(|(_, script)| script)
            .map_err(|why| self.failed(why))
    }

    /// Returns its tables.
    pub(crate) fn tables(&self) -> Result<Vec<Table>, WorkloadError> {
        let resolved = self.resolve(0);
        resolved
            .map(|(tables, _)| tables)
            .map_err(|why| self.failed(why))
    }

    fn failed(&self, why: String) -> WorkloadError {
        WorkloadError::File {
            path: self.spec.path.display().to_string(),
            why,
            remedy: "see docs/workloads.md",
        }
    }
}

impl fmt::Debug for WorkloadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkloadFile({})", self.spec.path.display())
    }
}

impl PartialEq for WorkloadFile {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
    }
}

#[cfg(test)]
mod tests;

//! The data that a run starts from.

use serde::{Deserialize, Serialize};

use crate::Scale;

/// The tables of a run, as they are loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataSpec {
    /// Tables of the data.
    #[serde(flatten)]
    pub source: DataSource,
    /// By how much rows, buffer pool, redo and drive capacity were shrunk.
    pub data_scale: Scale,
    /// By how much drive throughput was shrunk; latency is never scaled.
    pub drive_scale: Scale,
    /// Text that is appended to the `CREATE TABLE` of sysbench's tables, such as `ROW_FORMAT=COMPRESSED`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table_options: String,
    /// Changes of the data between their making and the measurement, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<DataChange>,
}

/// A change of the data before the measurement: an index, a histogram, a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataChange {
    /// Name of the change, by which levels of the factor `before` call it.
    pub name: String,
    /// SQL of the change: one statement.
    pub statement: String,
}

impl DataChange {
    /// Returns true if the server forgets the change at its end, so that each run needs it: a `SET`.
    pub fn is_of_each_run(&self) -> bool {
        let word = self.statement.split_whitespace().next().unwrap_or_default();
        word.eq_ignore_ascii_case("set")
    }

    /// Returns the names of the variables that it sets; none for a statement that is no `SET`.
    pub fn variables(&self) -> Vec<String> {
        if !self.is_of_each_run() {
            return Vec::new();
        }
        let mut assignments: Vec<_> = self.statement.split('=').collect();
        assignments.pop();
        let name = |assignment: &str| {
            let word = assignment
                .trim_end_matches([':', ' '])
                .split_whitespace()
                .last()?;
            let name = word.rsplit(['.', '@']).next()?;
            Some(name.trim_matches('`').to_ascii_lowercase())
        };
        assignments.into_iter().filter_map(name).collect()
    }
}

/// Origin of tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum DataSource {
    /// sysbench's tables, all alike.
    Sysbench {
        /// Number of tables.
        tables: u32,
        /// Rows of each, scaled.
        rows: u64,
    },
    /// The tables of the workload's own file.
    File {
        /// All of them.
        sizes: Vec<TableSize>,
    },
    /// Tables made by the `prepare` of a Lua script; unknown before it ran.
    Lua,
    /// A snapshot of a private server's data, whatever is in it.
    Snapshot {
        /// Name in `weir server snapshot list`.
        name: String,
    },
    /// The tables of order entry, whose sizes are options of the workload.
    OrderEntry {
        /// All of them.
        sizes: Vec<TableSize>,
    },
}

/// A table of a workload that says itself how large its tables are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableSize {
    /// Name of the table.
    pub name: String,
    /// Rows of the table when it is loaded.
    pub rows: u64,
}

impl DataSpec {
    /// Returns the number of tables; 0 where that is unknown.
    pub fn table_count(&self) -> usize {
        match &self.source {
            DataSource::Sysbench { tables, .. } => *tables as usize,
            DataSource::File { sizes } | DataSource::OrderEntry { sizes } => sizes.len(),
            DataSource::Lua | DataSource::Snapshot { .. } => 0,
        }
    }

    /// Rows of all tables together; 0 where that is unknown.
    pub fn rows_total(&self) -> u64 {
        match &self.source {
            DataSource::Sysbench { tables, rows } => u64::from(*tables) * rows,
            DataSource::File { sizes } | DataSource::OrderEntry { sizes } => {
                sizes.iter().map(|table| table.rows).sum()
            }
            DataSource::Lua | DataSource::Snapshot { .. } => 0,
        }
    }
}

impl Default for DataSpec {
    /// sysbench's: one table of 10,000 rows, at full size.
    fn default() -> Self {
        Self {
            source: DataSource::Sysbench {
                tables: 1,
                rows: 10_000,
            },
            data_scale: Scale::FULL,
            drive_scale: Scale::FULL,
            table_options: String::new(),
            before: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_settings_says_their_names() {
        for (statement, names) in [
            (
                "SET GLOBAL sort_buffer_size = 1, @@global.`Read_Rnd_Buffer_Size` := 2",
                vec!["sort_buffer_size", "read_rnd_buffer_size"],
            ),
            ("set @@GLOBAL.log_bin=1", vec!["log_bin"]),
            ("UPDATE t SET a = 1", vec![]),
        ] {
            let change = DataChange {
                name: "x".to_owned(),
                statement: statement.to_owned(),
            };
            assert_eq!(change.variables(), names, "{statement}");
        }
    }
}

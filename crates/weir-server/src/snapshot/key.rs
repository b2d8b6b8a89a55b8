//! Key of a snapshot: everything that made it.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use weir_model::{Flavor, ServerVersion};
use weir_process::short_name;

use weir_process::PathError;

/// The key's file inside a snapshot; written last, so that its presence says "whole".
pub(super) const FILE: &str = "snapshot.json";

/// Everything that made a data directory. Equal keys mean equal data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotKey {
    /// Flavour of the server that wrote the data.
    pub flavor: Flavor,
    /// Version of the server that wrote the data.
    pub version: ServerVersion,
    /// Name of the workload; of a script, with whatever tells its contents.
    pub workload: String,
    /// Tables.
    pub tables: u32,
    /// Rows of each table.
    pub rows: u64,
    /// Seed of the rows.
    pub seed: u64,
    /// `innodb_page_size`, bytes.
    pub page_bytes: u32,
    /// Number of the way in which the data are made: raise it when the loader changes.
    pub format: u32,
    /// Steps by which Weir made the data from others: the snapshot that they began with, then upgrades and statements.
    /// Empty for data as a loader or a user left them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_by: Vec<String>,
}

impl SnapshotKey {
    /// Returns the key of these data after `steps` on the way to a server of `flavor` and `version`; the key itself without steps.
    #[must_use]
    pub fn after(&self, flavor: Flavor, version: ServerVersion, steps: Vec<String>) -> Self {
        if steps.is_empty() {
            return self.clone();
        }
        let mut made_by = vec![self.name()];
        made_by.extend(steps);
        Self {
            flavor,
            version,
            made_by,
            ..self.clone()
        }
    }

    /// Returns true if a user took it under a label.
    pub fn is_of_user(&self) -> bool {
        // Data that a study made have rows.
        self.tables == 0 && self.made_by.is_empty()
    }

    /// A directory's name that a reader understands and that is this key's alone.
    pub fn name(&self) -> String {
        let text = serde_json::to_string(self).expect("invariant: a key is plain data");
        let workload: String = self
            .workload
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .take(40)
            .collect();
        format!(
            "{}-{}-{workload}-{}x{}-{}",
            self.flavor,
            self.version,
            self.tables,
            self.rows,
            short_name(text.as_bytes())
        )
    }
}

/// Writes `key` into the snapshot in `directory`.
pub(super) fn write(key: &SnapshotKey, directory: &Path) -> Result<(), PathError> {
    let path = directory.join(FILE);
    let text = serde_json::to_string(key).expect("invariant: a key is plain data");
    fs::write(&path, text).map_err(PathError::on("write", &path))
}

/// The key of the snapshot in `directory`; `None` if it is not a whole snapshot.
pub(super) fn read(directory: &Path) -> Option<SnapshotKey> {
    let text = fs::read_to_string(directory.join(FILE)).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn example() -> SnapshotKey {
        SnapshotKey {
            flavor: Flavor::Mysql,
            version: "9.7.4".parse().unwrap(),
            workload: "oltp/../write only".to_owned(),
            tables: 4,
            rows: 1000,
            seed: 1,
            page_bytes: 16384,
            format: 1,
            made_by: Vec::new(),
        }
    }

    #[test]
    fn a_name_is_readable_stays_in_its_directory_and_differs_by_every_field() {
        let key = example();
        assert!(
            key.name()
                .starts_with("mysql-9.7.4-oltp____write_only-4x1000-")
        );
        let others = [
            SnapshotKey {
                seed: 2,
                ..key.clone()
            },
            SnapshotKey {
                page_bytes: 4096,
                ..key.clone()
            },
            SnapshotKey {
                format: 2,
                ..key.clone()
            },
            SnapshotKey {
                workload: "oltp/../write_only".into(),
                ..key.clone()
            },
        ];
        for other in others {
            assert_ne!(other.name(), key.name());
        }
    }
}

//! Purpose of a file of a MySQL or MariaDB data directory, read from its name.

use serde::{Deserialize, Serialize};

/// The purpose of a file in a data directory. Every byte of a drive's traffic belongs to one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// InnoDB's redo log.
    Redo,
    /// The doublewrite buffer's own files (MySQL 8.0.20 and later).
    Doublewrite,
    /// Tablespaces: tables, and the system tablespace (with MariaDB's doublewrite buffer in it).
    Data,
    /// Undo tablespaces.
    Undo,
    /// Binary and relay logs with their indexes.
    Binlog,
    /// Temporary tablespaces and sort files.
    Temporary,
    /// All else: error log, socket, dictionaries, configuration.
    Other,
}

impl FileKind {
    /// All kinds, in the order in which [`FileKind::index`] numbers them.
    pub const ALL: [Self; 7] = [
        Self::Redo,
        Self::Doublewrite,
        Self::Data,
        Self::Undo,
        Self::Binlog,
        Self::Temporary,
        Self::Other,
    ];

    /// Returns the word in results, as it is serialised.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redo => "redo",
            Self::Doublewrite => "doublewrite",
            Self::Data => "data",
            Self::Undo => "undo",
            Self::Binlog => "binlog",
            Self::Temporary => "temporary",
            Self::Other => "other",
        }
    }

    /// Position in [`FileKind::ALL`], for arrays of counters.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind of the file at `path`, relative to the data directory or to the folder of the data directory, in
    /// which `tmp` lies beside it.
    ///
    /// Names from the manuals. MySQL 8.0.30+ keeps redo in `#innodb_redo/`, older versions and MariaDB in
    /// `ib_logfile0`. Doublewrite files are `#ib_16384_0.dblwr`. Undo tablespaces are `undo_001` (MySQL),
    /// `undo001` (MariaDB) or `*.ibu`. `ibtmp1` and `#innodb_temp/` are temporary.
    pub fn from_path(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let inside = |folder: &str| path.split('/').any(|part| part == folder);
        if inside("#innodb_redo") || name.starts_with("ib_logfile") {
            Self::Redo
        } else if has_extension(name, "dblwr") || has_extension(name, "bdblwr") {
            Self::Doublewrite
        } else if path.starts_with("tmp/")
            || inside("#innodb_temp")
            || name.starts_with("ibtmp")
            || name.starts_with("#sql")
        {
            Self::Temporary
        } else if is_undo(name) {
            Self::Undo
        } else if name.starts_with("ibdata") || has_extension(name, "ibd") {
            Self::Data
        } else if is_binlog(name) {
            Self::Binlog
        } else {
            Self::Other
        }
    }
}

fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, found)| found == extension)
}

fn is_undo(name: &str) -> bool {
    let digits = name
        .strip_prefix("undo")
        .map(|rest| rest.trim_start_matches('_'));
    digits.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        || has_extension(name, "ibu")
}

/// `NAME.000001` and `NAME.index`, where NAME speaks of a binary or relay log.
fn is_binlog(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let numbered = extension.len() >= 6 && extension.bytes().all(|b| b.is_ascii_digit());
    let named = ["binlog", "-bin", "relay"]
        .iter()
        .any(|word| stem.contains(word));
    named && (numbered || extension == "index" || extension == "state")
}

#[cfg(test)]
mod tests {
    use super::FileKind::{self, Binlog, Data, Doublewrite, Other, Redo, Temporary, Undo};

    #[test]
    fn names_of_both_servers_find_their_kind() {
        let cases = [
            ("#innodb_redo/#ib_redo12", Redo),
            ("ib_logfile0", Redo),
            ("#ib_16384_0.dblwr", Doublewrite),
            ("#ib_16384_0.bdblwr", Doublewrite),
            ("ibdata1", Data),
            ("mysql.ibd", Data),
            ("sbtest/sbtest1.ibd", Data),
            ("undo_001", Undo),
            ("undo001", Undo),
            ("ibtmp1", Temporary),
            ("#innodb_temp/temp_1.ibt", Temporary),
            ("#sql1a2_3.ibd", Temporary),
            ("tmp/MLfd=1", Temporary),
            ("data/tmp/t.ibd", Data),
            ("binlog.000001", Binlog),
            ("mysqld-bin.index", Binlog),
            ("undo_notes", Other),
            ("auto.cnf", Other),
        ];
        for (path, kind) in cases {
            assert_eq!(FileKind::from_path(path), kind, "{path}");
        }
    }

    #[test]
    fn the_index_is_the_position_and_the_name_is_the_serialised_one() {
        for (position, kind) in FileKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.index(), position);
            assert_eq!(serde_json::json!(kind), kind.name());
        }
    }
}

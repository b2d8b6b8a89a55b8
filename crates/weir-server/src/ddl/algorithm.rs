//! Algorithms and locks of an `ALTER TABLE`, as the servers' manuals name them.
//!
//! MySQL manual, "ALTER TABLE Statement"; MariaDB Knowledge Base, "InnoDB Online DDL Overview".

use serde::{Deserialize, Serialize};
use weir_model::Flavor;

/// `ALGORITHM=` of an `ALTER TABLE`. On `MariaDB`, a name also permits everything faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Algorithm {
    /// Only the table's definition changes.
    Instant,
    /// `MariaDB`: in place, and the table is not rebuilt.
    NoCopy,
    /// The storage engine does it, with or without a rebuild.
    InPlace,
    /// The server copies the rows into a new table.
    Copy,
}

impl Algorithm {
    /// Those of a server, the fastest first.
    pub const fn for_flavor(flavor: Flavor) -> &'static [Self] {
        match flavor {
            Flavor::Mysql => &[Self::Instant, Self::InPlace, Self::Copy],
            Flavor::Mariadb => &[Self::Instant, Self::NoCopy, Self::InPlace, Self::Copy],
        }
    }

    /// Returns the word in SQL.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instant => "INSTANT",
            Self::NoCopy => "NOCOPY",
            Self::InPlace => "INPLACE",
            Self::Copy => "COPY",
        }
    }
}

/// `LOCK=` of an `ALTER TABLE`: what others may do to the table meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Lock {
    /// Reads and writes.
    None,
    /// Reads.
    Shared,
    /// Nothing.
    Exclusive,
}

impl Lock {
    /// All, the weakest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Shared, Self::Exclusive];

    /// Returns the word in SQL.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Shared => "SHARED",
            Self::Exclusive => "EXCLUSIVE",
        }
    }
}

/// Work of the storage engine beside changing the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Nothing.
    Metadata,
    /// It reads the table and builds indexes.
    Index,
    /// It writes the whole table anew, with all its indexes.
    Rebuild,
}

impl Work {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Index => "index",
            Self::Rebuild => "rebuild",
        }
    }
}

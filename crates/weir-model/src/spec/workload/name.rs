//! The workloads that Weir has.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The workloads that Weir has, by sysbench's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkloadName {
    /// One row by primary key.
    OltpPointSelect,
    /// Point selects and range queries in a transaction.
    OltpReadOnly,
    /// The statements of `OltpReadOnly` and `OltpWriteOnly` in a transaction.
    OltpReadWrite,
    /// Updates, a delete and an insert in a transaction.
    OltpWriteOnly,
    /// A row at the end of a table.
    OltpInsert,
    /// A delete by primary key; rows that are gone stay gone.
    OltpDelete,
    /// An update of the indexed column by primary key.
    OltpUpdateIndex,
    /// An update of a column without index by primary key.
    OltpUpdateNonIndex,
    /// Rows at several points of the secondary index.
    SelectRandomPoints,
    /// A count over several ranges of the secondary index.
    SelectRandomRanges,
    /// Long multi-row inserts, each connection into a table of its own; a transaction is a row.
    BulkInsert,
    /// `OltpReadOnly` on a table with text, and a select by a line of it.
    OltpTextReadOnly,
    /// Updates of text too, by key and by a line, and a delete and an insert.
    OltpTextWriteOnly,
    /// The statements of both in a transaction.
    OltpTextReadWrite,
}

impl WorkloadName {
    /// All workloads.
    pub const ALL: [Self; 14] = [
        Self::OltpPointSelect,
        Self::OltpReadOnly,
        Self::OltpReadWrite,
        Self::OltpWriteOnly,
        Self::OltpInsert,
        Self::OltpDelete,
        Self::OltpUpdateIndex,
        Self::OltpUpdateNonIndex,
        Self::SelectRandomPoints,
        Self::SelectRandomRanges,
        Self::BulkInsert,
        Self::OltpTextReadOnly,
        Self::OltpTextWriteOnly,
        Self::OltpTextReadWrite,
    ];

    /// sysbench's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OltpPointSelect => "oltp_point_select",
            Self::OltpReadOnly => "oltp_read_only",
            Self::OltpReadWrite => "oltp_read_write",
            Self::OltpWriteOnly => "oltp_write_only",
            Self::OltpInsert => "oltp_insert",
            Self::OltpDelete => "oltp_delete",
            Self::OltpUpdateIndex => "oltp_update_index",
            Self::OltpUpdateNonIndex => "oltp_update_non_index",
            Self::SelectRandomPoints => "select_random_points",
            Self::SelectRandomRanges => "select_random_ranges",
            Self::BulkInsert => "bulk_insert",
            Self::OltpTextReadOnly => "oltp_text_read_only",
            Self::OltpTextWriteOnly => "oltp_text_write_only",
            Self::OltpTextReadWrite => "oltp_text_read_write",
        }
    }

    /// Returns true if its tables have text beside sysbench's columns.
    pub fn has_text(self) -> bool {
        matches!(
            self,
            Self::OltpTextReadOnly | Self::OltpTextWriteOnly | Self::OltpTextReadWrite
        )
    }

    /// Returns true if its transactions change nothing.
    pub fn only_reads(self) -> bool {
        matches!(
            self,
            Self::OltpPointSelect
                | Self::OltpReadOnly
                | Self::SelectRandomPoints
                | Self::SelectRandomRanges
                | Self::OltpTextReadOnly
        )
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for WorkloadName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|name| name.as_str() == text)
            .ok_or_else(|| {
                let known = Self::ALL.map(Self::as_str);
                match crate::nearest(text, known) {
                    Some(name) => format!("no workload `{text}`; did you mean `{name}`?"),
                    None => format!("no workload `{text}`; there are {}", known.join(", ")),
                }
            })
    }
}

//! sysbench's options of a transaction's composition.

use serde::{Deserialize, Serialize};

/// Number of statements of each kind in a transaction, with sysbench's names and defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mix {
    /// Rows of a range.
    pub range_size: u32,
    /// Selects by primary key.
    pub point_selects: u32,
    /// Selects of a range of rows.
    pub simple_ranges: u32,
    /// Sums over a range.
    pub sum_ranges: u32,
    /// Sorted ranges.
    pub order_ranges: u32,
    /// Sorted ranges without duplicates.
    pub distinct_ranges: u32,
    /// True if the four kinds of range select are used at all.
    pub range_selects: bool,
    /// Updates of the indexed column.
    pub index_updates: u32,
    /// Updates of a column without index.
    pub non_index_updates: u32,
    /// Pairs of a delete and an insert of the same row.
    pub delete_inserts: u32,
    /// Selects by a line of text, in the text workloads.
    pub text_selects: u32,
    /// Updates by a line of text, in the text workloads.
    pub text_updates: u32,
    /// Each statement on its own instead of all in one transaction.
    #[serde(rename = "skip_trx")]
    pub skip_transactions: bool,
    /// Points of `select_random_points`.
    pub random_points: u32,
    /// Ranges of `select_random_ranges`.
    #[serde(rename = "number_of_ranges")]
    pub random_ranges: u32,
    /// By how much the end of such a range lies above its beginning.
    #[serde(rename = "delta")]
    pub random_range_delta: u32,
}

impl Mix {
    /// Most parameters of a prepared statement: the protocol counts them in 16 bits.
    const PARAMETERS_MAX: u32 = 65_535;
    /// Most points of `select_random_points`, each a parameter.
    pub const RANDOM_POINTS_MAX: u32 = Self::PARAMETERS_MAX;
    /// Most ranges of `select_random_ranges`, each with two of them.
    pub const RANDOM_RANGES_MAX: u32 = Self::PARAMETERS_MAX / 2;
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            range_size: 100,
            point_selects: 10,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            range_selects: true,
            index_updates: 1,
            non_index_updates: 1,
            delete_inserts: 1,
            text_selects: 1,
            text_updates: 1,
            skip_transactions: false,
            random_points: 10,
            random_ranges: 10,
            random_range_delta: 5,
        }
    }
}

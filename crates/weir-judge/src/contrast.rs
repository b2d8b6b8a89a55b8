//! A contrast: two cells that are compared, and in which metric.

use crate::cell_index::Levels;

/// Two cells that differ in one factor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contrast {
    pub(crate) factor: String,
    pub(crate) baseline: String,
    pub(crate) level: String,
    /// Levels of the other factors.
    pub(crate) context: Levels,
    pub(crate) baseline_cell: usize,
    pub(crate) level_cell: usize,
    /// Metric of the comparison.
    pub(crate) metric: String,
}

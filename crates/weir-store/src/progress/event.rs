//! The events of a running study, for a display.

use weir_model::{Bottleneck, Bytes, IntervalRecord, RunRecord, Utilization};

/// A step of a running study.
#[derive(Debug)]
pub enum Event<'a> {
    /// Rows are being loaded, once for all runs.
    Loading {
        /// Rows so far.
        rows_done: u64,
        /// Rows in all tables.
        rows_total: u64,
    },
    /// The data are being changed, once for all runs: upgraded, or by a statement.
    Changing {
        /// The change.
        change: &'a str,
    },
    /// The data set is there.
    DataReady {
        /// Size on disk.
        size: Bytes,
        /// Kept from an earlier study with the same data.
        from_cache: bool,
    },
    /// A run begins.
    RunStarted {
        /// Position among all runs, from 1.
        position: usize,
        /// All runs of the study.
        total: usize,
        /// The cell's levels.
        label: &'a str,
        /// The repetition, from 1.
        repetition: u32,
    },
    /// A second of load has passed.
    Interval(&'a IntervalRecord),
    /// Present bottleneck of the run, with its evidence.
    Bottleneck(Bottleneck, &'a Utilization),
    /// A run is complete and stored.
    RunFinished {
        /// Position among all runs, from 1.
        position: usize,
        /// All runs of the study.
        total: usize,
        /// The cell's levels.
        label: &'a str,
        /// Record of the run.
        record: &'a RunRecord,
    },
    /// A run has failed; the study goes on with the next.
    RunFailed {
        /// Position among all runs, from 1.
        position: usize,
        /// All runs of the study.
        total: usize,
        /// Run that failed, and the reason.
        why: &'a str,
    },
}

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
    /// The data set is there.
    DataReady {
        /// Its size on disk.
        size: Bytes,
        /// Kept from an earlier study with the same data.
        from_cache: bool,
    },
    /// A run begins.
    RunStarted {
        /// Which of all runs, from 1.
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
    /// What limits the run at present, with what decided it.
    Bottleneck(Bottleneck, &'a Utilization),
    /// A run is complete and stored.
    RunFinished {
        /// Which of all runs, from 1.
        position: usize,
        /// All runs of the study.
        total: usize,
        /// The cell's levels.
        label: &'a str,
        /// What was measured.
        record: &'a RunRecord,
    },
    /// A run has failed; the study goes on with the next.
    RunFailed {
        /// Which of all runs, from 1.
        position: usize,
        /// All runs of the study.
        total: usize,
        /// Which run it was, and why.
        why: &'a str,
    },
}

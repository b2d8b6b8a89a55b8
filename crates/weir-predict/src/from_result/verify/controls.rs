//! Places of a result that are run again among those that are verified.

use weir_model::{Cell, StudyResult};

use super::{BlindPrediction, at_levels};
use crate::from_result::measured_runs::mean;

/// The most places of the result that are run again among the others.
const CONTROLS_MAX: usize = 2;

/// Places of the result that are run again among those that are verified: what they take of the processors now and
/// took then says how fast the machine is now.
pub(super) struct Controls {
    pub(super) cells: Vec<Cell>,
    /// Processor time of a transaction then, seconds.
    processor_s: Vec<f64>,
}

impl Controls {
    /// Of the places of `result` that are not verified, those whose transactions take least of the processors: the
    /// drive has the least part in them.
    pub(super) fn choose(result: &StudyResult, blind: &[BlindPrediction]) -> Self {
        let plan = &result.plan;
        let is_verified = |cell| blind.iter().any(|one| one.is_of(cell));
        let cells = plan.cells.iter().enumerate();
        let cells = cells.filter(|(_, cell)| !is_verified(cell));
        let mut known: Vec<_> = cells
            .filter_map(|(number, cell)| Some((processor_s(result, number)?, at_levels(cell)?)))
            .collect();
        known.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        known.truncate(CONTROLS_MAX);
        let (processor_s, cells) = known.into_iter().unzip();
        Self { cells, processor_s }
    }

    /// Returns the ratio of the processor time of transactions in `ran` to that of then, in the same places. The cells
    /// of `ran` are those from `first` on. `None` where nothing is known.
    pub(super) fn slower_by(&self, ran: &StudyResult, first: usize) -> Option<f64> {
        let now = (first..).map(|cell| processor_s(ran, cell));
        let ratios: Vec<f64> = now
            .zip(&self.processor_s)
            .filter_map(|(now, then)| Some((now? / then).ln()))
            .collect();
        mean(&ratios).map(f64::exp)
    }
}

/// Mean processor time of the transactions of a cell, seconds.
fn processor_s(result: &StudyResult, cell: usize) -> Option<f64> {
    let runs = result.runs.iter().filter(|run| run.record.cell == cell);
    mean(&runs.filter_map(crate::processor_s).collect::<Vec<_>>())
}

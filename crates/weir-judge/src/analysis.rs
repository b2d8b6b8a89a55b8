//! Results of several comparisons together.
//!
//! The methods are those of `weir-stats`; `docs/statistics.md` says when each of them speaks.

mod costs;
mod interactions;
mod memory;
mod overall;
mod scalability;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Analysis, Comparison, Noise, Plan, ScreenRanking};
use weir_stats::{NoiseFloor, noise_floor};

use crate::estimate_ratio::Pairing;
use crate::measured::{RunsByCell, study_metric, value};
use crate::rules::{Design, Evidence};
use crate::{claims, screen};

/// Everything that needs more than two cells; `comparisons` are those of the result, judged.
pub(crate) fn analyse(evidence: &Evidence<'_>, comparisons: &[Comparison]) -> Analysis {
    let (design, runs) = (&evidence.design, evidence.runs);
    Analysis {
        noise: evidence.noise.map(|floor| noise_words(evidence, &floor)),
        overall: overall::effects(comparisons),
        interactions: interactions::interactions(design, runs),
        elasticities: memory::elasticities(design, runs),
        equivalents: memory::equivalents(design, runs),
        scalability: scalability::laws(design, runs),
        costs: costs::rows(design.plan, runs),
        screen: ranking(design.plan, evidence),
        claims: claims::verdicts(evidence),
    }
}

/// The ranking of a screen whose rows suffice for one.
fn ranking(plan: &Plan, evidence: &Evidence<'_>) -> Option<ScreenRanking> {
    let screen = plan.screen.as_ref()?;
    let records = evidence.result.runs.iter().map(|run| &run.record);
    screen::ranking(plan, screen, &records.collect::<Vec<_>>()).ok()
}

/// Spread between runs of the same settings: repetitions, and within a study cells that differ in
/// name only. A comparison of two results compares such cells.
pub(crate) fn noise(
    design: &Design<'_>,
    runs: &RunsByCell<'_>,
    pairing: Pairing,
) -> Option<NoiseFloor> {
    let metric = study_metric(design.plan);
    let groups = match pairing {
        Pairing::Repetition => design.settings.identical(),
        Pairing::None => Vec::new(),
    };
    let grouped: BTreeSet<_> = groups.iter().flatten().copied().collect();
    let alone = (0..design.plan.cells.len())
        .filter(|cell| !grouped.contains(cell))
        .map(|cell| vec![cell]);
    let same = alone.chain(groups.iter().cloned());
    let pooled: Vec<_> = same
        .flat_map(|cells| by_host(design.plan, runs, &cells, metric))
        .collect();
    noise_floor(&pooled).ok()
}

/// `metric` of all runs of `cells`, apart for each host that repetitions are on: hosts differ by more than noise.
fn by_host(plan: &Plan, runs: &RunsByCell<'_>, cells: &[usize], metric: &str) -> Vec<Vec<f64>> {
    let mut hosts: BTreeMap<Option<&str>, Vec<f64>> = BTreeMap::new();
    for &cell in cells {
        let node = plan.cells[cell].spec.primary();
        for run in runs.runs(cell) {
            if let Some(value) = value(run, metric).filter(|value| *value > 0.0) {
                let host = node.agent_of(run.record.repetition);
                hosts.entry(host).or_default().push(value);
            }
        }
    }
    hosts.into_values().collect()
}

fn noise_words(evidence: &Evidence<'_>, floor: &NoiseFloor) -> Noise {
    let runs = evidence.result.runs.iter();
    let repetitions = runs.map(|run| run.record.repetition).max();
    let repetitions = repetitions.unwrap_or(1).max(1) as usize;
    let identical = evidence.design.settings.identical();
    Noise {
        log_deviation: floor.log_deviation,
        degrees_of_freedom: floor.degrees_of_freedom,
        identical_cells: identical.iter().map(Vec::len).sum(),
        repetitions,
        floor_ratio: floor.ratio(repetitions),
    }
}

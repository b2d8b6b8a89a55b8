//! Throughput and latency against a quantity that the study varies: buffer pool, connections.
//!
//! The page draws an arm (one combination of all other factors) as a line. Over buffer pools it
//! marks the points of docs/predict.md: A (the data fit), B (the pool is 2 % short of them) and C (a third of them
//! fits).

use std::collections::BTreeMap;

use serde::Serialize;
use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Bytes, Cell, JudgedResult, MemoryEquivalent, StudyResult};

use crate::insights::equivalent;
use crate::number::RoundedNumber;
use crate::words::levels_phrase;

const THREADS: &str = "threads";

/// Sweep of a factor: its levels, and the cells along it.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Sweep {
    /// `buffer pool` or `connections`.
    title: &'static str,
    is_bytes: bool,
    arms: Vec<Arm>,
    /// Bytes of the data, where the quantity is memory.
    data_bytes: Option<u64>,
    equivalents: Vec<Equivalent>,
}

#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Arm {
    /// Levels of the other factors.
    label: String,
    /// Ascending.
    points: Vec<Place>,
}

#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Place {
    x: f64,
    level: String,
    cell: usize,
}

/// A drive's worth in memory: from its own pool to the pool with which the other does as well.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Equivalent {
    cell: usize,
    from: f64,
    to: RoundedNumber,
    sentence: String,
}

/// The sweeps of `result`: quantities with at least two levels that were measured.
pub(crate) fn sweeps(judged: &JudgedResult) -> Vec<Sweep> {
    let result = &judged.evidence;
    let pool = sweep(result, POOL, pool_bytes).map(|arms| Sweep {
        title: "buffer pool",
        is_bytes: true,
        arms,
        data_bytes: Some(result.data_bytes),
        equivalents: equivalents(judged),
    });
    let threads = sweep(result, THREADS, |cell| {
        Some(f64::from(cell.spec.load.connections))
    })
    .map(|arms| Sweep {
        title: "connections",
        is_bytes: false,
        arms,
        data_bytes: None,
        equivalents: Vec::new(),
    });
    pool.into_iter().chain(threads).collect()
}

fn pool_bytes(cell: &Cell) -> Option<f64> {
    let Bytes(bytes) = cell.spec.variable(POOL)?.parse().ok()?;
    Some(bytes as f64)
}

fn sweep(
    result: &StudyResult,
    factor: &str,
    value: impl Fn(&Cell) -> Option<f64>,
) -> Option<Vec<Arm>> {
    let mut arms: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for (index, cell) in result.plan.cells.iter().enumerate() {
        let was_measured = result.runs.iter().any(|run| run.record.cell == index);
        let place = cell
            .levels
            .get(factor)
            .zip(value(cell))
            .filter(|_| was_measured);
        if let Some((level, x)) = place {
            let mut others = cell.levels.clone();
            others.remove(factor);
            arms.entry(levels_phrase(&others)).or_default().push(Place {
                x,
                level: level.clone(),
                cell: index,
            });
        }
    }
    let mut arms: Vec<_> = arms
        .into_iter()
        .map(|(label, mut points)| {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Arm { label, points }
        })
        .collect();
    arms.retain(|arm| arm.points.len() > 1);
    (!arms.is_empty()).then_some(arms)
}

fn equivalents(result: &JudgedResult) -> Vec<Equivalent> {
    let found = result.analysis.equivalents.iter();
    found
        .filter_map(|found| {
            let cell = result
                .evidence
                .plan
                .cells
                .iter()
                .position(|cell| is_of(cell, found))?;
            let from = pool_bytes(&result.evidence.plan.cells[cell])?;
            Some(Equivalent {
                cell,
                from,
                to: RoundedNumber::fine(from * found.memory?.ratio)?,
                sentence: equivalent(found),
            })
        })
        .collect()
}

fn is_of(cell: &Cell, found: &MemoryEquivalent) -> bool {
    let level = |factor: &str| cell.levels.get(factor);
    level("drive") == Some(&found.drive)
        && level(POOL) == Some(&found.pool)
        && found
            .context
            .iter()
            .all(|(factor, value)| level(factor) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn arms_are_the_other_factors_and_their_points_ascend() {
        let mut result = sample::study(4, 1);
        for (index, (threads, drive)) in [(8, "a"), (2, "a"), (8, "b"), (2, "b")]
            .into_iter()
            .enumerate()
        {
            let cell = &mut result.evidence.plan.cells[index];
            cell.spec_mut().load.connections = threads;
            cell.levels = [("threads", threads.to_string().as_str()), ("drive", drive)]
                .map(|(name, level)| (name.to_owned(), level.to_owned()))
                .into();
        }
        let found = sweeps(&result);
        assert_eq!(found.len(), 1);
        let arms = &found[0].arms;
        assert_eq!((arms[0].label.as_str(), arms[1].label.as_str()), ("a", "b"));
        let places: Vec<_> = arms[0].points.iter().map(|place| place.cell).collect();
        assert_eq!(places, [1, 0]);
        result.evidence.runs.retain(|run| run.record.cell != 0);
        assert_eq!(sweeps(&result)[0].arms.len(), 1, "one point is no line");
    }
}

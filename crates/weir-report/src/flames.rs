//! Differences of the stacks of two levels, where the server was profiled.

mod difference;
mod flame_graph;

use std::collections::BTreeMap;

use serde::Serialize;
use weir_model::{Comparison, JudgedResult, StackCounts, StackProfile, StudyResult};

use crate::words::levels_phrase;

pub use difference::{FrameChange, largest_changes};
use flame_graph::difference_graph;
pub use flame_graph::{flame_graph, wait_graph};

/// Comparisons whose pictures a page has.
const PICTURES_MAX: usize = 4;
/// Functions in a table.
const FUNCTIONS_MAX: usize = 10;

/// Head of the columns of [`FlameRow::row`].
pub(crate) const FLAME_HEADER: [&str; 4] = ["function", "baseline", "level", "difference (99.9 %)"];

/// Note on the numbers of the tables.
pub(crate) const FLAME_NOTE: &str = "Share of the server's CPU time in a function and all that it calls, over all \
    runs of a level, 49 samples per second of a thread's CPU time. Functions whose difference may be chance are left \
    out; the surest stands first. In the picture a frame is as wide as its share at the level: red is more than at the \
    baseline, blue is less. The first four comparisons have a picture. The folder \"flames\" beside the result has each run.";

/// The difference of two levels.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FlameDifference {
    /// The two levels, in words.
    pub(crate) what: String,
    /// Functions whose shares differ most, the largest difference first.
    pub(crate) rows: Vec<FlameRow>,
    /// Number of samples of both, and what limits them.
    pub(crate) facts: Vec<String>,
    /// The picture; none of the comparisons beyond the first few.
    svg: Option<String>,
}

/// A function's shares of two levels, as texts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FlameRow {
    function: String,
    baseline: String,
    level: String,
    difference: String,
}

impl FlameRow {
    fn new(change: FrameChange) -> Self {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let (low, high) = change.interval();
        Self {
            baseline: percent(change.before),
            level: percent(change.after),
            difference: format!(
                "{:+.1} points ({:+.1} to {:+.1})",
                100.0 * change.change(),
                100.0 * low,
                100.0 * high
            ),
            function: change.function,
        }
    }

    pub(crate) fn row(&self) -> [String; 4] {
        [
            self.function.clone(),
            self.baseline.clone(),
            self.level.clone(),
            self.difference.clone(),
        ]
    }
}

/// Stacks of all runs of a cell.
#[derive(Default)]
struct CellStacks<'a> {
    folded: StackCounts,
    profiles: Vec<&'a StackProfile>,
}

impl CellStacks<'_> {
    /// Numbers of all runs, without their stacks.
    fn together(&self) -> StackProfile {
        let sum =
            |number: fn(&StackProfile) -> u64| self.profiles.iter().map(|one| number(one)).sum();
        StackProfile {
            frequency_hz: self.profiles.first().map_or(0, |first| first.frequency_hz),
            samples: sum(|one| one.samples),
            cut: sum(|one| one.cut),
            lost: sum(|one| one.lost),
            threads_without: sum(|one| one.threads_without),
            has_kernel: self.profiles.iter().all(|one| one.has_kernel),
            folded: String::new(),
            waits: String::new(),
            waits_hidden: sum(|one| one.waits_hidden),
        }
    }
}

impl FlameDifference {
    /// Differences of all comparisons whose levels were profiled.
    pub(crate) fn all(judged: &JudgedResult) -> Vec<Self> {
        let stacks = stacks(&judged.evidence);
        let comparisons = judged.comparisons.iter().filter_map(|comparison| {
            let of = |cell| stacks.get(&cell);
            Some((
                comparison,
                of(comparison.baseline_cell)?,
                of(comparison.level_cell)?,
            ))
        });
        let differences = comparisons.enumerate();
        let differences = differences.map(|(index, (comparison, baseline, level))| {
            Self::new(comparison, baseline, level, index < PICTURES_MAX)
        });
        differences.collect()
    }

    fn new(
        comparison: &Comparison,
        baseline: &CellStacks<'_>,
        level: &CellStacks<'_>,
        has_picture: bool,
    ) -> Self {
        let what = title(comparison);
        let rows = largest_changes(&baseline.folded, &level.folded, FUNCTIONS_MAX);
        let svg = has_picture.then(|| difference_graph(&what, &baseline.folded, &level.folded));
        let mut facts = Vec::new();
        if rows.is_empty() {
            facts.push("no function's share differs beyond chance; measure for longer".to_owned());
        }
        for (name, stacks) in [("baseline", baseline), ("level", level)] {
            let together = stacks.together();
            let cpu_s = together.cpu_s();
            facts.push(format!(
                "{name}: {} samples in {} runs, {cpu_s:.1} s of CPU time",
                stacks.folded.samples(),
                stacks.profiles.len()
            ));
            let limits = together.limits();
            facts.extend(limits.into_iter().map(|limit| format!("{name}: {limit}")));
        }
        Self {
            rows: rows.into_iter().map(FlameRow::new).collect(),
            svg: svg.and_then(Result::ok),
            what,
            facts,
        }
    }
}

/// `innodb_flush_method O_DIRECT against fsync, 8 connections`.
fn title(comparison: &Comparison) -> String {
    let (factor, level, baseline) = (&comparison.factor, &comparison.level, &comparison.baseline);
    let mut title = format!("{factor} {level} against {baseline}");
    if !comparison.context.is_empty() {
        title = format!("{title}, {}", levels_phrase(&comparison.context));
    }
    title
}

/// Stacks by cell.
fn stacks(result: &StudyResult) -> BTreeMap<usize, CellStacks<'_>> {
    let mut stacks = BTreeMap::<usize, CellStacks<'_>>::new();
    for run in &result.runs {
        if let Some(profile) = &run.profile {
            let cell = stacks.entry(run.record.cell).or_default();
            cell.folded.add_text(&profile.folded);
            cell.profiles.push(profile);
        }
    }
    stacks
}

//! Two changes alone, together and not at all: what they do to each other (rule R13).
//!
//! From two factors of two levels each, or from the levels of one factor that move settings together.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Interaction, Plan};
use weir_stats::{FactorialBlock, factorial_effects};

use crate::cell_index::CellIndex;
use crate::cell_settings::CellSettings;
use crate::contrast::Contrast;
use crate::estimate_ratio::of_estimate;
use crate::measured::{RunsByCell, THROUGHPUT, value};
use crate::rules::Design;

/// Two contrasts with the same baseline, and the cell that has the changes of both.
struct Pair<'a> {
    first: &'a Contrast,
    second: &'a Contrast,
    both: usize,
}

/// All interactions that the design can show.
pub(super) fn interactions(design: &Design<'_>, runs: &RunsByCell<'_>) -> Vec<Interaction> {
    let plan = design.plan;
    let mut by_baseline: BTreeMap<usize, Vec<&Contrast>> = BTreeMap::new();
    for contrast in &design.contrasts {
        by_baseline
            .entry(contrast.baseline_cell)
            .or_default()
            .push(contrast);
    }
    let of_two = factors_of_two(plan);
    let mut pairs = Vec::new();
    for contrasts in by_baseline.values() {
        pairs.extend(crossed(plan, &design.index, &of_two, contrasts));
        // Levels of a single setting do not combine, and there may be hundreds of them.
        let bundles = plan.factors.iter().filter(|factor| factor.moves_several());
        for factor in bundles {
            let of_factor = contrasts.iter().filter(|c| c.factor == factor.name);
            let of_factor: Vec<_> = of_factor.copied().collect();
            pairs.extend(combined(&design.settings, &of_factor));
        }
    }
    pairs
        .iter()
        .filter_map(|pair| interaction(runs, pair))
        .collect()
}

/// Factors with two levels in the cells of `plan`.
fn factors_of_two(plan: &Plan) -> BTreeSet<&str> {
    let mut levels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (factor, level) in plan.cells.iter().flat_map(|cell| &cell.levels) {
        levels.entry(factor).or_default().insert(level);
    }
    let of_two = levels.into_iter().filter(|(_, levels)| levels.len() == 2);
    of_two.map(|(factor, _)| factor).collect()
}

/// Pairs of factors of two levels: the cell with both changes is that with both other levels.
fn crossed<'a>(
    plan: &Plan,
    index: &CellIndex<'_>,
    of_two: &BTreeSet<&str>,
    contrasts: &[&'a Contrast],
) -> Vec<Pair<'a>> {
    let of_two = |contrast: &&&Contrast| of_two.contains(contrast.factor.as_str());
    let contrasts: Vec<_> = contrasts.iter().filter(of_two).copied().collect();
    let mut pairs = Vec::new();
    for (position, first) in contrasts.iter().enumerate() {
        for second in &contrasts[position + 1..] {
            let cell = &plan.cells[second.level_cell];
            let both = index.sibling(cell, &first.factor, &first.level);
            pairs.extend(both.map(|both| Pair {
                first,
                second,
                both,
            }));
        }
    }
    pairs
}

/// Levels of one factor that change what two other levels change, no more and no less.
fn combined<'a>(settings: &CellSettings, contrasts: &[&'a Contrast]) -> Vec<Pair<'a>> {
    let changes: Vec<_> = contrasts.iter().map(|c| changes(settings, c)).collect();
    let positions: BTreeMap<_, _> = (0..changes.len())
        .rev()
        .map(|position| (&changes[position], position))
        .collect();
    let mut pairs = Vec::new();
    for (both, all) in contrasts.iter().zip(&changes) {
        for (position, (first, alone)) in contrasts.iter().zip(&changes).enumerate() {
            if alone.is_empty() || alone.len() >= all.len() || !alone.is_subset(all) {
                continue;
            }
            let rest: Changes<'_> = all.difference(alone).copied().collect();
            match positions.get(&rest) {
                Some(second) if *second > position => pairs.push(Pair {
                    first,
                    second: contrasts[*second],
                    both: both.level_cell,
                }),
                _ => {}
            }
        }
    }
    pairs
}

/// Name and new value of settings; no value: it is no longer set.
type Changes<'a> = BTreeSet<(&'a str, Option<&'a str>)>;

fn changes<'a>(settings: &'a CellSettings, contrast: &Contrast) -> Changes<'a> {
    let from = settings.settings(contrast.baseline_cell);
    let to = settings.settings(contrast.level_cell);
    let names: BTreeSet<_> = from.keys().chain(to.keys()).collect();
    let differing = names
        .into_iter()
        .filter(|name| from.get(*name) != to.get(*name));
    differing
        .map(|name| (name.as_str(), to.get(name).map(String::as_str)))
        .collect()
}

fn interaction(runs: &RunsByCell<'_>, pair: &Pair<'_>) -> Option<Interaction> {
    let &Pair {
        first,
        second,
        both,
    } = pair;
    let cells = [
        first.baseline_cell,
        first.level_cell,
        second.level_cell,
        both,
    ];
    let effects = factorial_effects(&blocks(runs, cells)).ok()?;
    let mut context = first.context.clone();
    context.remove(&second.factor);
    let phrase = |contrast: &Contrast| format!("{} {}", contrast.factor, contrast.level);
    let same_factor = first.factor == second.factor;
    Some(Interaction {
        first: phrase(first),
        second: phrase(second),
        neither: if same_factor {
            format!("{} {}", first.factor, first.baseline)
        } else {
            let (a, b) = (first, second);
            format!("{} {}, {} {}", a.factor, a.baseline, b.factor, b.baseline)
        },
        context,
        first_effect: of_estimate(&effects.first),
        second_effect: of_estimate(&effects.second),
        both_effect: of_estimate(&effects.both),
        interaction: of_estimate(&effects.interaction),
    })
}

/// The repetitions that have all four cells.
fn blocks(runs: &RunsByCell<'_>, cells: [usize; 4]) -> Vec<FactorialBlock> {
    let of = |cell: usize, repetition: u32| {
        let run = runs
            .runs(cell)
            .iter()
            .find(|run| run.record.repetition == repetition)?;
        value(run, THROUGHPUT).filter(|value| *value > 0.0)
    };
    let repetitions = runs.runs(cells[0]).iter().map(|run| run.record.repetition);
    repetitions
        .filter_map(|repetition| {
            Some(FactorialBlock {
                neither: of(cells[0], repetition)?,
                first: of(cells[1], repetition)?,
                second: of(cells[2], repetition)?,
                both: of(cells[3], repetition)?,
            })
        })
        .collect()
}

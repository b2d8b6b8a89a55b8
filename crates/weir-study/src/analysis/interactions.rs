//! Two changes alone, together and not at all: what they do to each other (rule R13).
//!
//! From two factors of two levels each, or from the levels of one factor that move settings together.

use std::collections::BTreeMap;

use weir_model::{Interaction, Plan};
use weir_stats::{FactorialBlock, factorial_effects};

use crate::compare::{Contrast, Levels, contrasts, index, sibling};
use crate::estimate_ratio::of_estimate;
use crate::measured::{RunsByCell, THROUGHPUT, value};
use crate::settings::settings;

/// All interactions that the design can show.
pub(super) fn interactions(plan: &Plan, runs: &RunsByCell<'_>) -> Vec<Interaction> {
    let mut by_baseline: BTreeMap<usize, Vec<Contrast>> = BTreeMap::new();
    for contrast in contrasts(plan) {
        by_baseline
            .entry(contrast.baseline_cell)
            .or_default()
            .push(contrast);
    }
    let index = index(&plan.cells);
    let mut found = Vec::new();
    for contrasts in by_baseline.values() {
        for (position, first) in contrasts.iter().enumerate() {
            for second in &contrasts[position + 1..] {
                let both = if first.factor == second.factor {
                    combined(plan, contrasts, first, second)
                } else {
                    crossed(plan, &index, first, second)
                };
                found.extend(both.and_then(|both| interaction(runs, first, second, both)));
            }
        }
    }
    found
}

/// The cell with both changes, where both factors have two levels.
fn crossed(
    plan: &Plan,
    index: &BTreeMap<&Levels, usize>,
    first: &Contrast,
    second: &Contrast,
) -> Option<usize> {
    let of_two = |factor: &str| {
        let mut levels: Vec<_> = plan
            .cells
            .iter()
            .filter_map(|c| c.levels.get(factor))
            .collect();
        levels.sort_unstable();
        levels.dedup();
        levels.len() == 2
    };
    let cell = &plan.cells[second.level_cell];
    (of_two(&first.factor) && of_two(&second.factor))
        .then(|| sibling(index, cell, &first.factor, &first.level))?
}

/// The level of the same factor that changes what `first` and what `second` changes, no more.
fn combined(
    plan: &Plan,
    contrasts: &[Contrast],
    first: &Contrast,
    second: &Contrast,
) -> Option<usize> {
    // Levels of a single setting do not combine, and there may be hundreds of them.
    let mut factors = plan.factors.iter();
    if !factors.any(|factor| factor.name == first.factor && factor.moves_several()) {
        return None;
    }
    let of = |cell: usize| settings(plan, &plan.cells[cell]);
    let baseline = of(first.baseline_cell);
    let (with_first, with_second) = (of(first.level_cell), of(second.level_cell));
    let changed = |with: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        let differs = |(name, value): &(&String, &String)| baseline.get(*name) != Some(*value);
        let changes = with.iter().filter(differs);
        changes
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let (of_first, of_second) = (changed(&with_first), changed(&with_second));
    if of_first.is_empty() || of_second.keys().any(|name| of_first.contains_key(name)) {
        return None;
    }
    let mut wanted = baseline.clone();
    wanted.extend(of_first);
    wanted.extend(of_second);
    let third = contrasts.iter().filter(|contrast| {
        contrast.factor == first.factor
            && ![first.level_cell, second.level_cell].contains(&contrast.level_cell)
    });
    third
        .map(|contrast| contrast.level_cell)
        .find(|cell| of(*cell) == wanted)
}

fn interaction(
    runs: &RunsByCell<'_>,
    first: &Contrast,
    second: &Contrast,
    both: usize,
) -> Option<Interaction> {
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
            .of(cell)
            .iter()
            .find(|run| run.record.repetition == repetition)?;
        value(&run.record, THROUGHPUT).filter(|value| *value > 0.0)
    };
    let repetitions = runs.of(cells[0]).iter().map(|run| run.record.repetition);
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

//! How long a study takes to decide: fixed repetitions beside `repeat.until`, from the stored runs of one study.
//!
//! `time_to_decide RESULT [TRIALS]`, where RESULT is a `result.sqlite` with two cells and many repetitions. Each trial
//! takes the stored repetitions in an order of its own, and again in another one if it needs more, so that a long study
//! stands for many short ones. A repetition costs what its runs took. The truth is the ratio of all stored repetitions: an interval covers if it
//! holds that one.
#![allow(
    clippy::print_stdout,
    reason = "it is a program, and this is its output"
)]

use std::path::Path;

use anyhow::{Context as _, ensure};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::{RunRecord, spent_s};
use weir_stats::{
    BOOTSTRAP_PAIRS_MIN, RatioEstimate, StatsError, bootstrap_log_ratio, is_decided, is_settled,
    paired_log_ratio,
};

const SEED: u64 = 1;
const FIXED: usize = 5;
const DECIDED_MAX: usize = 10;
const NARROW_MAX: usize = 30;
const HALF_WIDTH: f64 = 0.05;

/// One repetition: throughput of level and baseline, and what its runs took.
#[derive(Debug, Clone, Copy)]
struct Block {
    pair: (f64, f64),
    seconds: f64,
}

/// When a study ends.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Fixed,
    Decided,
    Narrow,
}

impl Rule {
    const ALL: [Self; 3] = [Self::Fixed, Self::Decided, Self::Narrow];

    fn name(self) -> String {
        match self {
            Self::Fixed => format!("{FIXED} repetitions"),
            Self::Decided => format!("decided, at most {DECIDED_MAX}"),
            Self::Narrow => format!("effect +-{} %", HALF_WIDTH * 100.0),
        }
    }

    fn has_ended(self, pairs: &[(f64, f64)]) -> Result<bool, StatsError> {
        Ok(match self {
            Self::Fixed => pairs.len() >= FIXED,
            Self::Decided => pairs.len() >= DECIDED_MAX || is_decided(pairs)?,
            Self::Narrow => pairs.len() >= NARROW_MAX || is_settled(pairs, HALF_WIDTH)?,
        })
    }
}

/// What the trials of a rule came to.
#[derive(Debug, Default)]
struct Outcome {
    minutes: Vec<f64>,
    repetitions: usize,
    effects: usize,
    covered: usize,
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments
        .next()
        .context("usage: time_to_decide RESULT [TRIALS]")?;
    let trials: usize = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let records = weir_store::Store::open(Path::new(&path))?.records()?;
    let blocks = blocks(&records);
    ensure!(
        blocks.len() >= FIXED,
        "{path} has {} whole repetitions of two cells; {FIXED} are needed",
        blocks.len()
    );
    let pairs: Vec<_> = blocks.iter().map(|block| block.pair).collect();
    let truth = paired_log_ratio(&pairs)?;
    println!(
        "{} stored repetitions: {:.3} ({:.3} to {:.3})",
        blocks.len(),
        truth.ratio,
        truth.interval.map_or(f64::NAN, |(low, _)| low),
        truth.interval.map_or(f64::NAN, |(_, high)| high),
    );
    println!("| ends after | minutes: mean (most) | repetitions | effect found | covers |");
    println!("|---|---|---|---|---|");
    for rule in Rule::ALL {
        let outcome = simulate(rule, &blocks, truth.ratio, trials)?;
        let mean = outcome.minutes.iter().sum::<f64>() / trials as f64;
        let most = outcome.minutes.iter().copied().fold(0.0, f64::max);
        println!(
            "| {} | {mean:.1} ({most:.1}) | {:.1} | {} of {trials} | {:.1} % |",
            rule.name(),
            outcome.repetitions as f64 / trials as f64,
            outcome.effects,
            outcome.covered as f64 * 100.0 / trials as f64
        );
    }
    Ok(())
}

/// The repetitions that have a run of both cells.
fn blocks(records: &[RunRecord]) -> Vec<Block> {
    let of_cell = |cell| records.iter().filter(move |record| record.cell == cell);
    of_cell(0)
        .filter_map(|baseline| {
            let level = of_cell(1).find(|level| level.repetition == baseline.repetition)?;
            Some(Block {
                pair: (level.queries_per_s, baseline.queries_per_s),
                seconds: spent_s([baseline, level]),
            })
        })
        .collect()
}

fn simulate(rule: Rule, blocks: &[Block], truth: f64, trials: usize) -> anyhow::Result<Outcome> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut outcome = Outcome::default();
    for _ in 0..trials {
        let (mut pairs, mut seconds, mut deck) = (Vec::new(), 0.0, Vec::new());
        while !rule.has_ended(&pairs)? {
            if deck.is_empty() {
                deck = blocks.to_vec();
                deck.shuffle(&mut random);
            }
            let Some(block) = deck.pop() else { break };
            pairs.push(block.pair);
            seconds += block.seconds;
        }
        let estimate = printed(&pairs)?;
        let (low, high) = estimate
            .interval
            .context("several pairs have an interval")?;
        outcome.minutes.push(seconds / 60.0);
        outcome.repetitions += pairs.len();
        outcome.effects += usize::from(estimate.differs_from_one());
        outcome.covered += usize::from(low <= truth && truth <= high);
    }
    Ok(outcome)
}

/// The interval that a report prints of so many pairs.
fn printed(pairs: &[(f64, f64)]) -> Result<RatioEstimate, StatsError> {
    if pairs.len() >= BOOTSTRAP_PAIRS_MIN {
        bootstrap_log_ratio(pairs, SEED)
    } else {
        paired_log_ratio(pairs)
    }
}

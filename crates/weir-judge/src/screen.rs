//! Screens: the ranking of their factors, and the comparisons of what is measured anew.
//!
//! A screen's best effect is too large on average, since it was chosen for its size. So its numbers only choose what
//! is measured anew; verdicts come from those runs.

use weir_model::{
    Candidate, Cell, Plan, ReplayPace, RunRecord, ScreenPart, ScreenPlace, ScreenPlan,
    ScreenRanking, ScreenedEffect, ScreenedMetric, Winner,
};
use weir_stats::{ScreenEffect, ScreenRun, StatsError, benjamini_hochberg, screen_effects};

use crate::cell_index::Levels;
use crate::contrast::Contrast;
use crate::estimate_ratio::of_estimate;
use crate::measured::{THROUGHPUT, recorded_value};

/// Metrics of a screen, unless the study names one.
const METRICS: [&str; 3] = [THROUGHPUT, "latency_us_p99", "server_cpu_us_per_query"];

/// Metrics of a screen whose load comes at times of its own: its throughput is that of the load.
const METRICS_OF_PACED: [&str; 3] = [
    "latency_us_mean",
    "latency_us_p99",
    "server_cpu_us_per_query",
];

/// The least effect that is worth a change, on the logarithm.
const EFFECT_MIN: f64 = 0.01;

/// Winners that are measured anew at most: each takes runs without it.
const WINNERS_MAX: usize = 6;

/// The factor of configurations that are measured anew.
const CONFIGURATION: &str = "configuration";

/// The ranking by the rows that were run.
///
/// # Errors
/// Too few rows to tell the factors apart.
pub(crate) fn ranking(
    plan: &Plan,
    screen: &ScreenPlan,
    records: &[&RunRecord],
) -> Result<ScreenRanking, StatsError> {
    let wanted = metrics(plan);
    let mut metrics = Vec::new();
    for (index, metric) in wanted.into_iter().enumerate() {
        let runs = screen_runs(plan, records, metric);
        // What is not known of all runs, such as the processor time of a server elsewhere, has no ranking.
        let is_known = runs.len() == records_of_rows(plan, records).count();
        if is_known || index == 0 {
            metrics.push(screened(screen, metric, &runs)?);
        }
    }
    let mut winners = winners(screen, &metrics);
    let left_out = winners.split_off(winners.len().min(WINNERS_MAX));
    Ok(ScreenRanking {
        metrics,
        winners,
        left_out,
    })
}

/// The metrics of a screen, the one that a winner must not be worse in first.
fn metrics(plan: &Plan) -> Vec<&str> {
    let is_paced = |cell: &Cell| {
        let load = &cell.spec.load;
        let of_replay = load.replay.as_ref().map(|replay| replay.pace);
        match of_replay {
            Some(pace) => pace != ReplayPace::Fast,
            None => load.pace.rate_per_s().is_some(),
        }
    };
    match plan.repeat.metric.as_deref() {
        Some(metric) => vec![metric],
        None if plan.cells.iter().any(is_paced) => METRICS_OF_PACED.to_vec(),
        None => METRICS.to_vec(),
    }
}

fn records_of_rows<'a>(
    plan: &'a Plan,
    records: &'a [&'a RunRecord],
) -> impl Iterator<Item = (&'a ScreenPlace, &'a RunRecord)> {
    records.iter().copied().filter_map(|record| {
        let screened = plan.cells.get(record.cell)?.screened.as_ref()?;
        (screened.part != ScreenPart::Confirmation).then_some((screened, record))
    })
}

/// `metric` of the runs of the design.
fn screen_runs(plan: &Plan, records: &[&RunRecord], metric: &str) -> Vec<ScreenRun> {
    let count = plan
        .screen
        .as_ref()
        .map_or(0, |screen| screen.candidates.len());
    let run = |(screened, record): (&ScreenPlace, &RunRecord)| {
        let value = recorded_value(record, metric).filter(|value| *value > 0.0)?;
        let candidates = (0..count).map(|index| screened.candidates.contains(&index));
        Some(ScreenRun {
            candidates: (screened.part != ScreenPart::Repeated).then(|| candidates.collect()),
            is_mirrored: match screened.part {
                ScreenPart::Repeated => is_in_second_half(plan, record),
                part => part == ScreenPart::MirroredRow,
            },
            value,
        })
    };
    records_of_rows(plan, records).filter_map(run).collect()
}

fn is_in_second_half(plan: &Plan, record: &RunRecord) -> bool {
    let same = |run: &weir_model::PlannedRun| {
        (run.cell, run.repetition) == (record.cell, record.repetition)
    };
    plan.runs.iter().position(same) >= Some(plan.runs.len() / 2)
}

fn screened(
    screen: &ScreenPlan,
    metric: &str,
    runs: &[ScreenRun],
) -> Result<ScreenedMetric, StatsError> {
    let found = screen_effects(runs)?;
    let p_values: Vec<_> = found.effects.iter().map(|effect| effect.p_value).collect();
    let adjusted = benjamini_hochberg(&p_values);
    let effects = screen.candidates.iter().zip(&found.effects).zip(adjusted);
    let effect = |((candidate, effect), p_value_adjusted): ((&Candidate, &ScreenEffect), f64)| {
        ScreenedEffect {
            factor: candidate.factor.clone(),
            ratio: of_estimate(&effect.estimate),
            p_value: effect.p_value,
            p_value_adjusted,
        }
    };
    Ok(ScreenedMetric {
        metric: metric.to_owned(),
        effects: effects.map(effect).collect(),
        log_deviation: found.log_deviation,
        degrees_of_freedom: found.degrees_of_freedom,
        pairs_p_value: found.pairs_p_value,
    })
}

/// Candidates that are better in a metric, and not worse in the first one; the surest first.
fn winners(screen: &ScreenPlan, metrics: &[ScreenedMetric]) -> Vec<Winner> {
    let mut found: Vec<(f64, Winner)> = Vec::new();
    for candidate in 0..screen.candidates.len() {
        let effects = metrics.iter().map(|metric| {
            let effect = &metric.effects[candidate];
            let is_sure = effect.is_sure() && effect.ratio.ratio.ln().abs() >= EFFECT_MIN;
            (
                metric,
                effect.p_value,
                effect.is_better_in(&metric.metric),
                is_sure,
            )
        });
        let is_harm = |(_, _, is_better, is_sure): (_, _, bool, bool)| is_sure && !is_better;
        if effects.clone().next().is_some_and(is_harm) {
            continue;
        }
        let better = effects.filter(|(_, _, is_better, is_sure)| *is_better && *is_sure);
        let surest = better.min_by(|one, other| one.1.total_cmp(&other.1));
        found.extend(surest.map(|(metric, p_value, ..)| {
            let metric = metric.metric.clone();
            (p_value, Winner { candidate, metric })
        }));
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    found.into_iter().map(|(_, winner)| winner).collect()
}

/// Adds the configurations that are measured anew: the present one, one with all winners, and that without each of them.
///
/// # Panics
/// If the plan repeats no present configuration: it is none of a screen.
pub fn confirm(plan: &mut Plan, winners: Vec<Winner>) {
    let Some(mut screen) = plan.screen.take() else {
        return;
    };
    screen.winners = winners;
    let all = all_winners(&screen);
    let present = cell_with(plan, ScreenPart::Repeated, &[]);
    let present = plan.cells[present.expect("invariant: a screen repeats the present one")].clone();
    let mut add = |candidates: Vec<usize>, label: &str| {
        let part = ScreenPart::Confirmation;
        let screened = ScreenPlace { candidates, part };
        plan.cells
            .push(present.in_screen(&screen, screened, (CONFIGURATION, label)));
    };
    add(Vec::new(), "present");
    add(all.clone(), "all winners");
    for left in all.iter().filter(|_| all.len() > 1) {
        let Candidate { factor, level, .. } = &screen.candidates[*left];
        add(without(&all, *left), &format!("without {factor} {level}"));
    }
    plan.screen = Some(screen);
}

/// Indices of the candidates that are measured anew, ascending.
fn all_winners(screen: &ScreenPlan) -> Vec<usize> {
    let winners = screen.winners.iter();
    let mut all: Vec<usize> = winners.map(|winner| winner.candidate).collect();
    all.sort_unstable();
    all
}

fn without(all: &[usize], left: usize) -> Vec<usize> {
    all.iter().copied().filter(|one| *one != left).collect()
}

/// The first cell of that part that has these candidates.
fn cell_with(plan: &Plan, part: ScreenPart, candidates: &[usize]) -> Option<usize> {
    plan.cells.iter().position(|cell| {
        let screened = cell.screened.as_ref();
        screened.is_some_and(|found| found.part == part && found.candidates == candidates)
    })
}

/// Each candidate of a screen with the present configuration and the first row that has it: settings of both can be
/// looked at before anything runs.
pub(crate) fn candidates(plan: &Plan) -> Vec<(&Candidate, [usize; 2])> {
    let (Some(screen), Some(present)) = (&plan.screen, cell_with(plan, ScreenPart::Repeated, &[]))
    else {
        return Vec::new();
    };
    let with = |(index, candidate)| {
        let has = |cell: &Cell| {
            let place = cell.screened.as_ref();
            place.is_some_and(|place| place.candidates.contains(&index))
        };
        Some((candidate, [present, plan.cells.iter().position(has)?]))
    };
    screen
        .candidates
        .iter()
        .enumerate()
        .filter_map(with)
        .collect()
}

/// The comparisons of a screen, once there are winners: all of them against the present configuration, and each against
/// the others without it.
pub(crate) fn contrasts(plan: &Plan, screen: &ScreenPlan) -> Vec<Contrast> {
    let all = all_winners(screen);
    let confirmation = |candidates: &[usize]| cell_with(plan, ScreenPart::Confirmation, candidates);
    let (Some(present), Some(together)) = (confirmation(&[]), confirmation(&all)) else {
        return Vec::new();
    };
    let contrast = |winner: &Winner, baseline_cell: usize, context: Levels| {
        let candidate = &screen.candidates[winner.candidate];
        Contrast {
            factor: candidate.factor.clone(),
            baseline: candidate.present.clone(),
            level: candidate.level.clone(),
            context,
            baseline_cell,
            level_cell: together,
            metric: winner.metric.clone(),
        }
    };
    if let [only] = screen.winners.as_slice() {
        return vec![contrast(only, present, Levels::new())];
    }
    let beside = Levels::from([("the other".to_owned(), "winners".to_owned())]);
    let alone = screen.winners.iter().filter_map(|winner| {
        let baseline_cell = confirmation(&without(&all, winner.candidate))?;
        Some(contrast(winner, baseline_cell, beside.clone()))
    });
    let of_all = Contrast {
        factor: CONFIGURATION.to_owned(),
        baseline: "the present one".to_owned(),
        level: if all.len() == 2 {
            "with both winners".to_owned()
        } else {
            format!("with all {} winners", all.len())
        },
        context: Levels::new(),
        baseline_cell: present,
        level_cell: together,
        metric: metric_of_all(plan, screen),
    };
    std::iter::once(of_all).chain(alone).collect()
}

/// The screen's first metric, if a winner is better in it; else that of the surest winner.
fn metric_of_all(plan: &Plan, screen: &ScreenPlan) -> String {
    let own = metrics(plan)[0];
    let mut winners = screen.winners.iter();
    let surest = winners.clone().next().map(|winner| winner.metric.as_str());
    let metric = if winners.any(|winner| winner.metric == own) {
        own
    } else {
        surest.unwrap_or(own)
    };
    metric.to_owned()
}

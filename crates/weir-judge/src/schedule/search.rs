//! Searches: in every cell of the design, the next place to measure; at the end, the answers.
//!
//! The methods are those of `weir_stats`; here is what a run means to them. All cells of the design
//! are searched side by side, the one with the fewest runs first, so that a slow drift of the host
//! falls on all of them alike.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::{
    Confirmation, FoundPlace, Objective, Plan, PlannedRun, Probe, RunRecord, SearchAnswer,
    SearchGoal, SearchPlan,
};
use weir_stats::{
    KneeSearch, PeakSearch, RateSearch, SearchRange, StatsError, Step, median, paired_log_ratio,
};

use super::Next;
use crate::JudgeError;

pub(super) fn next(
    plan: &Plan,
    search: &SearchPlan,
    records: &[RunRecord],
) -> Result<Next, JudgeError> {
    let mut cells = design_cells(plan);
    cells.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(plan.seed));
    cells.sort_by_key(|cell| runs_of(plan, *cell, records).count());
    for of_cell in cells {
        if let Some(probe) = next_probe(plan, search, of_cell, records)? {
            let known = plan.cells.iter().position(|cell| cell.probe == Some(probe));
            return Ok(known.map_or(Next::Probe(probe), |cell| {
                let made = records.iter().filter(|record| record.cell == cell).count();
                Next::Run(PlannedRun {
                    cell,
                    repetition: made as u32 + 1,
                })
            }));
        }
    }
    Ok(Next::Done)
}

/// Runs of all searches together, roughly: halvings of the range until the tolerance.
pub(super) fn expected_runs(plan: &Plan, search: &SearchPlan) -> usize {
    let doublings = (search.high as f64 / search.low as f64).log2().ceil();
    let halvings = (1.0 / search.tolerance).log2().ceil();
    let places = match &search.goal {
        SearchGoal::Rate { .. } | SearchGoal::Threads { .. } | SearchGoal::Peak => {
            doublings + halvings
        }
        SearchGoal::Knee { shares } => 6.0 + halvings / 2.0 * shares.len() as f64,
    };
    let runs = places as usize * search.runs as usize + search.confirm as usize;
    runs * design_cells(plan).len()
}

/// The answers as far as the runs give them, one for each cell of the design.
pub(crate) fn answers(plan: &Plan, records: &[RunRecord]) -> Result<Vec<SearchAnswer>, JudgeError> {
    let Some(search) = &plan.search else {
        return Ok(Vec::new());
    };
    let answer = |of_cell| {
        let found = match Method::replayed(plan, search, of_cell, records)?.step() {
            Step::Measure(_) => Vec::new(),
            Step::Done(found) => found,
        };
        Ok(SearchAnswer {
            of_cell,
            factor: search.factor.clone(),
            runs: runs_of(plan, of_cell, records).count(),
            confirmation: confirmation(plan, search, of_cell, records)?,
            found,
        })
    };
    design_cells(plan).into_iter().map(answer).collect()
}

/// Returns the place of the next run of the search in `of_cell`; `None`: it is complete.
fn next_probe(
    plan: &Plan,
    search: &SearchPlan,
    of_cell: usize,
    records: &[RunRecord],
) -> Result<Option<Probe>, StatsError> {
    let found = match Method::replayed(plan, search, of_cell, records)?.step() {
        Step::Measure(place) => {
            return Ok(Some(Probe {
                of_cell,
                place,
                confirms: false,
            }));
        }
        Step::Done(found) => found,
    };
    let confirmed = confirming(plan, of_cell, records).count();
    let place = found.first().and_then(|found| found.place);
    Ok(place
        .filter(|_| confirmed < search.confirm as usize)
        .map(|place| Probe {
            of_cell,
            place,
            confirms: true,
        }))
}

fn design_cells(plan: &Plan) -> Vec<usize> {
    let is_design = |cell: &usize| plan.cells[*cell].probe.is_none();
    (0..plan.cells.len()).filter(is_design).collect()
}

/// Runs of the search in `of_cell`, with their places.
fn runs_of<'a>(
    plan: &'a Plan,
    of_cell: usize,
    records: &'a [RunRecord],
) -> impl Iterator<Item = (Probe, &'a RunRecord)> {
    let probe = |record: &RunRecord| plan.cells.get(record.cell).and_then(|cell| cell.probe);
    records
        .iter()
        .filter_map(move |record| Some((probe(record)?, record)))
        .filter(move |(probe, _)| probe.of_cell == of_cell)
}

fn confirming<'a>(
    plan: &'a Plan,
    of_cell: usize,
    records: &'a [RunRecord],
) -> impl Iterator<Item = (Probe, &'a RunRecord)> {
    runs_of(plan, of_cell, records).filter(|(probe, _)| probe.confirms)
}

fn confirmation(
    plan: &Plan,
    search: &SearchPlan,
    of_cell: usize,
    records: &[RunRecord],
) -> Result<Option<Confirmation>, StatsError> {
    let runs: Vec<_> = confirming(plan, of_cell, records).collect();
    let Some((probe, _)) = runs.first() else {
        return Ok(None);
    };
    let rates: Vec<_> = runs
        .iter()
        .map(|(_, run)| (run.queries_per_s, 1.0))
        .collect();
    let estimate = paired_log_ratio(&rates)?;
    let latencies: Vec<_> = runs.iter().map(|(_, run)| run.latency.us_p99).collect();
    let kept = |objective: &Objective| {
        let met = runs
            .iter()
            .filter(|(_, run)| objective.is_met(&run.latency));
        met.count()
    };
    Ok(Some(Confirmation {
        place: probe.place,
        runs: runs.len(),
        queries_per_s: estimate.ratio,
        queries_per_s_low: estimate.interval.map(|(low, _)| low),
        queries_per_s_high: estimate.interval.map(|(_, high)| high),
        latency_us_p99: median(&latencies).unwrap_or_default(),
        objective_kept: search.goal.objective().map(kept),
    }))
}

/// A method of `weir_stats` with the runs that it has.
enum Method<'a> {
    /// The most of something that keeps the objective, and its name: a rate, or connections.
    Most(RateSearch, &'a Objective, &'static str),
    Knee(KneeSearch),
    Peak(PeakSearch, f64),
}

impl<'a> Method<'a> {
    fn replayed(
        plan: &Plan,
        search: &'a SearchPlan,
        of_cell: usize,
        records: &[RunRecord],
    ) -> Result<Self, StatsError> {
        let range = SearchRange {
            low: search.low,
            high: search.high,
            tolerance: search.tolerance,
            repeats: search.runs as usize,
        };
        let mut method = match &search.goal {
            SearchGoal::Rate { objective } => Self::Most(
                RateSearch::new(range, search.low)?,
                objective,
                "highest rate",
            ),
            SearchGoal::Threads { objective } => Self::Most(
                RateSearch::new(range, search.low)?,
                objective,
                "most connections",
            ),
            SearchGoal::Knee { shares } => Self::Knee(KneeSearch::new(range, shares)?),
            SearchGoal::Peak => Self::Peak(PeakSearch::new(range)?, search.tolerance),
        };
        for (probe, record) in runs_of(plan, of_cell, records) {
            if !probe.confirms {
                method.record(probe.place, record)?;
            }
        }
        Ok(method)
    }

    fn record(&mut self, place: u64, run: &RunRecord) -> Result<(), StatsError> {
        match self {
            Self::Most(search, objective, _) => {
                search.record(place, objective.is_met(&run.latency));
                Ok(())
            }
            Self::Knee(search) => search.record(place, run.queries_per_s),
            Self::Peak(search, _) => search.record(place, run.queries_per_s),
        }
    }

    /// The next place, or what was found, the most wanted first.
    fn step(&self) -> Step<Vec<FoundPlace>> {
        match self {
            Self::Most(search, objective, most) => done(search.next_step(), |found| {
                vec![FoundPlace {
                    meaning: format!("{most} with {objective}"),
                    place: found.met,
                    below: found.met,
                    above: found.missed,
                }]
            }),
            Self::Knee(search) => done(search.next_step(), |knees| {
                let place = |knee: weir_stats::Knee| FoundPlace {
                    meaning: format!("{:.0} % of the largest one's throughput", knee.share * 1e2),
                    place: Some(knee.size),
                    below: knee.below,
                    above: Some(knee.above),
                };
                knees.into_iter().map(place).collect()
            }),
            Self::Peak(search, tolerance) => done(search.next_step(), |peak| {
                let at = |meaning: String, place| FoundPlace {
                    meaning,
                    place: Some(place),
                    below: None,
                    above: None,
                };
                let near = format!("fewest within {:.0} % of that", tolerance * 1e2);
                vec![
                    at("highest throughput".to_owned(), peak.best),
                    at(near, peak.enough),
                ]
            }),
        }
    }
}

fn done<T, U>(step: Step<T>, say: impl FnOnce(T) -> U) -> Step<U> {
    match step {
        Step::Measure(place) => Step::Measure(place),
        Step::Done(found) => Step::Done(say(found)),
    }
}

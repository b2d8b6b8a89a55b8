//! Makes a large result of a small real one, for `make bench-web`: the same host, drives, variables,
//! commands and logs, its runs repeated with other numbers, its samples repeated in time.
//!
//! `bench_store REAL LARGE CELLS REPETITIONS SAMPLES SEED`: `REAL` is a `result.sqlite`, `LARGE` the file to
//! be made, `SAMPLES` how many all runs have together, at least.

use std::env;
use std::error::Error;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use weir_model::{PlannedRun, RunResult, Series, StudyResult};
use weir_store::Store;

/// By how much a run's throughput differs from that of the run that it is made of, at most.
const SPREAD: f64 = 0.04;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [real, large, cells, repetitions, samples, seed] = arguments.as_slice() else {
        return Err("usage: bench_store REAL LARGE CELLS REPETITIONS SAMPLES SEED".into());
    };
    let real = Store::open(Path::new(real))?.read()?;
    if real.runs.is_empty() {
        return Err("the real result has no runs".into());
    }
    let (cells, repetitions): (usize, u32) = (cells.parse()?, repetitions.parse()?);
    let mut noise = StdRng::seed_from_u64(seed.parse()?);
    let study = StudyResult {
        runs: Vec::new(),
        ..larger(real.clone(), cells, repetitions)
    };
    let of_each = samples.parse::<usize>()?.div_ceil(study.plan.runs.len());
    let mut store = Store::create(Path::new(large), &study)?;
    for planned in &study.plan.runs {
        let model = real.plan.cells.len();
        let models = real
            .runs
            .iter()
            .filter(|run| run.record.cell == planned.cell % model);
        let models: Vec<_> = models.collect();
        let model = models[planned.repetition as usize % models.len().max(1)];
        store.append(&made_of(model, *planned, of_each, &mut noise))?;
    }
    Ok(())
}

/// The study with more levels of the number of connections, and more repetitions.
fn larger(mut study: StudyResult, cells: usize, repetitions: u32) -> StudyResult {
    let real = study.plan.cells.clone();
    let cell = |index: usize| {
        let mut cell = real[index % real.len()].clone();
        let connections = u32::try_from(index / real.len()).unwrap_or(u32::MAX) * 8 + 8;
        cell.spec_mut().load.connections = connections;
        cell.levels
            .insert("threads".to_owned(), connections.to_string());
        cell
    };
    study.plan.cells = (0..cells).map(cell).collect();
    let block = |repetition| (0..cells).map(move |cell| PlannedRun { cell, repetition });
    study.plan.runs = (1..=repetitions).flat_map(block).collect();
    study.plan.title = format!("{}, many times", study.plan.title);
    study
}

/// A run like `model`, a little quicker or slower, with `samples` samples.
fn made_of(
    model: &RunResult,
    planned: PlannedRun,
    samples: usize,
    noise: &mut StdRng,
) -> RunResult {
    let factor = 1.0 + noise.random_range(-SPREAD..SPREAD);
    let mut run = model.clone();
    let record = &mut run.record;
    (record.cell, record.repetition) = (planned.cell, planned.repetition);
    record.queries_per_s *= factor;
    record.transactions_per_s *= factor;
    record.latency.us_p99 /= factor;
    let of_model: usize = run.series.iter().map(|series| series.values.len()).sum();
    let times = samples.div_ceil(of_model.max(1));
    run.series = run.series.iter().map(|one| repeated(one, times)).collect();
    let begin_s = run.intervals.first().map_or(0.0, |first| first.time_s);
    let length_s = run.record.measured_s - begin_s + 1.0;
    let seconds = run.intervals.clone();
    for turn in 1..times {
        run.intervals.extend(seconds.iter().map(|second| {
            let mut second = *second;
            second.time_s += turn as f64 * length_s;
            second.queries = (second.queries as f64 * factor) as u64;
            second
        }));
    }
    run.record.measured_s += (times - 1) as f64 * length_s;
    run
}

/// `series` one `times` after another: counters go on from where they were.
fn repeated(series: &Series, times: usize) -> Series {
    let (first, last) = (series.times_s[0], *series.times_s.last().unwrap_or(&0.0));
    let is_counter = weir_model::metrics::ALL.iter().any(|metric| {
        metric.name == series.metric && metric.kind == weir_model::MetricKind::Counter
    });
    let grown = if is_counter {
        series.values[series.values.len() - 1] - series.values[0]
    } else {
        0.0
    };
    let mut long = Series {
        times_s: Vec::new(),
        values: Vec::new(),
        ..series.clone()
    };
    for turn in 0..times {
        for (time_s, value) in series.points() {
            let turn = turn as f64;
            long.push(time_s + turn * (last - first + 1.0), value + turn * grown);
        }
    }
    long
}

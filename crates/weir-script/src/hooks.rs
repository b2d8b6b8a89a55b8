//! Hooks that report: a script's own words in the place of sysbench's.

use crate::lua::{ScriptError, State};
use weir_load::{Interval, LoadOutcome, Totals};

use crate::world::World;

const INTERMEDIATE: &str = "report_intermediate";
const CUMULATIVE: &str = "report_cumulative";

type Numbers = Vec<(&'static str, f64)>;

/// Lets the script report an interval; whether it does.
pub(crate) fn intermediate(
    world: &World,
    state: &State,
    interval: &Interval,
) -> Result<bool, ScriptError> {
    report(state, INTERMEDIATE, || numbers_of_interval(world, interval))
}

fn numbers_of_interval(world: &World, interval: &Interval) -> Numbers {
    let record = &interval.record;
    let others = record.queries - record.reads - record.writes;
    vec![
        ("threads_running", f64::from(world.threads())),
        ("time_interval", record.length_s),
        ("time_total", record.time_s),
        (
            "latency_pct",
            interval.latency_us(f64::from(world.plan.percentile)) / 1e6,
        ),
        ("events", record.transactions as f64),
        ("reads", record.reads as f64),
        ("writes", record.writes as f64),
        ("other", others as f64),
        ("errors", record.errors as f64),
        ("reconnects", interval.reconnects as f64),
        ("queue_length", interval.queue_length as f64),
        ("concurrency", interval.concurrency as f64),
    ]
}

/// Lets the script report a checkpoint, or the whole; whether it does.
pub(crate) fn cumulative(
    world: &World,
    state: &State,
    totals: &Totals,
    threads_running: u32,
) -> Result<bool, ScriptError> {
    report(state, CUMULATIVE, || {
        numbers_of_totals(world, totals, threads_running)
    })
}

fn numbers_of_totals(world: &World, totals: &Totals, threads_running: u32) -> Numbers {
    let (counts, latency) = (&totals.counts, &totals.latency);
    vec![
        ("threads_running", f64::from(threads_running)),
        ("time_interval", totals.length_s),
        ("time_total", totals.elapsed_s),
        (
            "latency_pct",
            totals.latency_us(f64::from(world.plan.percentile)) / 1e6,
        ),
        ("latency_min", latency.us_min / 1e6),
        ("latency_max", latency.us_max / 1e6),
        ("latency_avg", latency.us_mean / 1e6),
        ("latency_sum", totals.latency_s_sum),
        ("events", counts.transactions as f64),
        ("reads", counts.reads as f64),
        ("writes", counts.writes as f64),
        ("other", counts.others as f64),
        ("errors", counts.errors as f64),
        ("reconnects", counts.reconnects as f64),
    ]
}

/// Lets a hook report these numbers, where the script has it; whether it does.
fn report(
    state: &State,
    hook: &str,
    numbers: impl FnOnce() -> Numbers,
) -> Result<bool, ScriptError> {
    if !state.has_hook(hook) {
        return Ok(false);
    }
    state.call_hook(hook, &numbers())?;
    Ok(true)
}

/// Returns the totals of the final report: since the last checkpoint, or of the whole run.
pub(crate) fn last_totals(outcome: &LoadOutcome) -> Totals {
    let since = outcome.since_checkpoint.clone();
    since.unwrap_or_else(|| outcome.totals())
}

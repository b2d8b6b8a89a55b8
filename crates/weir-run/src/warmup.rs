//! Warming up until throughput is steady.
//!
//! The rule looks at the last two thirds of what has passed, so that it is as patient as the warm-up
//! is slow: on the published memory sweep of 2018 the first 100 s were off by -46 to +32 %, and a
//! rule about the last seconds only would have called them steady.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_load::{LoadError, LoadPlan};
use weir_model::IntervalRecord;
use weir_mysql::Gate;
use weir_stats::steady_tail;

use crate::live::LiveBottleneck;
use crate::watch::Watch;
use weir_progress::Event;

/// Load between the end of the warm-up and the measurement: connections are made anew in between,
/// and the first second of a load is not like the others.
const RESUME: Duration = Duration::from_secs(1);

/// Keys of the warm-up are not those that are measured: their pages would be in memory.
const OTHER_KEYS: u64 = 0x5741_524d;

/// Makes `plan`, which was warmed up, the one that is measured: it goes on where the warm-up ended.
pub(crate) fn resume(plan: &mut LoadPlan) {
    plan.warmup = RESUME;
    plan.connection_ramp = Duration::ZERO;
    if let Some(rate) = &mut plan.rate {
        rate.ramp = None;
    }
}

/// How a warm-up ended.
pub(crate) struct Warmed {
    /// Its length up to the measurement, seconds.
    pub(crate) length_s: f64,
    /// Whether the rule held; else it was as long as allowed.
    pub(crate) steady: bool,
}

/// Loads as `plan` does until its throughput is steady: at least its warm-up, at most `at_most`.
/// Whether `stop` ended it, the caller sees by the flag.
pub(crate) fn until_steady(
    plan: &LoadPlan,
    gate: &Gate,
    at_most: Duration,
    stop: &AtomicBool,
    watch: &mut Watch,
    live: &LiveBottleneck<'_>,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<Warmed, LoadError> {
    let least = plan.warmup.as_secs_f64().ceil() as usize;
    let plan = LoadPlan {
        warmup: Duration::ZERO,
        measure: Some(at_most),
        seed: plan.seed ^ OTHER_KEYS,
        ..plan.clone()
    };
    let end = AtomicBool::new(false);
    let mut series = Vec::new();
    let mut steady = false;
    weir_load::run(&plan, gate, &end, &mut |interval| {
        let record = interval.record;
        watch.observe_earlier(&record);
        series.push(record.queries as f64 / record.length_s);
        steady = steady_tail(&series, least).is_some_and(|found| found.is_steady());
        if steady || stop.load(Ordering::Relaxed) {
            end.store(true, Ordering::Relaxed);
        }
        on_event(&Event::Interval(&IntervalRecord {
            time_s: record.time_s - at_most.as_secs_f64(),
            ..record
        }));
        live.tell(interval, on_event);
    })?;
    let gap_s = RESUME.as_secs_f64();
    watch.end_earlier(gap_s);
    Ok(Warmed {
        length_s: series.len() as f64 + gap_s,
        steady,
    })
}

//! Warming up until throughput is steady.
//!
//! The rule looks at the last two thirds of what has passed, so that it is as patient as the warm-up
//! is slow: on the published memory sweep of 2018 the first 100 s were off by -46 to +32 %, and a
//! rule about the last seconds only would have called them steady.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_load::{LoadError, LoadPlan};
use weir_model::{IntervalRecord, LoadSpec, Pace};
use weir_stats::steady_tail;

use crate::cancel::Control;
use crate::live::LiveBottleneck;
use crate::loader::Loader;
use crate::watch::Watch;
use weir_store::progress::Event;

/// Load between the end of the warm-up and the measurement: connections are made anew in between,
/// and the first second of a load is not like the others.
const RESUME: Duration = Duration::from_secs(1);

/// Keys of the warm-up are not those that are measured: their pages would be in memory.
const OTHER_KEYS: u64 = 0x5741_524d;

/// Makes `plan`, which was warmed up, the one that is measured: it goes on where the warm-up ended.
pub(crate) fn resume(plan: &mut LoadPlan) {
    plan.load.warmup = RESUME.into();
    plan.load.connection_ramp = weir_model::Duration::default();
    if let Pace::Open(rate) = &mut plan.load.pace {
        rate.ramp = None;
    }
}

/// End of a warm-up.
pub(crate) struct WarmupEnd {
    /// Length up to the measurement, seconds.
    pub(crate) length_s: f64,
    /// True if the rule held; else it was as long as allowed.
    pub(crate) steady: bool,
}

/// Loads as `plan` does until its throughput is steady: at least its warm-up, at most `at_most`.
/// Whether it was cancelled, the caller sees by the token.
pub(crate) fn until_steady(
    loader: &mut Loader<'_>,
    plan: &LoadPlan,
    at_most: Duration,
    watch: &mut Watch,
    live: &LiveBottleneck<'_>,
    control: &mut Control<'_>,
) -> Result<WarmupEnd, LoadError> {
    let least = plan.load.warmup.least().as_secs_f64().ceil() as usize;
    let plan = LoadPlan {
        // Events are of the measurement.
        short_intervals: false,
        rate_changes: Vec::new(),
        seed: plan.seed ^ OTHER_KEYS,
        load: LoadSpec {
            warmup: Duration::ZERO.into(),
            measure: at_most.into(),
            ..plan.load.clone()
        },
        ..plan.clone()
    };
    let end = AtomicBool::new(false);
    let mut seconds = Seconds::new(least);
    loader.run(&plan, &end, &|_| {}, &mut |record, concurrency| {
        let record = *record;
        watch.observe_earlier(&record);
        seconds.add(&record);
        if seconds.are_steady || control.cancel.is_set() {
            end.store(true, Ordering::Relaxed);
        }
        control.tell(&Event::Interval(&IntervalRecord {
            time_s: record.time_s - at_most.as_secs_f64(),
            ..record
        }));
        live.tell(&record, concurrency, control);
    })?;
    let gap_s = RESUME.as_secs_f64();
    watch.end_earlier(gap_s);
    Ok(WarmupEnd {
        length_s: seconds.per_s.len() as f64 + gap_s,
        steady: seconds.are_steady,
    })
}

/// The seconds of a warm-up, until they are steady.
struct Seconds {
    per_s: Vec<f64>,
    at_least: usize,
    are_steady: bool,
}

impl Seconds {
    fn new(at_least: usize) -> Self {
        Self {
            per_s: Vec::new(),
            at_least,
            are_steady: false,
        }
    }

    /// The load ends within a second: the part of it that comes after the end is no second to judge.
    fn add(&mut self, record: &IntervalRecord) {
        if self.are_steady {
            return;
        }
        self.per_s.push(record.queries as f64 / record.length_s);
        let found = steady_tail(&self.per_s, self.at_least);
        self.are_steady = found.is_some_and(|found| found.is_steady());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_second_after_the_end_does_not_make_a_warm_up_unsteady() {
        let second = |queries: u64, length_s: f64| IntervalRecord {
            queries,
            length_s,
            ..IntervalRecord::default()
        };
        let mut seconds = Seconds::new(5);
        for queries in [100, 200, 400, 800, 1000] {
            seconds.add(&second(queries, 1.0));
        }
        assert!(!seconds.are_steady);
        for _ in 0..10 {
            seconds.add(&second(1000, 1.0));
        }
        assert!(seconds.are_steady, "{:?}", seconds.per_s);
        let length = seconds.per_s.len();
        seconds.add(&second(3, 0.04));
        assert!(seconds.are_steady && seconds.per_s.len() == length);
    }
}

//! Setup of an engine from a plan.

use std::time::Duration;

use weir_model::RateRamp;

use crate::driver::Renewal;
use crate::meter::{Arrivals, Curve, RateChange, Timeline};
use crate::plan::LoadPlan;
use weir_workload::seeded;

/// First stream of random numbers for schedules: above those of connections and tables.
const SCHEDULE_STREAM: u64 = 1 << 63;

/// The part of the schedule for reactor `index` of the run, which drives `part` of all connections.
pub(crate) fn arrivals(plan: &LoadPlan, index: u32, part: u32) -> Option<Arrivals> {
    let rate = plan.load.pace.rate()?;
    let part = f64::from(part) / f64::from(plan.load.connections);
    let measured_from = plan.load.warmup.least().0;
    let change = |(at, per_s): &(Duration, f64)| RateChange {
        at_ns: (measured_from + *at).as_nanos() as f64,
        per_s: per_s * part,
    };
    let ramp = rate.ramp.unwrap_or(RateRamp {
        from_per_s: rate.per_s,
        length: weir_model::Duration::default(),
    });
    let curve = Curve {
        // Reactors' constant schedules interleave.
        offset_ns: f64::from(index) * 1e9 / rate.per_s,
        from_per_s: ramp.from_per_s * part,
        to_per_s: rate.per_s * part,
        ramp_ns: ramp.length.0.as_nanos() as f64,
        changes: plan.rate_changes.iter().map(change).collect(),
    };
    let rng = seeded(plan.seed, SCHEDULE_STREAM + u64::from(index));
    Some(Arrivals::new(rate.arrivals, curve, rng))
}

/// Returns the conditions under which connections are made again, if ever; `joins`: sessions make
/// them.
pub(crate) fn renewal(plan: &LoadPlan, joins: bool) -> Option<Renewal> {
    let every = plan.reconnect_every.unwrap_or(0);
    let after_loss = plan.reconnect || plan.tolerated.survives_loss();
    (every > 0 || after_loss || joins).then_some(Renewal { every, after_loss })
}

pub(crate) fn half_rtt_ns(plan: &LoadPlan) -> u64 {
    u64::try_from(plan.load.rtt.0.as_nanos() / 2).unwrap_or(u64::MAX)
}

/// The run in time.
pub(crate) fn timeline(plan: &LoadPlan) -> Timeline<'_> {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let measure_ns = nanoseconds(plan.load.warmup.least().0);
    Timeline {
        measure_ns,
        end_ns: match nanoseconds(plan.load.measure.0) {
            // Until it is stopped or has done its number of transactions.
            0 => u64::MAX,
            length_ns => measure_ns.saturating_add(length_ns),
        },
        interval_ns: nanoseconds(plan.interval),
        checkpoints: &plan.checkpoints,
    }
}

#[cfg(test)]
mod tests {
    use weir_model::{ArrivalKind, LoadSpec, Rate, WorkloadName};

    use super::*;
    use crate::testing::nowhere;

    #[test]
    fn reactors_share_a_schedule_in_proportion_to_their_connections() {
        let plan = LoadPlan {
            load: LoadSpec {
                connections: 4,
                pace: Some(Rate {
                    per_s: 1_000.0,
                    arrivals: ArrivalKind::Constant,
                    ramp: None,
                })
                .into(),
                ..LoadSpec::default()
            },
            ..LoadPlan::new(nowhere(), WorkloadName::OltpReadOnly)
        };
        let due = |index, part| {
            let mut part = arrivals(&plan, index, part).unwrap();
            part.until(10_000_000_000).0
        };
        assert!((7_500..=7_501).contains(&due(0, 3)));
        assert!((2_499..=2_501).contains(&due(1, 1)));
    }

    // Acceptance S9: four agents with two reactors each; the seed is fixed, so is the answer.
    #[test]
    fn the_random_schedules_of_agents_are_one_of_their_sum() {
        let per_s = 8_000.0;
        let mut plan = LoadPlan::new(nowhere(), WorkloadName::OltpReadOnly);
        plan.seed = 11;
        plan.load.connections = 64;
        plan.load.pace = Some(Rate {
            per_s,
            arrivals: ArrivalKind::Poisson,
            ramp: None,
        })
        .into();
        let end_ns = 13_000_000_000;
        let mut times: Vec<u64> = Vec::new();
        for index in 0..8 {
            let mut part = arrivals(&plan, index, 8).unwrap();
            times.extend(std::iter::repeat_with(|| part.take()).take_while(|at| *at < end_ns));
        }
        times.sort_unstable();
        let count = times.len() as f64;
        assert!((count / (per_s * 13.0) - 1.0).abs() < 0.005, "{count}");
        let gaps = times
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / 1e9);
        let mut gaps: Vec<f64> = gaps.collect();
        gaps.sort_by(f64::total_cmp);
        // Kolmogorov and Smirnov: 1 % of true samples are further off than 1.63 / sqrt(n).
        let distance = gaps.iter().enumerate().map(|(below, gap)| {
            let expected = 1.0 - (-gap * per_s).exp();
            let found = below as f64 / gaps.len() as f64;
            (found - expected).abs()
        });
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 1.63 / (gaps.len() as f64).sqrt(), "{distance}");
    }
}

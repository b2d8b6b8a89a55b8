//! What a plan means to those who carry it out.

use std::time::Duration;

use weir_model::RateRamp;

use crate::driver::Renewal;
use crate::meter::{Arrivals, Curve, RateChange, Timeline};
use crate::plan::LoadPlan;
use weir_workload::seeded;

/// First stream of random numbers for schedules: above those of connections and tables.
const SCHEDULE_STREAM: u64 = 1 << 63;

/// The part of the schedule for reactor `index`, which drives `part` of all connections.
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

/// When connections are made again, if ever; `joins`: sessions make them.
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
}

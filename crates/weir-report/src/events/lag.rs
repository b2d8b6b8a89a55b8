//! Lag of replicas from an event on.

use weir_model::{EventRecord, RunResult, Series, metrics};
use weir_stats::median;

use super::seconds;

/// The most that a replica was behind from the event to the next one or the end of its run, and before it; medians
/// of the runs. `None` without a heartbeat, and after a failover, which ends the replication.
pub(super) fn lag(event: &EventRecord, runs: &[&RunResult]) -> Option<String> {
    if event.detail.failover.is_some() {
        return None;
    }
    let found = runs.iter().filter_map(|run| around(&event.name, run));
    let (before_s, after_s): (Vec<_>, Vec<_>) = found.unzip();
    Some(format!(
        "replicas up to {} s behind, {} s before it",
        seconds(median(&after_s)?),
        seconds(median(&before_s)?)
    ))
}

/// The most before and after the event in one run, seconds.
fn around(name: &str, run: &RunResult) -> Option<(f64, f64)> {
    let began_s = |event: &EventRecord| event.began_s;
    let at_s = run.events.iter().find(|event| event.name == name)?.began_s;
    let later = run.events.iter().map(began_s).filter(|next| *next > at_s);
    let until_s = later.reduce(f64::min).unwrap_or(f64::INFINITY);
    let most = |from_s: f64, to_s: f64| {
        Series::instances(&run.series, metrics::REPLICATION_HEARTBEAT_LAG)
            .flat_map(|replica| replica.between(from_s, to_s))
            .map(|(_, lag_ms)| lag_ms / 1e3)
            .reduce(f64::max)
    };
    Some((most(0.0, at_s)?, most(at_s, until_s)?))
}

#[cfg(test)]
mod tests {
    use weir_model::{EventDetail, EventEnding, FailoverRecord, JudgedResult};

    use super::*;
    use crate::sample;

    fn event(name: &str, began_s: f64) -> EventRecord {
        EventRecord {
            name: name.to_owned(),
            kind: "ddl".to_owned(),
            began_s,
            ended_s: began_s + 2.0,
            tries: 1,
            lock_wait_s: 0.0,
            ending: EventEnding::Done,
            session: std::collections::BTreeMap::new(),
            detail: EventDetail::default(),
        }
    }

    /// Two replicas; the second is 3 s behind when the first event is done, and 8 s behind after the second event.
    fn sampled() -> JudgedResult {
        let mut result = sample::study(1, 1);
        let run = &mut result.evidence.runs[0];
        run.events = vec![event("add index", 10.0), event("mark", 20.0)];
        run.series = ["replica 1", "replica 2"]
            .into_iter()
            .map(|name| {
                let mut series = Series::new(metrics::REPLICATION_HEARTBEAT_LAG, name);
                for (time_s, lag_ms) in
                    [(-1.0, 900.0), (5.0, 40.0), (13.0, 3_000.0), (25.0, 8_000.0)]
                {
                    let is_first = name == "replica 1";
                    series.push(time_s, if is_first { 20.0 } else { lag_ms });
                }
                series
            })
            .collect();
        result
    }

    #[test]
    fn the_replica_that_is_furthest_behind_counts_until_the_next_event() {
        let result = sampled();
        let run = &result.evidence.runs[0];
        let said = |position: usize| lag(&run.events[position], &[run]);
        assert_eq!(
            said(0).unwrap(),
            "replicas up to 3.00 s behind, 0.04 s before it"
        );
        assert_eq!(
            said(1).unwrap(),
            "replicas up to 8.00 s behind, 3.00 s before it"
        );
    }

    #[test]
    fn nothing_is_said_without_a_heartbeat_or_after_a_failover() {
        let mut result = sampled();
        let run = &mut result.evidence.runs[0];
        run.events[0].detail.failover = Some(FailoverRecord::default());
        let run = &result.evidence.runs[0];
        assert_eq!(lag(&run.events[0], &[run]), None);
        let run = &mut result.evidence.runs[0];
        run.series.clear();
        let run = &result.evidence.runs[0];
        assert_eq!(lag(&run.events[1], &[run]), None);
    }
}

//! Details of an event: locks and their holders, a server's new start, replicas, temporary files.

use weir_model::{Blocker, EventRecord, Outage, RunResult};
use weir_stats::{BackToSpeed, back_to_speed, median};

use super::lag::lag;
use super::{seconds, seconds_of};
use crate::number::grouped;

/// Bytes of temporary files below which they are not worth a word.
const BYTES_MIN: u64 = 1 << 20;

/// Connections with the lock that are named.
const BLOCKERS_MAX: usize = 3;

/// Of one event in the runs of a combination; times are medians, connections those of the first run.
pub(super) fn details(events: &[&EventRecord], runs: &[&RunResult]) -> String {
    let parts = [
        locks(events),
        blocked(events),
        failover(events).or_else(|| restart(events)),
        old_speed(events, runs),
        events.first().and_then(|event| lag(event, runs)),
        temporary(events),
        left_by_tool(events),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    parts.join("; ")
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    median(&values.collect::<Vec<_>>())
}

/// Waits of both kinds, where there were any.
fn locks(events: &[&EventRecord]) -> Option<String> {
    let waits = || events.iter().map(|event| event.detail.lock_wait_s());
    let at_start_s = middle(waits().map(|(at_start_s, _)| at_start_s))?;
    let at_end_s = middle(waits().map(|(_, at_end_s)| at_end_s))?;
    (at_start_s + at_end_s > 0.0).then(|| {
        format!(
            "waited {} s for locks before its work, {} s after",
            seconds(at_start_s),
            seconds(at_end_s)
        )
    })
}

fn blocked(events: &[&EventRecord]) -> Option<String> {
    let mut blockers = events.first()?.detail.blockers();
    // Those of events first, then the longest idle: the others are the load's own transactions.
    blockers.sort_by(|one, other| {
        let idle_s = |blocker: &Blocker| blocker.idle_s.unwrap_or(0.0);
        let by_event = other.event.is_some().cmp(&one.event.is_some());
        by_event.then(idle_s(other).total_cmp(&idle_s(one)))
    });
    let mut words: Vec<_> = blockers
        .iter()
        .take(BLOCKERS_MAX)
        .map(|found| blocker(found))
        .collect();
    if blockers.len() > BLOCKERS_MAX {
        words.push(format!("and {} more", blockers.len() - BLOCKERS_MAX));
    }
    (!words.is_empty()).then(|| format!("behind {}", words.join(", ")))
}

fn blocker(blocker: &Blocker) -> String {
    let event = blocker.event.as_ref();
    let event = event.map_or_else(String::new, |event| format!(" (event `{event}`)"));
    let doing = match (blocker.idle_s, &blocker.statement) {
        (Some(idle_s), Some(last)) => format!(", idle for {idle_s:.0} s after `{last}`"),
        (Some(idle_s), None) => format!(", idle for {idle_s:.0} s"),
        (None, Some(statement)) => format!(", at `{statement}`"),
        (None, None) => String::new(),
    };
    format!("connection {}{event}{doing}", blocker.connection)
}

fn restart(events: &[&EventRecord]) -> Option<String> {
    let restarts = || events.iter().filter_map(|event| event.detail.restart);
    let stop_s = middle(restarts().map(|restart| restart.stop_s))?;
    let start_s = middle(restarts().filter_map(|restart| restart.start_s))?;
    Some(format!(
        "the server ended in {} s and answered {} s after its start, recovery included",
        seconds(stop_s),
        seconds(start_s)
    ))
}

fn failover(events: &[&EventRecord]) -> Option<String> {
    let found = || {
        events
            .iter()
            .filter_map(|event| event.detail.failover.as_ref())
    };
    let first = found().next()?;
    let applied_s = middle(found().map(|one| one.applied_s))?;
    let promoted_s = middle(found().map(|one| one.promoted_s))?;
    let shipped = match (first.shipments, first.shipment_age_s) {
        (0, _) | (_, None) => String::new(),
        (count, Some(age_s)) => format!(
            "; {count} shipments of the pool, the last of {} pages, {} s before",
            grouped(first.shipped_pages as f64),
            seconds(age_s)
        ),
    };
    let failure = first.failure.as_ref();
    let failure = failure.map_or_else(String::new, |why| format!("; not kept warm: {why}"));
    Some(format!(
        "the replica had applied all after {} s, and took writes {} s later{shipped}{failure}",
        seconds(applied_s),
        seconds(promoted_s)
    ))
}

/// Outage and cold time of an event that ended the server.
fn old_speed(events: &[&EventRecord], runs: &[&RunResult]) -> Option<String> {
    let began_s = events
        .first()
        .filter(|one| one.detail.restart.is_some())?
        .began_s;
    let outage_s = middle(runs.iter().filter_map(|run| outage_s(run, began_s)))?;
    let found: Vec<_> = runs
        .iter()
        .filter_map(|run| back_to_speed(&seconds_of(run), began_s))
        .collect();
    let back = found.iter().filter_map(|found| match found {
        BackToSpeed::After(after_s) => Some((after_s - outage_s).max(0.0)),
        BackToSpeed::Never => None,
    });
    let cold = match (found.contains(&BackToSpeed::Never), middle(back)) {
        (true, _) => "not back at 95 % of the earlier throughput when a run ended".to_owned(),
        (false, Some(cold_s)) => {
            format!("recovery {cold_s:.0} s, until 95 % of the earlier throughput")
        }
        (false, None) => "too little before it to say what the throughput was".to_owned(),
    };
    Some(format!("outage {} s, {cold}", seconds(outage_s)))
}

/// From the event until all connections were back, seconds.
fn outage_s(run: &RunResult, began_s: f64) -> Option<f64> {
    let end_s = |outage: &Outage| outage.from_s + outage.length_s;
    let mut outages = run.losses.outages.iter();
    let first = outages.find(|outage| end_s(outage) >= began_s)?;
    Some(end_s(first) - began_s)
}

fn temporary(events: &[&EventRecord]) -> Option<String> {
    let files = events
        .iter()
        .filter_map(|event| event.detail.temporary.as_ref());
    let peak = files.map(|files| files.peak_bytes).max()?;
    (peak >= BYTES_MIN).then(|| {
        let size = peak as f64 / f64::from(1 << 20);
        format!("temporary files up to {} MiB", grouped(size))
    })
}

/// Returns the objects that a tool of the user's did not remove.
fn left_by_tool(events: &[&EventRecord]) -> Option<String> {
    let left = |event: &&&EventRecord| {
        let left = event.session.get("tool.left");
        left.is_some_and(|left| left != "nothing")
    };
    let session = &events.iter().find(left)?.session;
    let is_removed = session
        .get("tool.removed")
        .is_some_and(|word| word == "true");
    let what = if is_removed {
        "Weir removed"
    } else {
        "the tool left"
    };
    Some(format!("{what} {}", session["tool.left"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_held_a_lock_is_named_with_what_it_did() {
        let held = Blocker {
            connection: 12,
            event: Some("forgotten".to_owned()),
            idle_s: Some(4.0),
            statement: Some("SELECT 1 FROM `t` LIMIT 1".to_owned()),
        };
        let said =
            "connection 12 (event `forgotten`), idle for 4 s after `SELECT 1 FROM `t` LIMIT 1`";
        assert_eq!(blocker(&held), said);
        let other = Blocker {
            event: None,
            idle_s: None,
            statement: None,
            ..held
        };
        assert_eq!(blocker(&other), "connection 12");
    }
}

//! Records of a study's events, and their cost for the load.

mod close_up;
mod details;
mod lag;
mod outcome;

use serde::Serialize;
use weir_model::{EventRecord, IntervalRecord, RunResult, StudyResult};
use weir_stats::{SeriesInterval, Windows, mean_interval, median};

pub(crate) use self::close_up::CloseUp;
use self::details::details;
use self::outcome::outcomes;

use crate::number::{RoundedNumber, grouped};
use crate::words::cell_label;

/// Time of an event, for the axis of time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct EventSpan<'a> {
    name: &'a str,
    from_s: Option<RoundedNumber>,
    to_s: Option<RoundedNumber>,
}

impl<'a> EventSpan<'a> {
    pub(crate) fn new(event: &'a EventRecord) -> Self {
        Self {
            name: &event.name,
            from_s: RoundedNumber::new(event.began_s, 6),
            to_s: RoundedNumber::new(event.ended_s, 6),
        }
    }
}

/// One event in one combination, over its repetitions, as texts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct EventRow {
    combination: String,
    event: String,
    outcome: String,
    duration_s: String,
    lock_wait_s: String,
    longest_pause_s: String,
    throughput_ratio: String,
    p99_ratio: String,
    transactions_lost: String,
    settle_s: String,
    details: String,
}

/// Head of the columns of [`EventRow::row`].
pub(crate) const EVENT_HEADER: [&str; 11] = [
    "combination",
    "event",
    "outcome",
    "took s",
    "waited for locks s",
    "longest pause s",
    "throughput",
    "p99",
    "transactions lost",
    "settled after s",
    "details",
];

/// Note on the numbers of the table.
pub(crate) const EVENT_NOTE: &str = "Medians of the repetitions. Waited for locks: by looks at the process \
    list every 50 ms. Longest pause: time in which no statement of the load was completed, to 2 ms. Throughput and p99: during all events of a run by \
    before them. Transactions lost: those that the rate before would have given until throughput and p99 were as \
    before.";

impl EventRow {
    pub(crate) fn row(&self) -> [String; 11] {
        [
            &self.combination,
            &self.event,
            &self.outcome,
            &self.duration_s,
            &self.lock_wait_s,
            &self.longest_pause_s,
            &self.throughput_ratio,
            &self.p99_ratio,
            &self.transactions_lost,
            &self.settle_s,
            &self.details,
        ]
        .map(Clone::clone)
    }
}

/// Every event of every combination.
pub(crate) fn rows(result: &StudyResult) -> Vec<EventRow> {
    let cells = result.plan.cells.iter().enumerate();
    let of_cell = |(index, cell): (usize, &weir_model::Cell)| {
        let of_it = |run: &&RunResult| run.record.cell == index && !run.events.is_empty();
        let runs: Vec<_> = result.runs.iter().filter(of_it).collect();
        let names = cell.spec.timeline.iter().map(|event| event.name.as_str());
        let rows: Vec<_> = names
            .filter_map(|name| row(cell_label(cell), name, &runs))
            .collect();
        rows
    };
    cells.flat_map(of_cell).collect()
}

fn row(combination: String, name: &str, runs: &[&RunResult]) -> Option<EventRow> {
    let events: Vec<_> = runs
        .iter()
        .filter_map(|run| run.events.iter().find(|event| event.name == name))
        .collect();
    if events.is_empty() {
        return None;
    }
    let windows: Vec<_> = runs.iter().filter_map(|run| windows(run)).collect();
    let middle = |value: &dyn Fn(&EventRecord) -> f64| {
        let values: Vec<_> = events.iter().map(|event| value(event)).collect();
        median(&values).map_or_else(none, seconds)
    };
    let ratio = |value: fn(&Windows) -> Option<f64>| {
        let values: Vec<_> = windows.iter().filter_map(value).collect();
        median(&values).map_or_else(none, |ratio| format!("{ratio:.2}x"))
    };
    Some(EventRow {
        combination,
        event: name.to_owned(),
        outcome: outcomes(&events),
        duration_s: middle(&|event| event.ended_s - event.began_s),
        lock_wait_s: middle(&|event| event.lock_wait_s),
        longest_pause_s: pause(&events),
        throughput_ratio: ratio(Windows::rate_ratio),
        p99_ratio: ratio(Windows::p99_ratio),
        transactions_lost: lost(&windows),
        settle_s: settled(&windows),
        details: details(&events, runs),
    })
}

fn pause(events: &[&EventRecord]) -> String {
    let pauses = events
        .iter()
        .filter_map(|event| event.detail.longest_pause_s);
    median(&pauses.collect::<Vec<_>>()).map_or_else(none, |pause_s| format!("{pause_s:.3}"))
}

/// The windows of a run's measurement around all of its events; `None` without events.
fn windows(run: &RunResult) -> Option<Windows> {
    let events = run.events.iter();
    let began_s = events.clone().map(|event| event.began_s).reduce(f64::min)?;
    let ended_s = events.map(|event| event.ended_s).reduce(f64::max)?;
    Some(Windows::around(&seconds_of(run), began_s, ended_s))
}

/// The seconds of a run's measurement.
fn seconds_of(run: &RunResult) -> Vec<SeriesInterval> {
    // The middle decides, so that a late tick stays in its own second.
    let is_measured = |one: &&IntervalRecord| one.time_s - one.length_s / 2.0 > 0.0;
    let interval = |one: &IntervalRecord| SeriesInterval {
        end_s: one.time_s,
        length_s: one.length_s,
        count: one.transactions,
        latency_us_p99: one.latency_us_p99,
    };
    let measured = run.intervals.iter().filter(is_measured);
    measured.map(interval).collect()
}

/// The mean of the runs with its interval; of one run with that of its seconds before.
fn lost(windows: &[Windows]) -> String {
    let found: Vec<_> = windows.iter().filter_map(Windows::lost).collect();
    let values: Vec<_> = found.iter().map(|(value, _)| *value).collect();
    let (value, interval) = match found.as_slice() {
        [] => return none(),
        [one] => *one,
        _ => {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (mean, mean_interval(&values))
        }
    };
    match interval {
        Some((low, high)) => {
            format!("{} ({} to {})", whole(value), whole(low), whole(high))
        }
        None => whole(value),
    }
}

fn settled(windows: &[Windows]) -> String {
    let not = windows
        .iter()
        .filter(|one| one.settled == Some(false))
        .count();
    if not > 0 {
        return format!("not, {not} of {} runs", windows.len());
    }
    let settled = windows.iter().filter(|one| one.settled.is_some());
    let lengths: Vec<_> = settled.map(|one| one.settle.length_s).collect();
    median(&lengths).map_or_else(none, |length_s| format!("{length_s:.0}"))
}

fn seconds(value: f64) -> String {
    format!("{value:.2}")
}

fn whole(value: f64) -> String {
    if value.abs() < 100.0 {
        format!("{value:.0}")
    } else {
        grouped(value)
    }
}

fn none() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use weir_model::{Duration, EventEnding, EventKind, JudgedResult, TimelineEvent};

    use super::*;
    use crate::sample;

    fn with_event(ending: &EventEnding) -> JudgedResult {
        let mut result = sample::study(4, 2);
        let evidence = &mut result.evidence;
        let event = TimelineEvent {
            name: "add index".to_owned(),
            at: Duration::from_secs(10),
            kind: EventKind::Mark,
        };
        Arc::make_mut(&mut evidence.plan.cells[0].spec).timeline = vec![event];
        for run in evidence.runs.iter_mut().filter(|run| run.record.cell == 0) {
            run.events = vec![EventRecord {
                name: "add index".to_owned(),
                kind: "ddl".to_owned(),
                began_s: 10.0,
                ended_s: 14.5,
                tries: 2,
                lock_wait_s: 4.0,
                ending: ending.clone(),
                session: BTreeMap::new(),
                detail: weir_model::EventDetail::default(),
            }];
        }
        result
    }

    #[test]
    fn an_event_has_a_row_with_its_outcome_in_terminal_and_ticket() {
        let refused = EventEnding::Refused {
            code: Some(1205),
            message: "Lock wait timeout exceeded".to_owned(),
        };
        let result = with_event(&refused);
        let [row] = rows(&result.evidence).try_into().unwrap();
        let said = "refused in 2 tries: Lock wait timeout exceeded (error 1205)";
        assert_eq!(row.outcome, said);
        assert_eq!(
            (row.duration_s.as_str(), row.lock_wait_s.as_str()),
            ("4.50", "4.00")
        );
        for text in [crate::terminal(&result, false), crate::markdown(&result)] {
            assert!(text.contains(said) && text.contains("add index"), "{text}");
        }
    }

    #[test]
    fn a_study_without_events_says_nothing_of_them() {
        let result = sample::study(4, 2);
        assert!(rows(&result.evidence).is_empty());
        assert!(!crate::terminal(&result, false).contains("transactions lost"));
    }
}

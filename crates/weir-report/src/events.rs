//! What became of a study's events, and what they cost the load.

use serde::Serialize;
use weir_model::{EventEnding, EventRecord, IntervalRecord, RunResult, StudyResult};
use weir_stats::{SeriesInterval, Windows, mean_interval, median};

use crate::number::{Rounded, grouped};
use crate::words::cell_label;

/// When an event was, for the axis of time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct EventSpan<'a> {
    name: &'a str,
    from_s: Option<Rounded>,
    to_s: Option<Rounded>,
}

impl<'a> EventSpan<'a> {
    pub(crate) fn new(event: &'a EventRecord) -> Self {
        Self {
            name: &event.name,
            from_s: Rounded::new(event.began_s, 6),
            to_s: Rounded::new(event.ended_s, 6),
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
    throughput_ratio: String,
    p99_ratio: String,
    transactions_lost: String,
    settle_s: String,
}

/// Head of the columns of [`EventRow::row`].
pub(crate) const EVENT_HEADER: [&str; 9] = [
    "combination",
    "event",
    "outcome",
    "took s",
    "waited for locks s",
    "throughput",
    "p99",
    "transactions lost",
    "settled after s",
];

/// What the numbers of the table are.
pub(crate) const EVENT_NOTE: &str = "Medians of the repetitions. Throughput and p99: during all events of a run by \
    before them. Transactions lost: those that the rate before would have given until throughput and p99 were as \
    before.";

impl EventRow {
    pub(crate) fn row(&self) -> [String; 9] {
        [
            &self.combination,
            &self.event,
            &self.outcome,
            &self.duration_s,
            &self.lock_wait_s,
            &self.throughput_ratio,
            &self.p99_ratio,
            &self.transactions_lost,
            &self.settle_s,
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
        throughput_ratio: ratio(Windows::rate_ratio),
        p99_ratio: ratio(Windows::p99_ratio),
        transactions_lost: lost(&windows),
        settle_s: settled(&windows),
    })
}

/// The windows of a run's measurement around all of its events; `None` without events.
fn windows(run: &RunResult) -> Option<Windows> {
    let events = run.events.iter();
    let began_s = events.clone().map(|event| event.began_s).reduce(f64::min)?;
    let ended_s = events.map(|event| event.ended_s).reduce(f64::max)?;
    // The middle decides, so that a late tick stays in its own second.
    let is_measured = |one: &&IntervalRecord| one.time_s - one.length_s / 2.0 > 0.0;
    let interval = |one: &IntervalRecord| SeriesInterval {
        end_s: one.time_s,
        length_s: one.length_s,
        count: one.transactions,
        latency_us_p99: one.latency_us_p99,
    };
    let measured = run.intervals.iter().filter(is_measured);
    let series: Vec<_> = measured.map(interval).collect();
    Some(Windows::around(&series, began_s, ended_s))
}

/// `done`, or each of several outcomes with how often it was.
fn outcomes(events: &[&EventRecord]) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for event in events {
        let outcome = outcome(event);
        match counted.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => counted.push((outcome, 1)),
        }
    }
    if let [(outcome, _)] = counted.as_slice() {
        return outcome.clone();
    }
    let all = events.len();
    let each = counted.iter();
    let each = each.map(|(outcome, count)| format!("{outcome} ({count} of {all} runs)"));
    each.collect::<Vec<_>>().join("; ")
}

fn outcome(event: &EventRecord) -> String {
    let tries = match event.tries {
        0 | 1 => String::new(),
        tries => format!(" in {tries} tries"),
    };
    match &event.ending {
        EventEnding::Done => format!("done{tries}"),
        EventEnding::CutOff => "ended by Weir with the load".to_owned(),
        EventEnding::Refused { code, message } => {
            let number = code.map_or_else(String::new, |code| format!(" (error {code})"));
            format!("refused{tries}: {message}{number}")
        }
    }
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

    use weir_model::{Duration, EventKind, JudgedResult, TimelineEvent};

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

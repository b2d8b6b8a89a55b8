//! Tenths of a second around events, as the page draws them.

use serde::Serialize;
use weir_model::{RunResult, ShortInterval};

use crate::number::RoundedNumber;

/// Most points of one run.
const POINTS_MAX: usize = 2_000;

/// Two curves around the events of a run; `None` between them, where events are far apart.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CloseUp {
    /// Middle of each tenth of a second, seconds since the measurement began.
    times_s: Vec<f64>,
    transactions_per_s: Vec<Option<RoundedNumber>>,
    latency_ms_p99: Vec<Option<RoundedNumber>>,
}

impl CloseUp {
    /// Of a run; `None` without such a series, or of a repetition other than the first.
    pub(crate) fn for_run(run: &RunResult) -> Option<Self> {
        if run.record.repetition != 1 || run.short_intervals.is_empty() {
            return None;
        }
        let mut close_up = Self {
            times_s: Vec::new(),
            transactions_per_s: Vec::new(),
            latency_ms_p99: Vec::new(),
        };
        for one in run.short_intervals.iter().take(POINTS_MAX) {
            close_up.add(one);
        }
        Some(close_up)
    }

    fn add(&mut self, one: &ShortInterval) {
        let length_s = ShortInterval::LENGTH_S;
        let middle_s = ((one.time_s - length_s / 2.0) * 100.0).round() / 100.0;
        let last = self.times_s.last();
        if last.is_some_and(|last| middle_s - last > 1.5 * length_s) {
            self.push(middle_s - length_s, None, None);
        }
        let rate = RoundedNumber::fine(one.transactions as f64 / length_s);
        let latency = (one.transactions > 0).then_some(one.latency_us_p99 / 1e3);
        let latency = latency.and_then(|latency_ms| RoundedNumber::new(latency_ms, 4));
        self.push(middle_s, rate, latency);
    }

    fn push(&mut self, time_s: f64, rate: Option<RoundedNumber>, latency: Option<RoundedNumber>) {
        self.times_s.push(time_s);
        self.transactions_per_s.push(rate);
        self.latency_ms_p99.push(latency);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_between_two_events_is_a_gap_of_the_curves() {
        let mut run = crate::sample::study(4, 2).evidence.runs[0].clone();
        run.record.repetition = 1;
        let short = |time_s, transactions| ShortInterval {
            time_s,
            transactions,
            ..ShortInterval::default()
        };
        run.short_intervals = vec![short(1.0, 5), short(1.1, 0), short(40.0, 7)];
        let found = CloseUp::for_run(&run).unwrap();
        assert_eq!(found.times_s, [0.95, 1.05, 39.85, 39.95]);
        let rates: Vec<_> = found
            .transactions_per_s
            .iter()
            .map(|rate| rate.map(RoundedNumber::get))
            .collect();
        assert_eq!(rates, [Some(50.0), Some(0.0), None, Some(70.0)]);
        assert!(found.latency_ms_p99[1].is_none());
    }
}

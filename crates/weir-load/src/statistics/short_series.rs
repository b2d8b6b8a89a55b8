//! The series of tenths of a second, from the reporters' tallies.

use std::collections::BTreeMap;

use weir_model::ShortInterval;

use crate::meter::{IntervalFrame, SHORT_NS, SLOTS, ShortTally};

/// Time after its end at which a short interval may still be added to, nanoseconds. A reply is counted when it came,
/// which may be before the frame began in which a reactor read it.
const GRACE_NS: u64 = 1_000_000_000;

/// Puts the series together.
#[derive(Debug, Default)]
pub(super) struct ShortSeries {
    open: BTreeMap<u64, ShortTally>,
    /// The first that is not closed.
    next: u64,
    /// Empty slots at the end of the last one that was closed.
    empty_slots: u64,
    closed: Vec<ShortInterval>,
}

impl ShortSeries {
    pub(super) fn add(&mut self, frame: &IntervalFrame) {
        for tally in frame.short.iter() {
            // One that comes too late for its own counts in the first that is open.
            let number = tally.number.max(self.next);
            self.open.entry(number).or_default().add(tally);
        }
    }

    /// Closes those to which nothing is added any more, once all is known until `until_ns` of the measurement.
    pub(super) fn close_until(&mut self, until_ns: u64) {
        self.close(until_ns.saturating_sub(GRACE_NS) / SHORT_NS);
    }

    /// All of them, of a measurement of this length.
    pub(super) fn finish(mut self, measured_ns: u64) -> Vec<ShortInterval> {
        // Only whole ones.
        self.close(measured_ns / SHORT_NS);
        self.closed
    }

    fn close(&mut self, end: u64) {
        if self.open.is_empty() && self.closed.is_empty() {
            // They are not counted.
            return;
        }
        while self.next < end {
            let tally = self.open.remove(&self.next).unwrap_or_default();
            self.next += 1;
            let pause = self.longest_pause(tally.slots);
            self.closed.push(ShortInterval {
                time_s: self.next as f64 * SHORT_NS as f64 / 1e9,
                transactions: tally.transactions,
                statements: tally.statements,
                pause_s: pause as f64 / (SLOTS * 10) as f64,
                latency_us_p99: p99(tally.latencies_us),
            });
        }
    }

    /// Slots of the longest pause that ends in these or goes on at their end.
    fn longest_pause(&mut self, slots: u128) -> u64 {
        let mut longest = 0;
        for slot in 0..SLOTS {
            if slots >> slot & 1 == 1 {
                self.empty_slots = 0;
            } else {
                self.empty_slots += 1;
                longest = longest.max(self.empty_slots);
            }
        }
        longest
    }
}

/// 0 with none.
fn p99(mut latencies_us: Vec<u32>) -> f64 {
    if latencies_us.is_empty() {
        return 0.0;
    }
    let rank = (latencies_us.len() * 99).div_ceil(100) - 1;
    f64::from(*latencies_us.select_nth_unstable(rank).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(at_ms: &[u64]) -> IntervalFrame {
        let mut frame = IntervalFrame::new(false);
        for at_ms in at_ms {
            frame.short.statement(at_ms * 1_000_000);
            frame.short.transactions(at_ms * 1_000_000, 1, 2_000_000);
        }
        frame
    }

    #[test]
    fn a_pause_is_that_of_all_reporters_over_several_tenths() {
        let mut series = ShortSeries::default();
        let steady: Vec<_> = (0..250).collect();
        series.add(&frame(&steady));
        series.add(&frame(&[10, 251, 600, 601]));
        let found = series.finish(700_000_000);
        assert_eq!(found.len(), 7);
        assert_eq!(found[0].transactions, 101);
        let pauses: Vec<_> = found.iter().map(|one| one.pause_s).collect();
        // From 252 ms on nothing, until 600 ms; then nothing again.
        assert_eq!(pauses, [0.0, 0.0, 0.048, 0.148, 0.248, 0.348, 0.098]);
        assert!((found[0].latency_us_p99 - 2_000.0).abs() < 1e-9);
        assert!((found[6].time_s - 0.7).abs() < 1e-9);
    }

    #[test]
    fn tenths_are_closed_when_nothing_is_added_to_them_any_more() {
        let mut series = ShortSeries::default();
        series.add(&frame(&[5, 1_900]));
        series.close_until(2_000_000_000);
        assert_eq!((series.closed.len(), series.open.len()), (10, 1));
        assert_eq!(series.finish(2_000_000_000).len(), 20);
    }
}

//! Lines of a script that waited, and their times.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Lines that are printed; others are a handful of waits.
const LINES_MAX: usize = 30;

/// Waits of all threads, by line and call; the events themselves have no line.
#[derive(Debug)]
pub(crate) struct Profile {
    began: Instant,
    waits: Mutex<HashMap<(String, String), Waits>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    count: u64,
    seconds: f64,
}

impl Profile {
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            waits: Mutex::default(),
        }
    }

    /// Seconds since it began.
    pub(crate) fn clock_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    pub(crate) fn waited(&self, place: &str, call: &str, seconds: f64) {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = waits
            .entry((place.to_owned(), call.to_owned()))
            .or_default();
        waits.count += 1;
        waits.seconds += seconds;
    }

    /// The table, slowest first.
    pub(crate) fn text(&self) -> String {
        let waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let (events, mut lines): (Vec<_>, Vec<_>) =
            waits.iter().partition(|((place, _), _)| place.is_empty());
        let events = events
            .first()
            .map(|(_, events)| **events)
            .unwrap_or_default();
        let waited_s: f64 = lines.iter().map(|(_, waits)| waits.seconds).sum();
        lines.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then(a.0.cmp(b.0)));
        let share = |seconds: f64| 100.0 * seconds / events.seconds.max(f64::MIN_POSITIVE);
        let mut text =
            "\nWhere the events waited (all threads together):\n     seconds    share      \
                        calls   mean (ms)  line\n"
                .to_owned();
        for ((place, call), waits) in lines.into_iter().take(LINES_MAX) {
            let _ = writeln!(
                text,
                "{:>12.3} {:>7.1}% {:>10} {:>11.3}  {place}, {call}",
                waits.seconds,
                share(waits.seconds),
                waits.count,
                1e3 * waits.seconds / waits.count as f64
            );
        }
        let rest_s = (events.seconds - waited_s).max(0.0);
        let _ = writeln!(
            text,
            "{rest_s:>12.3} {:>7.1}% {:>10} {:>11}  the script itself, and calls that Weir does not see",
            share(rest_s),
            "",
            ""
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_by_the_time_that_they_waited() {
        let profile = Profile::new();
        profile.waited("x.lua:3", "query", 0.25);
        profile.waited("x.lua:5", "execute", 0.5);
        profile.waited("x.lua:3", "query", 0.05);
        profile.waited("", "", 0.6);
        profile.waited("", "", 0.4);
        let text = profile.text();
        let lines: Vec<_> = text.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "       0.500    50.0%          1     500.000  x.lua:5, execute",
                "       0.300    30.0%          2     150.000  x.lua:3, query",
                "       0.200    20.0%                         the script itself, and calls that Weir does not see",
            ]
        );
    }
}

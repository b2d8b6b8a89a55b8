//! Counters and settings of a server over a time: what checks judge by.

use std::collections::BTreeMap;

use super::series::{Series, median};

/// `SHOW GLOBAL STATUS` or settings, by name.
pub(super) type Values = BTreeMap<String, String>;

/// Counters of a window, or of all time since the server started.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    pub(super) settings: Values,
    /// Counters at the beginning; empty: all were 0.
    before: Values,
    after: Values,
    /// Samples within the window; none for the time since the start.
    pub(super) series: Series,
    /// Length, seconds.
    pub(super) seconds: f64,
    /// Memory of the host on which the look runs, and copies would.
    pub(super) memory_bytes: f64,
    /// Statements of the look itself within the window.
    own: f64,
    is_since_start: bool,
}

/// Counters that each statement of the look raises, too.
const OWN: [&str; 4] = ["Created_tmp_tables", "Queries", "Questions", "Select_scan"];

impl Evidence {
    /// Of the window between two readings of the status, `seconds` apart.
    pub(super) fn of_window(
        settings: Values,
        (before, after): (Values, Values),
        series: Series,
        seconds: f64,
        own: u64,
    ) -> Self {
        Self {
            settings,
            before,
            after,
            series,
            seconds: seconds.max(1e-3),
            memory_bytes: f64::INFINITY,
            own: own as f64,
            is_since_start: false,
        }
    }

    /// The same counters since the server started; `None` if it does not say for how long it has run.
    pub(super) fn since_start(&self) -> Option<Self> {
        let seconds = self
            .last("Uptime_since_flush_status")
            .or(self.last("Uptime"))?;
        Some(Self {
            settings: self.settings.clone(),
            before: Values::new(),
            after: self.after.clone(),
            series: Series::default(),
            seconds: seconds.max(1.0),
            memory_bytes: self.memory_bytes,
            own: 0.0,
            is_since_start: true,
        })
    }

    /// Growth of a counter; `None` if the server does not have it or set it back.
    pub(super) fn grown(&self, name: &str) -> Option<f64> {
        let after = self.last(name)?;
        let before = match self.before.get(name) {
            Some(value) => value.parse().ok()?,
            None if self.is_since_start => 0.0,
            None => return None,
        };
        let own = if OWN.contains(&name) { self.own } else { 0.0 };
        let grown: f64 = after - before;
        (grown >= 0.0).then_some((grown - own).max(0.0))
    }

    /// Growth of a counter a second.
    pub(super) fn rate(&self, name: &str) -> Option<f64> {
        Some(self.grown(name)? / self.seconds)
    }

    /// Growth of a counter a second over the window or in the latter half of its seconds, whichever is less: it lasts.
    pub(super) fn lasting_rate(&self, name: &str) -> Option<f64> {
        let all = self.rate(name)?;
        let latter = self
            .series
            .rates(name)
            .map(|rates| median(&rates[rates.len() / 2..]));
        Some(latter.map_or(all, |latter| latter.min(all)))
    }

    /// One counter's growth as a part of another's.
    pub(super) fn share(&self, part: &str, whole: &str) -> Option<f64> {
        let whole = self.grown(whole)?;
        Some(if whole > 0.0 {
            (self.grown(part)? / whole).min(1.0)
        } else {
            0.0
        })
    }

    /// Value at the beginning.
    pub(super) fn first(&self, name: &str) -> Option<f64> {
        self.before.get(name)?.parse().ok()
    }

    /// Value at the end.
    pub(super) fn last(&self, name: &str) -> Option<f64> {
        self.after.get(name)?.parse().ok()
    }

    /// Largest value of a level within the window.
    pub(super) fn most(&self, name: &str) -> Option<f64> {
        let last = self.last(name);
        self.series
            .most(name)
            .into_iter()
            .chain(last)
            .reduce(f64::max)
    }

    /// A setting that is a number.
    pub(super) fn setting(&self, name: &str) -> Option<f64> {
        self.settings.get(name)?.parse().ok()
    }

    /// Size of the redo log with all its files, bytes.
    pub(super) fn redo_bytes(&self) -> Option<f64> {
        self.setting("innodb_redo_log_capacity").or_else(|| {
            let files = self.setting("innodb_log_files_in_group").unwrap_or(1.0);
            Some(self.setting("innodb_log_file_size")? * files)
        })
    }

    /// A setting that is a switch.
    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(
            self.settings.get(name).map(String::as_str),
            Some("ON" | "1")
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Growth of counters in a window of 10 s, with settings.
    pub(in super::super) fn evidence(grown: &[(&str, f64)], settings: &[(&str, &str)]) -> Evidence {
        let at = |factor: f64| -> Values {
            let values = grown.iter();
            values
                .map(|(name, value)| ((*name).to_owned(), (value * factor).to_string()))
                .collect()
        };
        Evidence::of_window(
            values(settings),
            (at(1.0), at(2.0)),
            Series::default(),
            10.0,
            0,
        )
    }

    fn values(pairs: &[(&str, &str)]) -> Values {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn growth_is_without_the_looks_own_statements_and_a_reset_is_no_growth() {
        let before = values(&[("Questions", "100"), ("Innodb_log_waits", "9")]);
        let after = values(&[
            ("Questions", "220"),
            ("Innodb_log_waits", "3"),
            ("Uptime", "44"),
        ]);
        let evidence =
            Evidence::of_window(Values::new(), (before, after), Series::default(), 10.0, 20);
        assert_eq!(evidence.rate("Questions"), Some(10.0));
        assert_eq!(evidence.grown("Innodb_log_waits"), None);
        let all = evidence.since_start().unwrap();
        assert_eq!(all.rate("Questions"), Some(5.0));
        assert_eq!(all.grown("Innodb_log_waits"), Some(3.0));
        assert_eq!(all.grown("Unknown"), None);
    }
}

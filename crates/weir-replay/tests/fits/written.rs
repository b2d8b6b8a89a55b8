//! Captures of logs that a test writes.

use std::fmt::Write as _;
use std::path::PathBuf;

use tempfile::TempDir;
use weir_capture::{Literals, LogFormat, import_log};
use weir_model::{Distribution, FileWorkload, WorkloadSpec};

/// A general log that is being written.
pub(crate) struct Log {
    text: String,
    at_us: u64,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            text: String::new(),
            at_us: 0,
        }
    }

    /// A statement of a session, a millisecond after the last.
    pub(crate) fn query(&mut self, session: u32, sql: &str) {
        self.at_us += 1_000;
        let (second, us) = (self.at_us / 1_000_000, self.at_us % 1_000_000);
        let (hour, minute, second) = (10 + second / 3_600, second / 60 % 60, second % 60);
        let at = format!("2026-11-25T{hour:02}:{minute:02}:{second:02}.{us:06}Z");
        let _ = writeln!(self.text, "{at}\t    {session} Query\t{sql}");
    }

    /// When the next statement will be, as a client writes times.
    pub(crate) fn next_time(&self) -> String {
        let second = (self.at_us + 1_000) / 1_000_000;
        format!(
            "2026-11-25 {:02}:{:02}:{:02}",
            10 + second / 3_600,
            second / 60 % 60,
            second % 60
        )
    }

    /// The capture of it.
    pub(crate) fn capture(&self, directory: &TempDir, literals: Literals) -> PathBuf {
        let log = directory.path().join("general.log");
        let capture = directory.path().join("test.weircap");
        std::fs::write(&log, &self.text).unwrap();
        import_log(&log, LogFormat::General, &capture, literals).unwrap();
        capture
    }
}

/// A workload of this text.
pub(crate) fn workload(text: &str) -> WorkloadSpec {
    WorkloadSpec::File(FileWorkload {
        path: "fitted.toml".into(),
        text: text.into(),
        distribution: Distribution::default(),
    })
}

/// The middle one of the numbers that the file has for a parameter.
pub(crate) fn parameter(text: &str, name: &str) -> f64 {
    let written = format!("{name} = ");
    let given = text.split(&written).skip(1);
    let numbers = given.map(|rest| {
        let end = rest.find([' ', ',', '}']).unwrap();
        rest[..end].parse::<f64>().unwrap()
    });
    let mut numbers: Vec<f64> = numbers.collect();
    assert!(!numbers.is_empty(), "no {name}: {text}");
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

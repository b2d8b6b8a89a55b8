//! Counters of a server for the time of a capture that holds a part of its statements, or none of them.

use serde::{Deserialize, Serialize};

/// Most kinds of statements that a capture counts; further ones are counted together.
const KINDS_MAX: usize = 2_000;
/// Common name of the further ones.
const OTHERS: &str = "(other statements)";

/// Counters of a server, from the beginning of a capture to its end, without the capture's own statements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerCounters {
    /// Statements that the server counted; `None`: its counters were emptied in the meantime.
    pub statements: Option<u64>,
    /// Time of these, microseconds; `None`: the server does not count it.
    pub time_us: Option<u64>,
    /// Statements of these that the source saw.
    pub seen: u64,
    /// Time of the statements that it saw, microseconds; `None`: it saw no ends.
    pub seen_us: Option<u64>,
    /// Polls of the server.
    pub polls: u64,
    /// Time that the answers to all polls took, microseconds.
    pub polling_us: u64,
    /// Kinds of statements by time, the longest first; empty if the server has no digests.
    pub kinds: Vec<CountedKind>,
}

/// A kind of statement, as the server counted it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedKind {
    /// The fingerprint.
    pub text: String,
    /// The schema; empty for none.
    pub schema: String,
    /// Executions.
    pub count: u64,
    /// Their time, microseconds.
    pub time_us: u64,
    /// Executions that the source saw.
    pub seen: u64,
    /// One statement of the kind, with the values that the capture may hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
}

impl ServerCounters {
    /// Returns the share of the statements that the source saw, 0 to 1; `None`: it is not known.
    pub fn share_by_count(&self) -> Option<f64> {
        share(self.seen, self.statements?)
    }

    /// Returns the share of their time, 0 to 1; `None`: it is not known.
    pub fn share_by_time(&self) -> Option<f64> {
        self.statements?;
        share(self.seen_us?, self.time_us?)
    }

    /// Returns the number of statements that the source did not see; 0 if it is not known.
    pub fn unseen(&self) -> u64 {
        self.statements.unwrap_or(0).saturating_sub(self.seen)
    }

    /// Puts the kinds in order, and the rare ones together.
    pub(crate) fn set_kinds(&mut self, mut kinds: Vec<CountedKind>) {
        kinds.sort_by(|a, b| {
            let key = |kind: &CountedKind| (kind.time_us, kind.count);
            key(b).cmp(&key(a)).then_with(|| a.text.cmp(&b.text))
        });
        let rest = kinds.split_off(kinds.len().min(KINDS_MAX));
        if !rest.is_empty() {
            let mut others = CountedKind {
                text: OTHERS.to_owned(),
                ..CountedKind::default()
            };
            for kind in &rest {
                others.add(kind);
            }
            kinds.push(others);
        }
        self.kinds = kinds;
    }
}

impl CountedKind {
    /// Counts another one as this one.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count = sum(self.count, other.count);
        self.time_us = sum(self.time_us, other.time_us);
        self.seen = sum(self.seen, other.seen);
        if self.sample.is_none() {
            self.sample.clone_from(&other.sample);
        }
    }
}

/// A sum, so bounded that a few of them can be added.
fn sum(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(u64::MAX >> 2)
}

/// More than all was not seen: counters are read a moment before or after the statements.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 / whole as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_known_only_with_counters() {
        let mut counters = ServerCounters {
            statements: Some(200),
            seen: 50,
            seen_us: Some(900),
            ..ServerCounters::default()
        };
        assert_eq!(counters.share_by_count(), Some(0.25));
        assert_eq!(counters.share_by_time(), None);
        counters.time_us = Some(1_000);
        assert_eq!(counters.share_by_time(), Some(0.9));
        assert_eq!(counters.unseen(), 150);
        counters.statements = None;
        assert_eq!(counters.share_by_count(), None);
        assert_eq!(counters.share_by_time(), None);
        assert_eq!(counters.unseen(), 0);
    }

    #[test]
    fn rare_kinds_are_counted_together() {
        let kind = |number: u64| CountedKind {
            text: format!("select {number}"),
            count: 1,
            time_us: number,
            ..CountedKind::default()
        };
        let mut counters = ServerCounters::default();
        counters.set_kinds((0..KINDS_MAX as u64 + 10).map(kind).collect());
        assert_eq!(counters.kinds.len(), KINDS_MAX + 1);
        assert_eq!(counters.kinds[0].time_us, KINDS_MAX as u64 + 9);
        let others = counters.kinds.last().unwrap();
        assert_eq!(
            (others.text.as_str(), others.count, others.time_us),
            (OTHERS, 10, 45)
        );
    }
}

//! Questions on settings and indexes: what could matter on this server, by its counters, and has to be tried.
//!
//! A question is no advice: whether the candidate helps, and by how much, only runs on a copy with the server's own load
//! can say. Settings of durability are priced by studies of their own, and never asked here.

mod indexes;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;

use super::evidence::Evidence;
use super::finding::{CounterValue, Unit};
use super::plans::MissingIndex;
pub use indexes::IndexQuestion;
use table::{MANY_CORES, QUESTIONS};

/// Most questions of a screen.
pub const QUESTIONS_MAX: usize = 19;

/// A question on a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Short name, a factor's: `redo_log`.
    pub name: &'static str,
    /// The settings that move together: name, present value, candidate.
    pub settings: Vec<(String, String, String)>,
    /// Why it could matter.
    pub reason: &'static str,
    /// Counters that say so; none if the candidate is only worth a try.
    pub readings: Vec<CounterValue>,
    /// Cost of the candidate, in words.
    pub cost: &'static str,
}

/// Questions on a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Questions {
    /// Questions that a copy can answer, those with counters first.
    pub asked: Vec<Question>,
    /// Indexes that a copy can try, the heaviest first.
    pub indexes: Vec<IndexQuestion>,
    /// Settings whose effect a copy with fewer cores or connections does not show.
    pub not_on_a_copy: Vec<String>,
    /// Settings of durability with their values: they have a price, and are not advised.
    pub durability: Vec<String>,
}

/// A row of the table.
struct Row {
    name: &'static str,
    reason: &'static str,
    cost: &'static str,
    /// Counters that are shown.
    counters: &'static [&'static str],
    /// Candidates of the settings that this server has; `None`: there is nothing to ask.
    candidates: fn(&Evidence) -> Option<BTreeMap<&'static str, String>>,
    /// True if the counters, in the window or since the start, say that it could matter.
    matters: fn(&Evidence) -> bool,
    /// True if it is worth a try without a counter.
    is_always_asked: bool,
}

impl Questions {
    /// Returns the number of changes that a copy can try.
    pub fn count(&self) -> usize {
        self.asked.len() + self.indexes.len()
    }
}

/// The questions that this server's counters, and plans of its heavy statements, raise.
pub(super) fn questions(evidence: &Evidence, missing: &[MissingIndex]) -> Questions {
    let indexes = indexes::indexes(missing);
    let since_start = evidence.since_start();
    let question = |row: &Row| {
        let in_window = (row.matters)(evidence).then(|| readings(row, evidence, Unit::PerSecond));
        let before = since_start.as_ref().filter(|all| (row.matters)(all));
        let shown = in_window.or_else(|| before.map(|all| readings(row, all, Unit::Count)));
        if shown.is_none() && !row.is_always_asked {
            return None;
        }
        let settings = changes(row, evidence)?;
        Some(Question {
            name: row.name,
            settings,
            reason: shown
                .as_ref()
                .map_or("no counter speaks for or against it", |_| row.reason),
            readings: shown.unwrap_or_default(),
            cost: row.cost,
        })
    };
    let mut asked: Vec<Question> = QUESTIONS.iter().filter_map(question).collect();
    asked.sort_by_key(|question| question.readings.is_empty());
    asked.truncate(QUESTIONS_MAX - indexes.len());
    let named = |names: &[&str]| {
        let values = names
            .iter()
            .filter_map(|name| Some(format!("{name} = {}", evidence.settings.get(*name)?)));
        values.collect()
    };
    Questions {
        asked,
        indexes,
        not_on_a_copy: named(&MANY_CORES),
        durability: named(&[
            "innodb_flush_log_at_trx_commit",
            "sync_binlog",
            "innodb_doublewrite",
        ]),
    }
}

/// The counters of a row: their rates in the window, or what they have counted since the start.
fn readings(row: &Row, evidence: &Evidence, unit: Unit) -> Vec<CounterValue> {
    let reading = |name: &&str| {
        let value = match unit {
            Unit::PerSecond => evidence.rate(name)?,
            _ => evidence.grown(name)?,
        };
        Some(CounterValue::new(name, value, unit))
    };
    row.counters.iter().filter_map(reading).collect()
}

/// The settings that the server has and whose candidate is another value.
fn changes(row: &Row, evidence: &Evidence) -> Option<Vec<(String, String, String)>> {
    let candidates = (row.candidates)(evidence)?.into_iter();
    let settings = candidates.filter_map(|(name, candidate)| {
        let present = evidence.settings.get(name)?.clone();
        (present != candidate).then(|| (name.to_owned(), present, candidate))
    });
    let settings: Vec<_> = settings.collect();
    (!settings.is_empty()).then_some(settings)
}

#[cfg(test)]
mod tests;

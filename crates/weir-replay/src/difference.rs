//! Kinds of statements whose outcome is another one than in the capture, with the reasons that their texts name.

use serde::Serialize;
use weir_model::{DifferenceReason, FingerprintRecord, ReplayRecord};
use weir_mysql::{DifferenceExtent, DifferenceSource, difference_sources};

use crate::writers::writes;

/// A kind of statement, and why it can have another outcome on the same data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindDifference {
    /// The kind.
    pub fingerprint: String,
    /// Statements that were sent.
    pub sent: u64,
    /// Those with another number of rows than in the capture.
    pub rows: u64,
    /// Those with another number of changed rows.
    pub affected: u64,
    /// Those with another error, or none.
    pub errors: u64,
    /// Reasons in the text, such as `now() is the time of the execution`.
    pub reasons: Vec<String>,
}

impl KindDifference {
    fn new(kind: &FingerprintRecord) -> Self {
        Self {
            fingerprint: kind.fingerprint.clone(),
            sent: kind.sent,
            rows: kind.rows_differ,
            affected: kind.affected_differ,
            errors: kind.errors_differ,
            reasons: outcome_sources(kind)
                .iter()
                .map(DifferenceSource::words)
                .collect(),
        }
    }

    /// Returns the number of outcomes that differ.
    pub fn outcomes(&self) -> u64 {
        self.rows + self.affected + self.errors
    }
}

/// Returns the kinds with another outcome than in the capture, those with the most of them first.
pub fn outcome_differences(record: &ReplayRecord) -> Vec<KindDifference> {
    let kinds = record.fingerprints.iter().map(KindDifference::new);
    let mut found: Vec<_> = kinds.filter(|kind| kind.outcomes() > 0).collect();
    found.sort_by_key(|kind| std::cmp::Reverse(kind.outcomes()));
    found
}

/// Reasons in the text of a kind of statement, for a comparison of two replays.
pub(crate) fn difference_reasons(fingerprint: &str) -> Vec<DifferenceReason> {
    let sources = difference_sources(fingerprint.as_bytes());
    let reasons = sources.iter().map(|source| DifferenceReason {
        words: source.words(),
        is_of_order: source.extent == DifferenceExtent::Order,
    });
    reasons.collect()
}

/// Sources of a kind of statement, as far as they change its outcome.
fn outcome_sources(kind: &FingerprintRecord) -> Vec<DifferenceSource> {
    let sources = difference_sources(kind.fingerprint.as_bytes());
    let of_outcome = sources
        .into_iter()
        .filter(|source| source.extent == DifferenceExtent::Outcome);
    of_outcome.collect()
}

/// Returns true if a source gives other values in this replay. A value of statements before does so if one of them has
/// a source of its own.
fn differs(source: &DifferenceSource, record: &ReplayRecord) -> bool {
    if !source.is_derived() {
        return true;
    }
    if source.part == "last_insert_id()" {
        return record.fidelity.insert_ids_differ > 0;
    }
    let mut before = record.fingerprints.iter().filter(|kind| kind.sent > 0);
    before.any(|kind| {
        let gives = kind.fingerprint.contains(&*source.part) || !source.part.starts_with('@');
        gives
            && outcome_sources(kind)
                .iter()
                .any(|other| !other.is_derived())
    })
}

/// Returns the kinds that were sent and write what depends on more than the data, the most frequent first. After them the
/// tables can differ from those of the capture, whatever was counted.
pub fn table_differences(record: &ReplayRecord) -> Vec<KindDifference> {
    let kinds = record.fingerprints.iter();
    let written = kinds.filter(|kind| kind.sent > 0 && writes(&kind.fingerprint));
    let written = written.map(|kind| {
        let sources = outcome_sources(kind).into_iter();
        let reasons = sources.filter(|source| differs(source, record));
        KindDifference {
            reasons: reasons.map(|source| source.words()).collect(),
            ..KindDifference::new(kind)
        }
    });
    let mut found: Vec<_> = written.filter(|kind| !kind.reasons.is_empty()).collect();
    found.sort_by_key(|kind| std::cmp::Reverse(kind.sent));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(fingerprint: &str, sent: u64, rows_differ: u64) -> FingerprintRecord {
        FingerprintRecord {
            fingerprint: fingerprint.to_owned(),
            sent,
            rows_differ,
            ..FingerprintRecord::default()
        }
    }

    #[test]
    fn differences_have_reasons_where_the_text_names_one() {
        let record = ReplayRecord {
            fingerprints: vec![
                kind("select a from t where b < now()", 9, 2),
                kind("select a from t where b = ?", 9, 5),
                kind("insert into t values (?, uuid())", 7, 0),
                kind("insert into t values (?+)", 7, 0),
                kind("set @a = ?", 7, 0),
                kind("insert into t values (?, @a)", 7, 0),
                kind("set @b = uuid()", 7, 0),
                kind("insert into t values (?, @b)", 6, 0),
                kind("delete from t limit ?", 0, 0),
            ],
            ..ReplayRecord::default()
        };
        let told = |found: Vec<KindDifference>| -> Vec<(String, Vec<String>)> {
            let found = found.into_iter();
            found.map(|kind| (kind.fingerprint, kind.reasons)).collect()
        };
        assert_eq!(
            told(outcome_differences(&record)),
            [
                ("select a from t where b = ?".to_owned(), vec![]),
                (
                    "select a from t where b < now()".to_owned(),
                    vec!["now() is the time of the execution".to_owned()]
                ),
            ]
        );
        assert_eq!(
            told(table_differences(&record)),
            [
                (
                    "insert into t values (?, uuid())".to_owned(),
                    vec!["uuid() is another value in each call".to_owned()]
                ),
                (
                    "insert into t values (?, @b)".to_owned(),
                    vec!["@b has a value of statements before".to_owned()]
                )
            ]
        );
    }
}

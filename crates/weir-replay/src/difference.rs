//! Kinds of statements whose outcome is another one than in the capture, with the reasons in their texts and in the data.

use serde::Serialize;
use weir_model::{DifferenceReason, FingerprintRecord, ReplayFidelity, ReplayRecord};
use weir_mysql::{DifferenceExtent, DifferenceSource, difference_sources};

use crate::ReplayOutcome;
use crate::data_sources::DataReason;
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
    /// Reasons in the text, such as `now() is the time of the execution`, and those of defaults, triggers, routines and views.
    pub reasons: Vec<String>,
}

impl KindDifference {
    fn new(kind: &FingerprintRecord, reasons: Vec<String>) -> Self {
        Self {
            fingerprint: kind.fingerprint.clone(),
            sent: kind.sent,
            rows: kind.rows_differ,
            affected: kind.affected_differ,
            errors: kind.errors_differ,
            reasons,
        }
    }

    /// Returns the number of outcomes that differ.
    pub fn outcomes(&self) -> u64 {
        self.rows + self.affected + self.errors
    }
}

/// Returns the kinds with another outcome than in the capture, those with the most of them first.
pub fn outcome_differences(outcome: &ReplayOutcome) -> Vec<KindDifference> {
    of_outcomes(&outcome.record, &outcome.data_reasons)
}

fn of_outcomes(record: &ReplayRecord, data_reasons: &[Vec<DataReason>]) -> Vec<KindDifference> {
    let kinds = record.fingerprints.iter().zip(data_reasons);
    let kinds = kinds.map(|(kind, of_data)| {
        let reasons = outcome_sources(kind).into_iter();
        let of_data = of_data.iter().map(|reason| reason.words.clone());
        let reasons = reasons.map(|source| source.words()).chain(of_data);
        KindDifference::new(kind, reasons.collect())
    });
    let mut found: Vec<_> = kinds.filter(|kind| kind.outcomes() > 0).collect();
    found.sort_by_key(|kind| std::cmp::Reverse(kind.outcomes()));
    found
}

/// Reasons of a kind of statement, in its text and in the data, for a comparison of two replays.
pub(crate) fn difference_reasons(
    fingerprint: &str,
    of_data: &[DataReason],
) -> Vec<DifferenceReason> {
    let sources = difference_sources(fingerprint.as_bytes()).into_iter();
    let reasons = sources.map(|source| DifferenceReason {
        words: source.words(),
        is_of_order: source.extent == DifferenceExtent::Order,
    });
    let of_data = of_data.iter().map(|reason| DifferenceReason {
        words: reason.words.clone(),
        is_of_order: false,
    });
    reasons.chain(of_data).collect()
}

/// Sources of a kind of statement, as far as they change its outcome.
fn outcome_sources(kind: &FingerprintRecord) -> Vec<DifferenceSource> {
    let sources = difference_sources(kind.fingerprint.as_bytes());
    let of_outcome = sources
        .into_iter()
        .filter(|source| source.extent == DifferenceExtent::Outcome);
    of_outcome.collect()
}

/// Returns true if a source gives other values in this replay. A value of statements before does so if one of those that
/// give other values by themselves, `giving`, can be its statement.
fn differs(source: &DifferenceSource, giving: &[&str], fidelity: &ReplayFidelity) -> bool {
    if !source.is_derived() {
        return true;
    }
    if source.part == "last_insert_id()" {
        return fidelity.insert_ids_differ > 0;
    }
    let is_any = !source.part.starts_with('@');
    let mut giving = giving.iter();
    giving.any(|fingerprint| is_any || fingerprint.contains(&*source.part))
}

/// Returns the kinds that were sent and write what depends on more than the data, the most frequent first. After them the
/// tables can differ from those of the capture, whatever was counted.
pub fn table_differences(outcome: &ReplayOutcome) -> Vec<KindDifference> {
    of_tables(&outcome.record, &outcome.data_reasons)
}

fn of_tables(record: &ReplayRecord, data_reasons: &[Vec<DataReason>]) -> Vec<KindDifference> {
    let kinds = record.fingerprints.iter();
    let sent: Vec<_> = kinds
        .zip(data_reasons)
        .filter(|(kind, _)| kind.sent > 0)
        .map(|(kind, of_data)| (kind, outcome_sources(kind), of_data))
        .collect();
    let gives = |sources: &[DifferenceSource], of_data: &[DataReason]| {
        !of_data.is_empty() || sources.iter().any(|source| !source.is_derived())
    };
    let giving = sent
        .iter()
        .filter(|(_, sources, of_data)| gives(sources, of_data));
    let giving: Vec<_> = giving.map(|(kind, ..)| kind.fingerprint.as_str()).collect();
    let kinds = sent.iter().map(|(kind, sources, of_data)| {
        let of_text = sources.iter().filter(|source| {
            writes(&kind.fingerprint) && differs(source, &giving, &record.fidelity)
        });
        let of_data = of_data.iter().filter(|reason| reason.is_written);
        let of_data = of_data.map(|reason| reason.words.clone());
        let reasons = of_text.map(DifferenceSource::words).chain(of_data);
        KindDifference::new(kind, reasons.collect())
    });
    let mut found: Vec<_> = kinds.filter(|kind| !kind.reasons.is_empty()).collect();
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
    fn differences_have_reasons_where_the_text_or_the_data_name_one() {
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
                kind("insert into t (a) values (?)", 5, 0),
                kind("select n from recent", 4, 1),
                kind("set @c = token()", 4, 0),
                kind("insert into t values (@c)", 4, 0),
            ],
            ..ReplayRecord::default()
        };
        let mut of_data = vec![Vec::new(); record.fingerprints.len()];
        for (number, words, is_written) in [
            (9, "default", true),
            (10, "view", false),
            (11, "routine", false),
        ] {
            let words = words.to_owned();
            of_data[number].push(DataReason { words, is_written });
        }
        let told = |found: Vec<KindDifference>| -> Vec<(String, Vec<String>)> {
            let found = found.into_iter();
            found.map(|kind| (kind.fingerprint, kind.reasons)).collect()
        };
        assert_eq!(
            told(of_outcomes(&record, &of_data)),
            [
                ("select a from t where b = ?".to_owned(), vec![]),
                (
                    "select a from t where b < now()".to_owned(),
                    vec!["now() is the time of the execution".to_owned()]
                ),
                ("select n from recent".to_owned(), vec!["view".to_owned()]),
            ]
        );
        assert_eq!(
            told(of_tables(&record, &of_data)),
            [
                (
                    "insert into t values (?, uuid())".to_owned(),
                    vec!["uuid() is another value in each call".to_owned()]
                ),
                (
                    "insert into t values (?, @b)".to_owned(),
                    vec!["@b has a value of statements before".to_owned()]
                ),
                (
                    "insert into t (a) values (?)".to_owned(),
                    vec!["default".to_owned()]
                ),
                (
                    "insert into t values (@c)".to_owned(),
                    vec!["@c has a value of statements before".to_owned()]
                ),
            ]
        );
    }
}

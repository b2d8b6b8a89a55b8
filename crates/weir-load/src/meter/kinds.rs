//! Latencies by kind of transaction and by statement.
//!
//! A histogram takes 270 KiB, whatever it holds. Each kind has one once it has occurred, in each of
//! a reactor's three tallies and twice in the merger.

use std::fmt;

use hdrhistogram::Histogram;

use serde::{Deserialize, Serialize};

use super::{histogram_v2, new_histogram};

/// Subject of a latency: positions in the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Transaction(usize),
    Statement(usize),
}

/// Latencies in nanoseconds, by kind.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "EncodedKinds", into = "EncodedKinds")]
pub(crate) struct KindLatencies {
    transactions: Vec<Histogram<u64>>,
    statements: Vec<Histogram<u64>>,
}

/// As bytes, transactions' and statements'.
#[derive(Serialize, Deserialize)]
struct EncodedKinds {
    transactions: Vec<Vec<u8>>,
    statements: Vec<Vec<u8>>,
}

impl From<KindLatencies> for EncodedKinds {
    fn from(kinds: KindLatencies) -> Self {
        let bytes = |histograms: &[Histogram<u64>]| {
            let written = histograms.iter().map(histogram_v2::bytes);
            // Into memory: there is no error.
            written.map(Result::unwrap_or_default).collect()
        };
        Self {
            transactions: bytes(&kinds.transactions),
            statements: bytes(&kinds.statements),
        }
    }
}

impl TryFrom<EncodedKinds> for KindLatencies {
    type Error = String;

    fn try_from(written: EncodedKinds) -> Result<Self, String> {
        let read = |all: &[Vec<u8>]| -> Result<Vec<_>, String> {
            let bytes = all.iter();
            bytes.map(|bytes| histogram_v2::of_bytes(bytes)).collect()
        };
        Ok(Self {
            transactions: read(&written.transactions)?,
            statements: read(&written.statements)?,
        })
    }
}

impl KindLatencies {
    /// Adds a latency.
    pub(crate) fn record(&mut self, kind: Kind, latency_ns: u64) {
        self.of_mut(kind).saturating_record(latency_ns);
    }

    /// Adds those of another interval or reactor.
    pub(crate) fn add(&mut self, other: &Self) {
        for (index, histogram) in other.transactions.iter().enumerate() {
            super::add_histogram(self.of_mut(Kind::Transaction(index)), histogram);
        }
        for (index, histogram) in other.statements.iter().enumerate() {
            super::add_histogram(self.of_mut(Kind::Statement(index)), histogram);
        }
    }

    /// Moves the statements from `first` on to these positions after it; those without one are dropped.
    pub(crate) fn move_statements(&mut self, first: usize, positions: &[Option<usize>]) {
        let moved = self.statements.split_off(first.min(self.statements.len()));
        for (histogram, position) in moved.iter().zip(positions) {
            if let Some(position) = position.filter(|_| !histogram.is_empty()) {
                super::add_histogram(self.of_mut(Kind::Statement(first + position)), histogram);
            }
        }
    }

    /// Forgets all, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        for histogram in self.transactions.iter_mut().chain(&mut self.statements) {
            histogram.reset();
        }
    }

    /// The latencies of a kind that has occurred.
    pub(crate) fn histogram(&self, kind: Kind) -> Option<&Histogram<u64>> {
        let histogram = match kind {
            Kind::Transaction(index) => self.transactions.get(index),
            Kind::Statement(index) => self.statements.get(index),
        };
        histogram.filter(|histogram| !histogram.is_empty())
    }

    fn of_mut(&mut self, kind: Kind) -> &mut Histogram<u64> {
        let (histograms, index) = match kind {
            Kind::Transaction(index) => (&mut self.transactions, index),
            Kind::Statement(index) => (&mut self.statements, index),
        };
        if index >= histograms.len() {
            histograms.resize_with(index + 1, new_histogram);
        }
        &mut histograms[index]
    }
}

impl fmt::Debug for KindLatencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (transactions, statements) = (self.transactions.len(), self.statements.len());
        write!(f, "KindLatencies({transactions} + {statements})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_kept_apart_and_add_up() {
        let mut sum = KindLatencies::default();
        let mut part = KindLatencies::default();
        part.record(Kind::Statement(2), 100);
        part.record(Kind::Transaction(0), 900);
        sum.add(&part);
        part.clear();
        part.record(Kind::Statement(2), 300);
        sum.add(&part);
        let count = |kind| sum.histogram(kind).map(Histogram::len);
        assert_eq!(count(Kind::Statement(2)), Some(2));
        assert_eq!(count(Kind::Transaction(0)), Some(1));
        assert_eq!(count(Kind::Statement(1)), None, "never occurred");
        assert_eq!(count(Kind::Statement(9)), None);
    }
}

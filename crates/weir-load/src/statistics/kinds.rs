//! Latency by kind of transaction and by statement, with names.

use hdrhistogram::Histogram;
use weir_model::KindLatency;

use super::summary;
use crate::meter::{Kind, KindLatencies};
use crate::session::SessionKinds;

/// Names of the kinds of a load in reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct KindNames(SessionKinds);

impl KindNames {
    pub(crate) fn new(kinds: SessionKinds) -> Self {
        Self(kinds)
    }

    /// The kinds that occurred: transactions, then statements, in the script's order.
    pub(crate) fn occurred<'a>(
        &'a self,
        latencies: &'a KindLatencies,
    ) -> impl Iterator<Item = (Kind, &'a str, &'a Histogram<u64>)> {
        let transactions = self.0.transactions.iter().enumerate();
        let statements = self.0.statements.iter().map(String::as_str);
        let statements = statements.chain(self.0.found.names()).enumerate();
        transactions
            .map(|(index, name)| (Kind::Transaction(index), name.as_str()))
            .chain(statements.map(|(index, name)| (Kind::Statement(index), name)))
            .filter_map(|(kind, name)| Some((kind, name, latencies.histogram(kind)?)))
    }
}

pub(super) fn summaries(names: &KindNames, latencies: &KindLatencies) -> Vec<KindLatency> {
    names
        .occurred(latencies)
        .map(|(kind, name, histogram)| KindLatency {
            name: name.to_owned(),
            is_statement: matches!(kind, Kind::Statement(_)),
            count: histogram.len(),
            latency: summary(
                histogram,
                (histogram.mean() * histogram.len() as f64) as u64,
            ),
        })
        .collect()
}

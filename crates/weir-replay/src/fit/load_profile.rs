//! Common traits of transactions: which statements, in which order, and how their values fall.

use std::collections::HashMap;

/// Values of one place in a statement that are kept.
const VALUES_MAX: usize = 20_000;

/// A value, as far as two loads can be compared by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    Number(i64),
    /// A text by its hash.
    Text(u64),
    /// Something that is not compared.
    Unknown,
}

/// A statement of a transaction.
#[derive(Debug, Clone)]
pub(crate) struct ProfiledStatement {
    pub(crate) fingerprint: String,
    pub(crate) values: Vec<Mark>,
}

/// Counts of a load.
#[derive(Debug, Default)]
pub(crate) struct LoadProfile {
    pub(crate) transactions: u64,
    pub(crate) statements: u64,
    pub(crate) by_fingerprint: HashMap<String, u64>,
    pub(crate) by_sequence: HashMap<String, u64>,
    /// Values by statement and position.
    pub(crate) values: HashMap<(String, usize), Vec<Mark>>,
    /// Values, and those of them that stood before in their transaction.
    pub(crate) all_values: u64,
    pub(crate) repeated_values: u64,
}

impl LoadProfile {
    /// Counts a transaction.
    pub(crate) fn take(&mut self, asked: &[ProfiledStatement]) {
        self.transactions += 1;
        self.statements += asked.len() as u64;
        let mut seen = Vec::new();
        let mut names: Vec<&str> = asked
            .iter()
            .map(|asked| asked.fingerprint.as_str())
            .collect();
        for asked in asked {
            *self
                .by_fingerprint
                .entry(asked.fingerprint.clone())
                .or_default() += 1;
            for (position, mark) in asked.values.iter().enumerate() {
                let values = self
                    .values
                    .entry((asked.fingerprint.clone(), position))
                    .or_default();
                if values.len() < VALUES_MAX {
                    values.push(*mark);
                }
                self.all_values += 1;
                self.repeated_values += u64::from(seen.contains(mark));
                if *mark != Mark::Unknown && seen.len() < 100 {
                    seen.push(*mark);
                }
            }
        }
        // A repetition's length is no order.
        names.dedup();
        *self.by_sequence.entry(names.join("; ")).or_default() += 1;
    }

    /// Statements in a transaction.
    pub(crate) fn mean_statements(&self) -> f64 {
        self.statements as f64 / self.transactions.max(1) as f64
    }

    /// Share of the values that stood before in their transaction.
    pub(crate) fn repeated(&self) -> f64 {
        self.repeated_values as f64 / self.all_values.max(1) as f64
    }
}

/// Half of the sum of the differences of all shares: 0 for the same, 1 for nothing in common.
pub(crate) fn total_variation(a: &HashMap<String, u64>, b: &HashMap<String, u64>) -> f64 {
    let total = |counts: &HashMap<String, u64>| counts.values().sum::<u64>().max(1) as f64;
    let (of_a, of_b) = (total(a), total(b));
    let share = |counts: &HashMap<String, u64>, name: &str, total: f64| {
        counts.get(name).copied().unwrap_or(0) as f64 / total
    };
    let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let differences = names
        .iter()
        .map(|name| (share(a, name, of_a) - share(b, name, of_b)).abs());
    differences.sum::<f64>() / 2.0
}

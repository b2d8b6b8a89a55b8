//! A workload as what a driver does: kinds of transactions, each a list of steps.

use super::{Generator, Rng, Statement, StatementProtocol};
use crate::WorkloadError;

/// A workload, ready to be driven.
#[derive(Debug, Clone)]
pub struct Script {
    /// The kinds of transactions; none where others decide what comes next.
    pub transactions: Vec<Transaction>,
    /// All statements; a step names one by its position.
    pub statements: Vec<Statement>,
    /// Values that a transaction keeps from one statement to the next.
    pub slots: usize,
    /// Sums of the transactions' weights up to and with each.
    weight_up_to: Vec<u64>,
}

/// A kind of transaction.
#[derive(Debug, Clone)]
pub struct Transaction {
    /// Name in reports.
    pub name: String,
    /// Weight: its frequency in proportion to the others.
    pub weight: u32,
    /// Steps of the transaction, in order; never empty.
    pub steps: Vec<Step>,
    /// It opens a transaction of the server, to be rolled back when a statement fails.
    pub is_explicit: bool,
}

/// A step of a transaction.
#[derive(Debug, Clone)]
pub enum Step {
    /// A statement.
    Execute(Execution),
    /// A statement full of rows for the connection's own table.
    Bulk,
}

/// A statement that is executed.
#[derive(Debug, Clone)]
pub struct Execution {
    /// Position of the statement in the script.
    pub statement: usize,
    /// Chooses a table before; otherwise it is the one of the step before.
    pub new_table: bool,
    /// Values that are drawn before, with the slots that keep them.
    pub draws: Vec<(usize, Generator)>,
}

impl Script {
    /// A script of these transactions.
    ///
    /// # Errors
    ///
    /// Transactions that together weigh nothing, or one without statements.
    pub fn new(
        transactions: Vec<Transaction>,
        statements: Vec<Statement>,
        slots: usize,
    ) -> Result<Self, WorkloadError> {
        let mut sum = 0;
        let weight_up_to: Vec<u64> = transactions
            .iter()
            .map(|transaction| {
                sum += u64::from(transaction.weight);
                sum
            })
            .collect();
        if sum == 0 {
            return Err(WorkloadError::Setting {
                setting: "weights",
                value: "0".to_owned(),
                why: "at least one kind of transaction must weigh more than 0",
            });
        }
        if let Some(empty) = transactions.iter().find(|t| t.steps.is_empty()) {
            return Err(WorkloadError::Setting {
                setting: "transaction",
                value: empty.name.clone(),
                why: "needs at least one statement",
            });
        }
        Ok(Self {
            transactions,
            statements,
            slots,
            weight_up_to,
        })
    }

    /// A script without transactions, for a caller that decides while the load runs.
    pub fn empty() -> Self {
        Self {
            transactions: Vec::new(),
            statements: Vec::new(),
            slots: 0,
            weight_up_to: Vec::new(),
        }
    }

    /// A script of statements without transactions, for a caller that decides while the load runs which comes next.
    pub fn of_statements(statements: Vec<Statement>) -> Self {
        Self {
            statements,
            ..Self::empty()
        }
    }

    /// Sends every statement as text, with its values as literals.
    pub fn send_as_text(&mut self) {
        for statement in &mut self.statements {
            statement.sending = StatementProtocol::Text;
        }
    }

    /// Each statement with each of its tables, counted from 0; in the order of a connection's handles.
    pub fn on_tables(&self) -> impl Iterator<Item = (&Statement, u32)> + Clone {
        let statements = self.statements.iter();
        statements.flat_map(|statement| (0..statement.tables).map(move |table| (statement, table)))
    }

    /// Statements that a connection prepares for it, each on each of its tables.
    pub fn prepared_statements(&self) -> u64 {
        let is_prepared = |statement: &&Statement| statement.sending == StatementProtocol::Prepared;
        let statements = self.statements.iter().filter(is_prepared);
        statements
            .map(|statement| u64::from(statement.tables))
            .sum()
    }

    /// The kind of the next transaction. One that has no choice needs no randomness.
    pub fn choose(&self, rng: &mut Rng) -> usize {
        if self.transactions.len() == 1 {
            return 0;
        }
        rng.choose_by_weight(&self.weight_up_to)
    }

    /// Returns true if its connections fill tables of their own.
    pub fn is_bulk(&self) -> bool {
        let first = self.transactions.first();
        first.is_some_and(|first| matches!(first.steps[..], [Step::Bulk]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded;

    fn transaction(name: &str, weight: u32) -> Transaction {
        Transaction {
            name: name.to_owned(),
            weight,
            steps: vec![Step::Bulk],
            is_explicit: false,
        }
    }

    #[test]
    fn transactions_come_in_proportion_to_their_weights() {
        let kinds = vec![
            transaction("a", 80),
            transaction("b", 0),
            transaction("c", 20),
        ];
        let script = Script::new(kinds, Vec::new(), 0).unwrap();
        let mut rng = seeded(3, 0);
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            counts[script.choose(&mut rng)] += 1;
        }
        assert_eq!(counts[1], 0);
        // 8,000 with a standard deviation of 40.
        assert!((7_800..8_200).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn a_script_without_weight_or_steps_is_refused() {
        assert!(Script::new(vec![transaction("a", 0)], Vec::new(), 0).is_err());
        let mut empty = transaction("a", 1);
        empty.steps.clear();
        assert!(Script::new(vec![empty], Vec::new(), 0).is_err());
    }
}

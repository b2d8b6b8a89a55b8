//! The numbers of new rows that a run chooses itself, and where in the tables they go.
//!
//! Two runs on the same tables must not choose the same ones. Who knows what is in the tables says where each
//! source goes on.

use std::collections::BTreeSet;
use std::sync::Arc;

use weir_mysql::StatementText;

use crate::{Generator, Parameter, Script, Sequence, Step, Unique};

/// A source of numbers that a script puts into new rows.
#[derive(Debug)]
pub struct NewNumber {
    /// Source of the numbers.
    pub source: NumberSource,
    /// Tables and columns that they go to.
    pub columns: BTreeSet<(String, String)>,
}

/// Source of numbers for new rows; shared by all connections.
#[derive(Debug, Clone)]
pub enum NumberSource {
    /// Ascending.
    Sequence(Arc<Sequence>),
    /// In no order.
    Unique(Arc<Unique>),
}

impl NumberSource {
    fn new(generator: &Generator) -> Option<Self> {
        match generator {
            Generator::Sequence(next) => Some(Self::Sequence(Arc::clone(next))),
            Generator::Unique(unique) => Some(Self::Unique(Arc::clone(unique))),
            _ => None,
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sequence(a), Self::Sequence(b)) => Arc::ptr_eq(a, b),
            (Self::Unique(a), Self::Unique(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Script {
    /// The sources of numbers that its statements insert, each once.
    pub fn new_numbers(&self) -> Vec<NewNumber> {
        let mut found: Vec<NewNumber> = Vec::new();
        for (position, statement) in self.statements.iter().enumerate() {
            let sources: Vec<_> = statement
                .parameters
                .iter()
                .map(|parameter| self.number_source(position, parameter))
                .collect();
            if sources.iter().all(Option::is_none) {
                continue;
            }
            for table in 0..statement.tables {
                let text = StatementText::read(&statement.sql(table));
                for inserted in text.inserted_columns() {
                    if let Some(Some(source)) = sources.get(inserted.parameter) {
                        note(&mut found, source, (inserted.table, inserted.column));
                    }
                }
            }
        }
        found
    }

    /// The source of a statement's parameter, which may be a value of the transaction.
    fn number_source(&self, statement: usize, parameter: &Parameter) -> Option<NumberSource> {
        let slot = match parameter {
            Parameter::Draw(generator) => return NumberSource::new(generator),
            Parameter::Slot(slot, _) => slot,
            Parameter::SlotPlus(..) => return None,
        };
        let is_of = |step: &&Step| matches!(step, Step::Execute(execution) if execution.statement == statement);
        let transactions = self.transactions.iter();
        let mut transactions = transactions.filter(|t| t.steps.iter().any(|step| is_of(&step)));
        let steps = &transactions.next()?.steps;
        let mut draws = steps.iter().flat_map(|step| match step {
            Step::Execute(execution) => execution.draws.as_slice(),
            Step::Bulk => &[],
        });
        let (_, generator) = draws.find(|(drawn, _)| drawn == slot)?;
        NumberSource::new(generator)
    }
}

fn note(found: &mut Vec<NewNumber>, source: &NumberSource, column: (String, String)) {
    match found.iter_mut().find(|known| known.source.is(source)) {
        Some(known) => drop(known.columns.insert(column)),
        None => found.push(NewNumber {
            source: source.clone(),
            columns: BTreeSet::from([column]),
        }),
    }
}

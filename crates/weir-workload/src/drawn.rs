//! Transactions as a connection draws them, for those that look at a load without sending it.

use std::collections::HashMap;

use super::{Drawer, Generator, Parameter, Rng, Script, Step, Value};

/// A statement of a transaction that was drawn.
#[derive(Debug, Clone)]
pub struct DrawnStatement<'a> {
    /// Position in the script.
    pub statement: usize,
    /// The values of its question marks, in order.
    pub values: Vec<DrawnValue<'a>>,
}

/// A value that was drawn.
#[derive(Debug, Clone)]
pub struct DrawnValue<'a> {
    /// Generator of the value.
    pub source: &'a Generator,
    drawn: ScalarValue,
}

#[derive(Debug, Clone)]
enum ScalarValue {
    Integer(i64),
    Text(Vec<u8>),
}

impl<'a> DrawnValue<'a> {
    fn draw(source: &'a Generator, rng: &mut Rng) -> Self {
        let drawn = match source.draw(Drawer::default(), rng, &mut Vec::new()) {
            Value::Integer(number) => ScalarValue::Integer(number),
            Value::Text(text) => ScalarValue::Text(text.to_vec()),
        };
        Self { source, drawn }
    }

    /// The value.
    pub fn get(&self) -> Value<'_> {
        match &self.drawn {
            ScalarValue::Integer(number) => Value::Integer(*number),
            ScalarValue::Text(text) => Value::Text(text),
        }
    }

    fn plus(mut self, more: u32) -> Self {
        if let ScalarValue::Integer(number) = &mut self.drawn {
            *number = (*number + i64::from(more)).min(i64::from(i32::MAX));
        }
        self
    }
}

impl Script {
    /// The next transaction of the first connection. Statements full of rows are left out.
    pub fn draw(&self, rng: &mut Rng) -> Vec<DrawnStatement<'_>> {
        let transaction = &self.transactions[self.choose(rng)];
        let mut slots: HashMap<usize, DrawnValue<'_>> = HashMap::new();
        let mut drawn = Vec::new();
        for step in &transaction.steps {
            let Step::Execute(execution) = step else {
                continue;
            };
            for (slot, source) in &execution.draws {
                slots.insert(*slot, DrawnValue::draw(source, rng));
            }
            let parameters = &self.statements[execution.statement].parameters;
            let values = parameters.iter().filter_map(|parameter| match parameter {
                Parameter::Draw(source) => Some(DrawnValue::draw(source, rng)),
                Parameter::Slot(slot, _) => slots.get(slot).cloned(),
                Parameter::SlotPlus(slot, more) => Some(slots.get(slot)?.clone().plus(*more)),
            });
            drawn.push(DrawnStatement {
                statement: execution.statement,
                values: values.collect(),
            });
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use weir_model::WorkloadName;

    use super::*;
    use crate::{ScriptInputs, Workload, seeded};

    #[test]
    fn a_range_ends_where_it_begins_and_so_much_more() {
        let inputs = ScriptInputs {
            tables: 1,
            rows: 1_000,
            connections: 1,
            seed: 1,
            auto_increment: true,
        };
        let workload = Workload::from(weir_model::SysbenchWorkload::from(
            WorkloadName::OltpReadOnly,
        ));
        let script = workload.script(&inputs).unwrap();
        let mut rng = seeded(1, 0);
        let drawn = script.draw(&mut rng);
        let range = drawn.iter().find_map(|drawn| match &drawn.values[..] {
            [first, last] => Some((first.get(), last.get())),
            _ => None,
        });
        let Some((Value::Integer(first), Value::Integer(last))) = range else {
            panic!("{drawn:?}");
        };
        assert_eq!(last - first, 99);
        for statement in &drawn {
            let marks = script.statements[statement.statement].parameters.len();
            assert_eq!(statement.values.len(), marks);
        }
    }
}

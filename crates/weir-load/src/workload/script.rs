//! A transaction as a list of steps.

use weir_model::WorkloadName;

use super::Statement;
use crate::LoadError;

/// How many statements of each kind a transaction has, in sysbench's options and defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// Rows of a range.
    pub range_size: u32,
    /// Selects by primary key.
    pub point_selects: u32,
    /// Selects of a range of rows.
    pub simple_ranges: u32,
    /// Sums over a range.
    pub sum_ranges: u32,
    /// Sorted ranges.
    pub order_ranges: u32,
    /// Sorted ranges without duplicates.
    pub distinct_ranges: u32,
    /// Whether the four kinds of range select are used at all.
    pub range_selects: bool,
    /// Updates of the indexed column.
    pub index_updates: u32,
    /// Updates of a column without index.
    pub non_index_updates: u32,
    /// Pairs of a delete and an insert of the same row.
    pub delete_inserts: u32,
    /// Each statement on its own instead of all in one transaction.
    pub skip_transactions: bool,
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            range_size: 100,
            point_selects: 10,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            range_selects: true,
            index_updates: 1,
            non_index_updates: 1,
            delete_inserts: 1,
            skip_transactions: false,
        }
    }
}

/// One statement of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Opens the transaction.
    Begin,
    /// Makes it durable.
    Commit,
    /// A statement on a table.
    Table {
        /// Which.
        statement: Statement,
        /// Chooses a table; otherwise it works on the same one as the step before.
        new_table: bool,
        /// Chooses a row; otherwise it is the same row as in the step before.
        new_key: bool,
    },
}

/// A transaction's steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    /// The steps, in order; never empty.
    pub(crate) steps: Vec<Step>,
    /// Rows of a range.
    pub(crate) range_size: u32,
}

impl Script {
    /// The script of a workload.
    pub(crate) fn new(workload: WorkloadName, mix: &Mix) -> Result<Self, LoadError> {
        let mut steps = Vec::new();
        let reads = matches!(
            workload,
            WorkloadName::OltpReadOnly | WorkloadName::OltpReadWrite
        );
        let writes = matches!(
            workload,
            WorkloadName::OltpWriteOnly | WorkloadName::OltpReadWrite
        );
        if workload == WorkloadName::OltpPointSelect {
            add(&mut steps, Statement::PointSelect, 1);
        }
        if reads {
            add(&mut steps, Statement::PointSelect, mix.point_selects);
            if mix.range_selects {
                add(&mut steps, Statement::SimpleRange, mix.simple_ranges);
                add(&mut steps, Statement::SumRange, mix.sum_ranges);
                add(&mut steps, Statement::OrderRange, mix.order_ranges);
                add(&mut steps, Statement::DistinctRange, mix.distinct_ranges);
            }
        }
        if writes {
            add(&mut steps, Statement::UpdateIndex, mix.index_updates);
            add(&mut steps, Statement::UpdateNonIndex, mix.non_index_updates);
            for pair in 0..mix.delete_inserts {
                steps.push(step(Statement::Delete, pair == 0, true));
                steps.push(step(Statement::Insert, false, false));
            }
        }
        if steps.is_empty() {
            return Err(LoadError::Setting {
                setting: "statements per transaction",
                value: "0".to_owned(),
                why: "a transaction needs at least one statement",
            });
        }
        if (reads || writes) && !mix.skip_transactions {
            steps.insert(0, Step::Begin);
            steps.push(Step::Commit);
        }
        Ok(Self {
            steps,
            range_size: mix.range_size,
        })
    }

    /// The statements that it uses, each once, in their order.
    pub(crate) fn statements(&self) -> Vec<Statement> {
        Statement::ALL
            .into_iter()
            .filter(|candidate| {
                self.steps.iter().any(
                    |step| matches!(step, Step::Table { statement, .. } if statement == candidate),
                )
            })
            .collect()
    }

    /// Whether it runs in an explicit transaction.
    pub(crate) fn is_transaction(&self) -> bool {
        self.steps.first() == Some(&Step::Begin)
    }
}

/// Adds `count` statements of one kind: all on one table, each on its own row.
fn add(steps: &mut Vec<Step>, statement: Statement, count: u32) {
    steps.extend((0..count).map(|index| step(statement, index == 0, true)));
}

fn step(statement: Statement, new_table: bool, new_key: bool) -> Step {
    Step::Table {
        statement,
        new_table,
        new_key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(workload: WorkloadName, mix: &Mix) -> usize {
        Script::new(workload, mix).unwrap().steps.len()
    }

    #[test]
    fn transactions_have_as_many_statements_as_in_sysbench() {
        let mix = Mix::default();
        assert_eq!(length(WorkloadName::OltpReadWrite, &mix), 20);
        assert_eq!(length(WorkloadName::OltpReadOnly, &mix), 16);
        assert_eq!(length(WorkloadName::OltpWriteOnly, &mix), 6);
        assert_eq!(length(WorkloadName::OltpPointSelect, &mix), 1);
        let bare = Mix {
            skip_transactions: true,
            range_selects: false,
            ..mix
        };
        assert_eq!(length(WorkloadName::OltpReadWrite, &bare), 14);
    }

    #[test]
    fn an_insert_restores_the_row_that_was_just_deleted() {
        let script = Script::new(WorkloadName::OltpWriteOnly, &Mix::default()).unwrap();
        assert_eq!(
            script.steps[3..5],
            [
                step(Statement::Delete, true, true),
                step(Statement::Insert, false, false)
            ]
        );
    }

    #[test]
    fn a_transaction_without_statements_is_refused() {
        let mix = Mix {
            index_updates: 0,
            non_index_updates: 0,
            delete_inserts: 0,
            ..Mix::default()
        };
        assert!(Script::new(WorkloadName::OltpWriteOnly, &mix).is_err());
    }
}

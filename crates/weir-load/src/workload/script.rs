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
    /// Points of `select_random_points`.
    pub random_points: u32,
    /// Ranges of `select_random_ranges`.
    pub random_ranges: u32,
    /// By how much the end of such a range lies above its beginning.
    pub random_range_delta: u32,
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
            random_points: 10,
            random_ranges: 10,
            random_range_delta: 5,
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
    /// A row with the next key of a table, as text: `oltp_insert` prepares nothing in sysbench.
    Append,
    /// A statement full of rows for the connection's own table.
    Bulk,
}

/// Most parameters of a prepared statement: the protocol counts them in 16 bits.
const PARAMETERS_MAX: u32 = 65_535;

/// A transaction's steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    /// The steps, in order; never empty.
    pub(crate) steps: Vec<Step>,
    /// The sizes of its statements.
    pub(crate) mix: Mix,
}

impl Script {
    /// The script of a workload.
    pub(crate) fn new(workload: WorkloadName, mix: &Mix) -> Result<Self, LoadError> {
        let mut steps = statements(workload, mix);
        check(&steps, mix)?;
        let is_grouped = matches!(
            workload,
            WorkloadName::OltpReadOnly | WorkloadName::OltpReadWrite | WorkloadName::OltpWriteOnly
        );
        if is_grouped && !mix.skip_transactions {
            steps.insert(0, Step::Begin);
            steps.push(Step::Commit);
        }
        Ok(Self { steps, mix: *mix })
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

    /// Whether its connections fill tables of their own.
    pub(crate) fn is_bulk(&self) -> bool {
        self.steps.first() == Some(&Step::Bulk)
    }

    /// Whether each connection asks for its own part of the one table.
    pub(crate) fn is_partitioned(&self) -> bool {
        let uses = |wanted| matches!(self.steps.first(), Some(Step::Table { statement, .. }) if *statement == wanted);
        uses(Statement::RandomPoints) || uses(Statement::RandomRanges)
    }

    /// Tables on which a connection prepares statements, of `tables` that there are.
    pub(crate) fn tables(&self, tables: u32) -> u32 {
        if self.is_partitioned() { 1 } else { tables }
    }
}

/// The statements of one transaction, without what opens and closes it.
fn statements(workload: WorkloadName, mix: &Mix) -> Vec<Step> {
    let mut steps = Vec::new();
    match workload {
        WorkloadName::OltpPointSelect => add(&mut steps, Statement::PointSelect, 1),
        WorkloadName::OltpReadOnly => add_reads(&mut steps, mix),
        WorkloadName::OltpWriteOnly => add_writes(&mut steps, mix),
        WorkloadName::OltpReadWrite => {
            add_reads(&mut steps, mix);
            add_writes(&mut steps, mix);
        }
        WorkloadName::OltpInsert => steps.push(Step::Append),
        WorkloadName::OltpDelete => add(&mut steps, Statement::Delete, 1),
        WorkloadName::OltpUpdateIndex => add(&mut steps, Statement::UpdateIndex, 1),
        WorkloadName::OltpUpdateNonIndex => add(&mut steps, Statement::UpdateNonIndex, 1),
        WorkloadName::SelectRandomPoints => add(&mut steps, Statement::RandomPoints, 1),
        WorkloadName::SelectRandomRanges => add(&mut steps, Statement::RandomRanges, 1),
        WorkloadName::BulkInsert => steps.push(Step::Bulk),
    }
    steps
}

fn check(steps: &[Step], mix: &Mix) -> Result<(), LoadError> {
    if steps.is_empty() {
        return Err(LoadError::Setting {
            setting: "statements per transaction",
            value: "0".to_owned(),
            why: "a transaction needs at least one statement",
        });
    }
    for (setting, value, max) in [
        ("random points", mix.random_points, PARAMETERS_MAX),
        ("random ranges", mix.random_ranges, PARAMETERS_MAX / 2),
    ] {
        if value == 0 || value > max {
            return Err(LoadError::Setting {
                setting,
                value: value.to_string(),
                why: "must be at least 1 and make no more than 65535 parameters",
            });
        }
    }
    Ok(())
}

fn add_reads(steps: &mut Vec<Step>, mix: &Mix) {
    add(steps, Statement::PointSelect, mix.point_selects);
    if mix.range_selects {
        add(steps, Statement::SimpleRange, mix.simple_ranges);
        add(steps, Statement::SumRange, mix.sum_ranges);
        add(steps, Statement::OrderRange, mix.order_ranges);
        add(steps, Statement::DistinctRange, mix.distinct_ranges);
    }
}

fn add_writes(steps: &mut Vec<Step>, mix: &Mix) {
    add(steps, Statement::UpdateIndex, mix.index_updates);
    add(steps, Statement::UpdateNonIndex, mix.non_index_updates);
    for pair in 0..mix.delete_inserts {
        steps.push(step(Statement::Delete, pair == 0, true));
        steps.push(step(Statement::Insert, false, false));
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
        for workload in [
            WorkloadName::OltpInsert,
            WorkloadName::OltpDelete,
            WorkloadName::OltpUpdateIndex,
            WorkloadName::OltpUpdateNonIndex,
            WorkloadName::SelectRandomPoints,
            WorkloadName::SelectRandomRanges,
            WorkloadName::BulkInsert,
        ] {
            assert_eq!(length(workload, &mix), 1, "{workload}");
        }
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
        for (random_points, random_ranges) in [(0, 10), (65_536, 10), (10, 0), (10, 32_768)] {
            let mix = Mix {
                random_points,
                random_ranges,
                ..Mix::default()
            };
            assert!(Script::new(WorkloadName::SelectRandomPoints, &mix).is_err());
        }
    }
}

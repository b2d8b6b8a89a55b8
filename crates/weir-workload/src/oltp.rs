//! sysbench's workloads as scripts, and those on its table with text beside it.
//!
//! Statements, their order and their choice of tables are those that a server's general log shows
//! of sysbench 1.0.20. The text workloads are those of Percona's study of a compressing drive
//! ("How Can `ScaleFlux` Handle MySQL Workload?", 2020): two more columns with lines of a book, and
//! five statements on them.

use std::sync::Arc;

use weir_model::{Mix, SysbenchWorkload, WorkloadName, WorkloadShare};

use crate::script::{Execution, Script, Step, Transaction};
use crate::statement::{Parameter, StatementProtocol};
use crate::{
    C_BYTES, Generator, Keys, Lines, PAD_BYTES, Parts, ScriptInputs, Statement, Unique, ValueKind,
    WorkloadError,
};

/// Statements of one workload that a connection prepares for each table, at most.
pub const STATEMENTS_PER_TABLE_MAX: u64 = 12;
/// The slot of the row that a statement is about.
const KEY: usize = 0;

/// The script of sysbench's workloads in these proportions.
pub(crate) fn script(
    workload: &SysbenchWorkload,
    inputs: &ScriptInputs,
) -> Result<Script, WorkloadError> {
    check(workload)?;
    let mut builder = Builder::new(workload, inputs)?;
    let mut transactions = Vec::new();
    for WorkloadShare {
        workload: name,
        weight,
    } in &workload.shares.0
    {
        let steps = builder.transaction(*name)?;
        transactions.push(Transaction {
            name: name.to_string(),
            weight: *weight,
            is_explicit: builder.is_explicit(*name),
            steps,
        });
    }
    Script::new(transactions, builder.statements, builder.slots)
}

fn check(workload: &SysbenchWorkload) -> Result<(), WorkloadError> {
    let SysbenchWorkload { shares, mix, .. } = workload;
    for (setting, value, max) in [
        ("random points", mix.random_points, Mix::RANDOM_POINTS_MAX),
        ("random ranges", mix.random_ranges, Mix::RANDOM_RANGES_MAX),
    ] {
        if value == 0 || value > max {
            return Err(WorkloadError::Setting {
                setting,
                value: value.to_string(),
                why: "must be at least 1 and make no more than 65535 parameters",
            });
        }
    }
    let is_bulk = |name| name == WorkloadName::BulkInsert;
    if shares.single().is_none() && shares.any(is_bulk) {
        return Err(WorkloadError::Setting {
            setting: "workload",
            value: "bulk_insert".to_owned(),
            why: "it fills tables of its own and cannot be mixed with others",
        });
    }
    Ok(())
}

/// Puts the statements of all transactions together, each once.
struct Builder<'a> {
    workload: &'a SysbenchWorkload,
    inputs: &'a ScriptInputs,
    mix: &'a Mix,
    keys: Keys,
    lines: Option<Arc<Lines>>,
    statements: Vec<Statement>,
    slots: usize,
}

impl<'a> Builder<'a> {
    fn new(
        workload: &'a SysbenchWorkload,
        inputs: &'a ScriptInputs,
    ) -> Result<Self, WorkloadError> {
        let wants_text = workload.shares.any(WorkloadName::has_text);
        Ok(Self {
            workload,
            inputs,
            mix: &workload.mix,
            keys: Keys::new(workload.distribution, inputs.rows.max(1))?,
            lines: wants_text
                .then(|| Lines::open(workload.text_file.as_deref()))
                .transpose()?,
            statements: Vec::new(),
            slots: 1,
        })
    }

    fn is_explicit(&self, workload: WorkloadName) -> bool {
        use WorkloadName as W;
        let is_grouped = matches!(
            workload,
            W::OltpReadOnly
                | W::OltpReadWrite
                | W::OltpWriteOnly
                | W::OltpTextReadOnly
                | W::OltpTextReadWrite
                | W::OltpTextWriteOnly
        );
        is_grouped && !self.mix.skip_transactions
    }

    fn transaction(&mut self, workload: WorkloadName) -> Result<Vec<Step>, WorkloadError> {
        use WorkloadName as W;
        let mut steps = Vec::new();
        let is_explicit = self.is_explicit(workload);
        if is_explicit {
            self.add(&mut steps, Statement::plain("begin", "BEGIN"), Row::Same, 1);
        }
        let has_text = workload.has_text();
        let before = steps.len();
        match workload {
            W::OltpPointSelect => self.point_selects(&mut steps, 1),
            W::OltpReadOnly | W::OltpTextReadOnly => self.reads(&mut steps, has_text),
            W::OltpWriteOnly | W::OltpTextWriteOnly => self.writes(&mut steps, has_text),
            W::OltpReadWrite | W::OltpTextReadWrite => {
                self.reads(&mut steps, has_text);
                self.writes(&mut steps, has_text);
            }
            W::OltpInsert => self.append(&mut steps),
            W::OltpDelete => {
                let delete = self.delete();
                self.add(&mut steps, delete, Row::New, 1);
            }
            W::OltpUpdateIndex => self.index_updates(&mut steps, 1),
            W::OltpUpdateNonIndex => self.non_index_updates(&mut steps, 1),
            W::SelectRandomPoints => self.random_points(&mut steps)?,
            W::SelectRandomRanges => self.random_ranges(&mut steps)?,
            W::BulkInsert => steps.push(Step::Bulk),
        }
        if steps.len() == before {
            // Nothing to open and close a transaction for: the script refuses it.
            return Ok(Vec::new());
        }
        if is_explicit {
            let commit = Statement::plain("commit", "COMMIT");
            self.add(&mut steps, commit, Row::Same, 1);
        }
        Ok(steps)
    }

    /// Adds `count` executions of a statement: all on one table, each on a row as `row` says.
    fn add(&mut self, steps: &mut Vec<Step>, statement: Statement, row: Row, count: u32) {
        if count == 0 {
            return;
        }
        let statement = self.number(statement);
        for index in 0..count {
            let draws = match row {
                Row::New => vec![(KEY, Generator::Key(self.keys.clone()))],
                Row::NewTable | Row::Same => Vec::new(),
            };
            steps.push(Step::Execute(Execution {
                statement,
                new_table: index == 0 && row != Row::Same,
                draws,
            }));
        }
    }

    /// The position of a statement, which several transactions may share.
    fn number(&mut self, statement: Statement) -> usize {
        let known = |other: &Statement| other.name == statement.name;
        self.statements.iter().position(known).unwrap_or_else(|| {
            self.statements.push(statement);
            self.statements.len() - 1
        })
    }

    fn on_tables(&self, name: &str, sql: &str, parameters: Vec<Parameter>) -> Statement {
        Statement::on_tables(name, sql, self.inputs.tables, parameters)
    }

    fn line(&self) -> Parameter {
        let lines = self.lines.as_ref().map(Arc::clone);
        let lines = lines.expect("invariant: a workload with text has opened its lines");
        Parameter::Draw(Generator::Line(lines))
    }

    fn key_value(&self) -> Parameter {
        Parameter::Draw(Generator::Key(self.keys.clone()))
    }

    fn point_selects(&mut self, steps: &mut Vec<Step>, count: u32) {
        let sql = "SELECT c FROM {table} WHERE id=?";
        let statement = self.on_tables("point_select", sql, vec![key()]);
        self.add(steps, statement, Row::New, count);
    }

    fn reads(&mut self, steps: &mut Vec<Step>, has_text: bool) {
        let mix = self.mix;
        self.point_selects(steps, mix.point_selects);
        if mix.range_selects {
            for (name, sql, count) in [
                (
                    "simple_range",
                    "SELECT c FROM {table} WHERE id BETWEEN ? AND ?",
                    mix.simple_ranges,
                ),
                (
                    "sum_range",
                    "SELECT SUM(k) FROM {table} WHERE id BETWEEN ? AND ?",
                    mix.sum_ranges,
                ),
                (
                    "order_range",
                    "SELECT c FROM {table} WHERE id BETWEEN ? AND ? ORDER BY c",
                    mix.order_ranges,
                ),
                (
                    "distinct_range",
                    "SELECT DISTINCT c FROM {table} WHERE id BETWEEN ? AND ? ORDER BY c",
                    mix.distinct_ranges,
                ),
            ] {
                let range = vec![
                    key(),
                    Parameter::SlotPlus(KEY, mix.range_size.saturating_sub(1)),
                ];
                let statement = self.on_tables(name, sql, range);
                self.add(steps, statement, Row::New, count);
            }
        }
        if has_text {
            let sql = "SELECT id,data2 FROM {table} WHERE data1=?";
            let statement = self.on_tables("text_select", sql, vec![self.line()]);
            self.add(steps, statement, Row::NewTable, mix.text_selects);
        }
    }

    fn writes(&mut self, steps: &mut Vec<Step>, has_text: bool) {
        let mix = self.mix;
        if has_text {
            self.text_updates(steps);
        } else {
            self.index_updates(steps, mix.index_updates);
            self.non_index_updates(steps, mix.non_index_updates);
        }
        let insert = if has_text {
            self.text_insert()
        } else {
            self.insert()
        };
        for pair in 0..mix.delete_inserts {
            let delete = self.delete();
            let before = steps.len();
            self.add(steps, delete, Row::New, 1);
            // All pairs of a transaction are on one table.
            if let (Some(Step::Execute(execution)), true) = (steps.get_mut(before), pair > 0) {
                execution.new_table = false;
            }
            self.add(steps, insert.clone(), Row::Same, 1);
        }
    }

    fn index_updates(&mut self, steps: &mut Vec<Step>, count: u32) {
        let sql = "UPDATE {table} SET k=k+1 WHERE id=?";
        let statement = self.on_tables("index_update", sql, vec![key()]);
        self.add(steps, statement, Row::New, count);
    }

    fn non_index_updates(&mut self, steps: &mut Vec<Step>, count: u32) {
        let sql = "UPDATE {table} SET c=? WHERE id=?";
        let statement = self.on_tables("non_index_update", sql, vec![groups(C_BYTES), key()]);
        self.add(steps, statement, Row::New, count);
    }

    fn text_updates(&mut self, steps: &mut Vec<Step>) {
        let mix = self.mix;
        let sql = "UPDATE {table} SET k=?,data1=? WHERE id=?";
        let parameters = vec![self.key_value(), self.line(), key()];
        let statement = self.on_tables("text_index_update", sql, parameters);
        self.add(steps, statement, Row::New, mix.index_updates);
        let sql = "UPDATE {table} SET c=?,data2=? WHERE id=?";
        let parameters = vec![groups(C_BYTES), self.line(), key()];
        let statement = self.on_tables("text_non_index_update", sql, parameters);
        self.add(steps, statement, Row::New, mix.non_index_updates);
        let sql = "UPDATE {table} SET data2=? WHERE data1=?";
        let statement = self.on_tables("text_update", sql, vec![self.line(), self.line()]);
        self.add(steps, statement, Row::NewTable, mix.text_updates);
    }

    fn delete(&self) -> Statement {
        self.on_tables("delete", "DELETE FROM {table} WHERE id=?", vec![key()])
    }

    fn insert(&self) -> Statement {
        let sql = "INSERT INTO {table} (id, k, c, pad) VALUES (?, ?, ?, ?)";
        let parameters = vec![key(), self.key_value(), groups(C_BYTES), groups(PAD_BYTES)];
        self.on_tables("insert", sql, parameters)
    }

    fn text_insert(&self) -> Statement {
        let sql = "INSERT INTO {table} (id, k, c, pad, data1, data2) VALUES (?, ?, ?, ?, ?, ?)";
        let mut parameters = vec![key(), self.key_value(), groups(C_BYTES), groups(PAD_BYTES)];
        parameters.extend([self.line(), self.line()]);
        self.on_tables("text_insert", sql, parameters)
    }

    /// A row after the others. As text: sysbench prepares nothing here.
    fn append(&mut self, steps: &mut Vec<Step>) {
        let values = vec![self.key_value(), groups(C_BYTES), groups(PAD_BYTES)];
        let mut statement = if self.inputs.auto_increment {
            // Key 0 is replaced by the table's next one.
            let sql = "INSERT INTO {table} (id, k, c, pad) VALUES (0, ?, ?, ?)";
            self.on_tables("append", sql, values)
        } else {
            // Of all numbers of the column, so that runs with other sizes of tables have the same order.
            let all = Unique::new(0, 1 << 31, self.inputs.seed);
            let after_rows = all.from((self.inputs.rows.cast_signed() + 1).min(i32::MAX.into()));
            let id = Parameter::Draw(Generator::Unique(Arc::new(after_rows)));
            let sql = "INSERT INTO {table} (id, k, c, pad) VALUES (?, ?, ?, ?)";
            let values = std::iter::once(id).chain(values).collect();
            self.on_tables("append", sql, values)
        };
        statement.sending = StatementProtocol::Text;
        self.add(steps, statement, Row::NewTable, 1);
    }

    fn part_key(&self) -> Result<Generator, WorkloadError> {
        let ScriptInputs {
            rows, connections, ..
        } = *self.inputs;
        Parts::new(self.workload.distribution, rows, connections).map(Generator::PartKey)
    }

    fn random_points(&mut self, steps: &mut Vec<Step>) -> Result<(), WorkloadError> {
        let points = self.mix.random_points as usize;
        let sql = format!(
            "SELECT id, k, c, pad FROM {{table}} WHERE k IN ({})",
            vec!["?"; points].join(", ")
        );
        let parameters = vec![Parameter::Draw(self.part_key()?); points];
        let statement = Statement::on_tables("random_points", sql, 1, parameters);
        self.add(steps, statement, Row::NewTable, 1);
        Ok(())
    }

    fn random_ranges(&mut self, steps: &mut Vec<Step>) -> Result<(), WorkloadError> {
        let ranges = self.mix.random_ranges as usize;
        let sql = format!(
            "SELECT count(k) FROM {{table}} WHERE {}",
            vec!["k BETWEEN ? AND ?"; ranges].join(" OR ")
        );
        self.slots = self.slots.max(ranges);
        let bounds = |slot| {
            let first = Parameter::Slot(slot, ValueKind::Integer);
            [
                first,
                Parameter::SlotPlus(slot, self.mix.random_range_delta),
            ]
        };
        let parameters = (0..ranges).flat_map(bounds).collect();
        let statement = Statement::on_tables("random_ranges", sql, 1, parameters);
        let draws = vec![self.part_key()?; ranges];
        steps.push(Step::Execute(Execution {
            statement: self.number(statement),
            new_table: true,
            draws: draws.into_iter().enumerate().collect(),
        }));
        Ok(())
    }
}

/// On which table and row a statement works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    /// A table for all executions, a row for each.
    New,
    /// A table for all executions, and no row.
    NewTable,
    /// Both as before.
    Same,
}

fn key() -> Parameter {
    Parameter::Slot(KEY, ValueKind::Integer)
}

fn groups(length: usize) -> Parameter {
    Parameter::Draw(Generator::Groups(length))
}

#[cfg(test)]
mod tests;

//! The way back: a script that takes chosen transactions back, newest first, and touches no row that another transaction
//! changed after them. Weir writes it and never runs it on a server of the user's.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use weir_mysql::binlog::Gtid;
use weir_mysql::{Row, Value, identifier};

use crate::diff::key_text;
use crate::history::word;
use crate::private::Private;
use crate::render::{Cell, guard, literal, text};
use crate::scan::{Change, Transaction};
use crate::{FlashbackError, Table, Told};

/// Which transactions are taken back; all after the moment, if nothing is chosen.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// By name.
    pub gtids: Vec<Gtid>,
    /// By connection.
    pub connection: Option<u32>,
    /// By a part of the statement's text.
    pub statement: Option<String>,
}

impl Chosen {
    fn has(&self, transaction: &Transaction) -> bool {
        let gtid = transaction.start.gtid.as_ref();
        let is_named = self.gtids.is_empty() || gtid.is_some_and(|gtid| self.gtids.contains(gtid));
        let is_of_connection =
            self.connection.is_none() || transaction.connection == self.connection;
        let is_of_text = self.statement.as_ref().is_none_or(|wanted| {
            let text = transaction.statement.as_ref();
            text.is_some_and(|text| text.contains(wanted))
        });
        is_named && is_of_connection && is_of_text
    }
}

#[derive(Debug)]
struct Step {
    table: usize,
    transaction: Arc<Transaction>,
    is_chosen: bool,
    /// Keys before and after.
    keys: Vec<Vec<u8>>,
    /// The same as texts.
    names: Vec<Vec<String>>,
    before: Option<Vec<Cell>>,
    after: Option<Vec<Cell>>,
}

/// Changes that are to be taken back, and those that stand in the way.
#[derive(Debug, Default)]
pub struct Undo {
    chosen: Chosen,
    steps: Vec<Step>,
    /// Keys that chosen transactions changed: what others do before or elsewhere conflicts with nothing.
    touched: HashSet<(usize, Vec<u8>)>,
}

/// A written script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its text.
    pub text: String,
    /// The statements that change rows, newest first.
    pub statements: Vec<String>,
    /// Transactions that are taken back.
    pub transactions: usize,
    /// Rows that are left as they are, and why.
    pub conflicts: Vec<String>,
}

impl Undo {
    /// Of these transactions.
    pub fn of(chosen: Chosen) -> Self {
        Self {
            chosen,
            steps: Vec::new(),
            touched: HashSet::new(),
        }
    }

    /// Takes a change.
    ///
    /// # Errors
    ///
    /// A change that is not one of the table.
    pub fn take(&mut self, table: &Table, change: &Change<'_>) -> Result<(), FlashbackError> {
        let is_chosen = self.chosen.has(change.transaction);
        let mut step = Step {
            table: change.table,
            transaction: Arc::clone(change.transaction),
            is_chosen,
            keys: Vec::new(),
            names: Vec::new(),
            before: None,
            after: None,
        };
        for (image, is_after) in change.images() {
            step.keys.push(change.key(table, image)?);
            if !is_chosen {
                continue;
            }
            let cells = change.cells(table, image)?;
            let lacks = !is_after
                && table
                    .columns
                    .iter()
                    .zip(&cells)
                    .any(|(column, cell)| !column.is_virtual && *cell == Cell::Unknown);
            if lacks {
                return Err(FlashbackError::refused(
                    format!(
                        "{}: the log at {} has not all old values (transaction {})",
                        table.name,
                        change.place,
                        change.transaction.name()
                    ),
                    "its session had another binlog_row_image than FULL; restore a backup",
                ));
            }
            step.names.push(key_texts(table, &cells));
            if is_after {
                step.after = Some(cells);
            } else {
                step.before = Some(cells);
            }
        }
        let mut keys = step.keys.iter().map(|key| (change.table, key.clone()));
        if is_chosen {
            self.touched.extend(keys);
        } else if !keys.any(|key| self.touched.contains(&key)) {
            return Ok(());
        }
        self.steps.push(step);
        Ok(())
    }

    /// Takes back only changes of the rows with these keys.
    pub fn only(&mut self, keys: &HashSet<Vec<String>>) {
        for step in &mut self.steps {
            step.is_chosen &= step.names.iter().any(|name| keys.contains(name));
        }
    }

    /// Keys that are left alone: those that a transaction that is not taken back changed after one that is, and those
    /// that hang together with them. With each the number of the step that is in the way.
    fn conflicting(&self) -> HashSet<(usize, &[u8])> {
        let mut touched: HashSet<(usize, &[u8])> = HashSet::new();
        let mut left: HashSet<(usize, &[u8])> = HashSet::new();
        for step in &self.steps {
            for key in &step.keys {
                let key = (step.table, key.as_slice());
                if step.is_chosen {
                    touched.insert(key);
                } else if touched.contains(&key) {
                    left.insert(key);
                }
            }
        }
        // A step that is left out leaves its other key, too.
        loop {
            let before = left.len();
            for step in self.steps.iter().filter(|step| step.is_chosen) {
                let keys = step.keys.iter().map(|key| (step.table, key.as_slice()));
                if keys.clone().any(|key| left.contains(&key)) {
                    left.extend(keys);
                }
            }
            if left.len() == before {
                return left;
            }
        }
    }

    /// Writes the script.
    pub fn script(&self, tables: &[Table], server: &str, moment: &str, told: &Told) -> Script {
        let left = self.conflicting();
        let is_left = |step: &Step| {
            let mut keys = step.keys.iter();
            keys.any(|key| left.contains(&(step.table, key.as_slice())))
        };
        let (going, staying): (Vec<_>, Vec<_>) = self
            .steps
            .iter()
            .filter(|step| step.is_chosen)
            .partition(|step| !is_left(step));
        let conflicts: Vec<String> = staying
            .iter()
            .map(|step| {
                let table = &tables[step.table];
                let row = step.before.as_ref().or(step.after.as_ref());
                format!(
                    "{} {}: {} by {} is not taken back, another transaction changed the row since",
                    table.name,
                    row.map_or_else(String::new, |row| key_text(table, row)),
                    word_of(step),
                    step.transaction.name()
                )
            })
            .collect();
        let mut script = Script {
            text: head(server, moment, told, &conflicts),
            statements: Vec::new(),
            transactions: 0,
            conflicts,
        };
        let newest_first: Vec<_> = going.into_iter().rev().collect();
        for of_one in newest_first.chunk_by(|a, b| {
            Arc::ptr_eq(&a.transaction, &b.transaction)
                || a.transaction.place == b.transaction.place
        }) {
            script.transactions += 1;
            let transaction = &of_one[0].transaction;
            let _ = write!(
                script.text,
                "\n-- takes back {}, {}, at {}\nSTART TRANSACTION;\nSET @weir_missed = 0;\n",
                transaction.name(),
                transaction.time(),
                transaction.place
            );
            for step in of_one {
                let Some(statement) = inverse(&tables[step.table], step) else {
                    continue;
                };
                let _ = write!(
                    script.text,
                    "{statement};\nSET @weir_missed = @weir_missed + (ROW_COUNT() <> 1);\n"
                );
                script.statements.push(statement);
            }
            script.text.push_str(CHECK);
        }
        script
    }
}

fn key_texts(table: &Table, row: &[Cell]) -> Vec<String> {
    let key = table.key.iter();
    key.map(|at| text(&table.columns[*at], &row[*at])).collect()
}

/// The keys of the rows of a table of the private server that meet a condition, as [`Undo::only`] takes them.
///
/// # Errors
///
/// A condition that the server refuses.
pub fn keys_where(
    private: &Private,
    table: &Table,
    condition: &str,
) -> Result<HashSet<Vec<String>>, FlashbackError> {
    let mut connection = private.connect_reading(&table.name.schema)?;
    connection.run("SET SESSION time_zone = '+00:00'")?;
    let columns = table.key.iter().map(|at| {
        let column = &table.columns[*at];
        let name = identifier(&column.name);
        match column.data_type.as_str() {
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => {
                format!("CONCAT('0x', HEX({name}))")
            }
            "bit" => format!("CAST({name} + 0 AS CHAR)"),
            _ => format!("CONVERT({name} USING utf8mb4)"),
        }
    });
    let query = format!(
        "SELECT {} FROM {} WHERE ({condition})",
        columns.collect::<Vec<_>>().join(", "),
        table.name.sql()
    );
    let mut keys = HashSet::new();
    connection.each(&query, |row: Row| {
        let values = row.unwrap().into_iter();
        let texts = values.map(|value| match value {
            Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            other => other.as_sql(true),
        });
        keys.insert(texts.collect());
    })?;
    Ok(keys)
}

/// Ends a script before COMMIT if a row was not what it should be: the subquery is an error that clients stop at.
const CHECK: &str = "SELECT IF(@weir_missed = 0, 'taken back', (SELECT 1 UNION ALL SELECT 2)) AS result;\nCOMMIT;\n";

fn word_of(step: &Step) -> &'static str {
    match (&step.before, &step.after) {
        (None, _) => word(weir_mysql::binlog::RowsKind::Insert),
        (_, None) => word(weir_mysql::binlog::RowsKind::Delete),
        _ => word(weir_mysql::binlog::RowsKind::Update),
    }
}

fn head(server: &str, moment: &str, told: &Told, conflicts: &[String]) -> String {
    let mut head = format!(
        "-- Takes back changes since {moment} on {server}\n-- read before you run it: `mysql ... < this file` stops at \
         the first error and keeps nothing of a transaction that fails\n-- {} transactions and {} changes of rows were \
         read\n",
        told.transactions, told.changes
    );
    for conflict in conflicts {
        let _ = writeln!(head, "-- conflict: {conflict}");
    }
    head.push_str(
        "SET NAMES utf8mb4;\nSET SESSION time_zone = '+00:00', foreign_key_checks = 0, \
         sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES';\n",
    );
    head
}

/// The statement that takes one change back, if the row still is as the change left it; none if only what the server
/// computes has changed.
fn inverse(table: &Table, step: &Step) -> Option<String> {
    let name = table.name.sql();
    let guards = |row: &[Cell]| {
        let conditions = table
            .columns
            .iter()
            .zip(row)
            .filter(|(column, _)| !column.is_virtual);
        // The key first and as it is, so that its index is used.
        let key = table.key.iter().map(|at| {
            let column = &table.columns[*at];
            format!(
                "{} = {}",
                identifier(&column.name),
                literal(column, &row[*at])
            )
        });
        let all: Vec<_> = key
            .chain(conditions.filter_map(|(column, cell)| guard(column, cell)))
            .collect();
        all.join(" AND ")
    };
    Some(match (&step.before, &step.after) {
        (None, Some(after)) => format!("DELETE FROM {name} WHERE {}", guards(after)),
        (Some(before), None) => {
            let stored = || {
                let pairs = table.columns.iter().zip(before);
                pairs.filter(|(column, _)| !column.is_generated)
            };
            let names: Vec<_> = stored()
                .map(|(column, _)| identifier(&column.name))
                .collect();
            let values: Vec<_> = stored()
                .map(|(column, cell)| literal(column, cell))
                .collect();
            format!(
                "INSERT INTO {name} ({}) VALUES ({})",
                names.join(", "),
                values.join(", ")
            )
        }
        (Some(before), Some(after)) => {
            let changed = table
                .columns
                .iter()
                .zip(before.iter().zip(after))
                .filter(|(column, (before, after))| !column.is_generated && before != after);
            let sets: Vec<_> = changed
                .map(|(column, (before, _))| {
                    format!("{} = {}", identifier(&column.name), literal(column, before))
                })
                .collect();
            if sets.is_empty() {
                return None;
            }
            format!(
                "UPDATE {name} SET {} WHERE {}",
                sets.join(", "),
                guards(after)
            )
        }
        (None, None) => return None,
    })
}

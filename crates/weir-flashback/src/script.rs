//! The text of the way back: one transaction, newest change first, that keeps nothing unless each statement changed
//! exactly the row that it names.
//!
//! SQL alone decides, since it is not known which client reads the script. `@weir_step` counts the steps that did what
//! they say. Each statement has the count of those before it in its condition. So after one that missed nothing more
//! happens, neither in a client that goes on after errors, nor in a session that the client opened anew. `COMMIT` is run
//! only if all were counted; `ROLLBACK` follows whatever happened.

use std::fmt::Write as _;
use std::sync::Arc;

use weir_mysql::identifier;

use crate::foreign_keys::ForeignKey;
use crate::render::{Cell, guard, literal, string};
use crate::step::Step;
use crate::undo::Undo;
use crate::{LogFindings, Table, TableName};

/// Settings in which each literal means the same on every server.
const SQL_MODE: &str = "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES";
/// Settings of the session that the script changes, and where it keeps them.
const SAVED: [(&str, &str); 7] = [
    ("@weir_client", "character_set_client"),
    ("@weir_connection", "character_set_connection"),
    ("@weir_results", "character_set_results"),
    ("@weir_collation", "collation_connection"),
    ("@weir_time_zone", "time_zone"),
    ("@weir_sql_mode", "sql_mode"),
    ("@weir_keys", "foreign_key_checks"),
];
/// Values of one search for rows without a parent.
const VALUES_MAX: usize = 200;

/// A written script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Text of the script.
    pub text: String,
    /// The statements that change rows, newest first.
    pub statements: Vec<String>,
    /// Transactions that are taken back.
    pub transactions: usize,
    /// Rows that are left as they are, and why.
    pub conflicts: Vec<String>,
    /// All that it sends to a server.
    pub(crate) sent: Vec<String>,
    /// The count of a script that did all.
    pub(crate) steps: usize,
    /// The count before its first change.
    pub(crate) steps_before_changes: usize,
}

/// Things beside the tables that take part when their rows change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    /// Foreign keys of the tables, and those that refer to them.
    pub(crate) foreign_keys: Vec<ForeignKey>,
    /// Triggers are known to fire.
    pub(crate) with_triggers: bool,
}

impl Surroundings {
    /// A change of a parent would change rows of a child by itself.
    fn cascades(&self, tables: &[Table]) -> bool {
        let mut keys = self.foreign_keys.iter();
        keys.any(|key| key.is_cascading() && tables.iter().any(|table| table.name == key.parent))
    }
}

/// Writes the script of what is taken back, with `head` in front.
pub(crate) fn write(
    undo: &Undo,
    tables: &[Table],
    surroundings: &Surroundings,
    head: &str,
) -> Script {
    let (going, conflicts) = undo.plan(tables);
    let cascades = surroundings.cascades(tables);
    let mut script = Script {
        text: head.to_owned(),
        statements: Vec::new(),
        transactions: 0,
        conflicts: Vec::new(),
        sent: Vec::new(),
        steps: 0,
        steps_before_changes: 0,
    };
    script.begin(&conflicts, cascades);
    script.conflicts = conflicts;
    if !surroundings.with_triggers {
        for table in tables {
            script.expect_no_triggers(&table.name);
        }
    }
    script.steps_before_changes = script.steps;
    let steps: Vec<_> = going.iter().rev().map(|(_, step)| *step).collect();
    for of_one in steps.chunk_by(|a, b| {
        Arc::ptr_eq(&a.transaction, &b.transaction) || a.transaction.place == b.transaction.place
    }) {
        script.transactions += 1;
        let transaction = &of_one[0].transaction;
        script.comment(&format!(
            "takes back {}, {}, at {}",
            transaction.name(),
            transaction.time(),
            transaction.place
        ));
        for step in of_one {
            script.take_back(tables, step);
        }
    }
    if cascades {
        for key in &surroundings.foreign_keys {
            script.expect_parents(key, &key.changed_values(tables, &steps));
        }
    }
    script.end();
    script
}

impl Undo {
    /// Writes the script. The tables are thought to have neither triggers nor foreign keys.
    pub fn script(
        &self,
        tables: &[Table],
        server: &str,
        moment: &str,
        told: &LogFindings,
    ) -> Script {
        let surroundings = Surroundings::default();
        write(self, tables, &surroundings, &head(server, moment, told))
    }
}

/// The first lines of a script, which say what it is about.
pub fn head(server: &str, moment: &str, told: &LogFindings) -> String {
    format!(
        "-- Takes back changes since {moment} on {server}\n-- {} transactions and {} changes of rows were read\n",
        told.transactions, told.changes
    )
}

impl Script {
    fn comment(&mut self, text: &str) {
        // A line break would end the comment.
        let text = text.replace(['\n', '\r'], " ");
        let _ = write!(self.text, "\n-- {text}\n");
    }

    fn send(&mut self, statement: String) {
        let _ = writeln!(self.text, "{statement};");
        self.sent.push(statement);
    }

    fn begin(&mut self, conflicts: &[String], cascades: bool) {
        self.text.push_str(
            "-- One transaction: all of it is kept if each statement changes exactly the row that it names, else nothing\n\
             -- Read it, then run it in a session of its own, with any client: START TRANSACTION commits what is open\n",
        );
        for conflict in conflicts {
            let line = conflict.replace(['\n', '\r'], " ");
            let _ = writeln!(self.text, "-- conflict: {line}");
        }
        let saved = SAVED.map(|(kept, name)| format!("{kept} = @@SESSION.{name}"));
        self.send(format!("SET @weir_step = NULL, {}", saved.join(", ")));
        self.send("SET NAMES utf8mb4".to_owned());
        // Cascades would change rows that no statement names: these have statements of their own.
        let keys = u8::from(!cascades);
        self.send(format!(
            "SET SESSION time_zone = '+00:00', foreign_key_checks = {keys}, sql_mode = '{SQL_MODE}'"
        ));
        self.send("START TRANSACTION".to_owned());
        self.send(format!(
            "SET @weir_step = IF(ROW_COUNT() = 0 AND @@SESSION.time_zone = '+00:00' AND \
             @@SESSION.foreign_key_checks = {keys} AND @@SESSION.sql_mode = '{SQL_MODE}' AND \
             @@SESSION.character_set_connection = 'utf8mb4', '0', 'SELECT ''the session cannot be set up'' AS missed')"
        ));
    }

    /// Counts a step if all before it were counted and `is_done`; else `report` is the query of the end.
    fn count(&mut self, is_done: &str, report: &str) {
        let step = self.steps;
        self.steps += 1;
        self.send(format!(
            "SET @weir_step = IF(@weir_step = '{step}', IF({is_done}, '{}', {}), @weir_step)",
            self.steps,
            quoted(report)
        ));
    }

    fn expect_no_triggers(&mut self, table: &TableName) {
        self.send("SET @weir_found = NULL".to_owned());
        self.send(format!(
            "SELECT COUNT(*) INTO @weir_found FROM information_schema.TRIGGERS WHERE {}",
            table.condition("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE")
        ));
        let report = format!(
            "SELECT {} AS missed",
            quoted(&format!(
                "{table} has triggers since the script was written"
            ))
        );
        self.count("@weir_found = 0", &report);
    }

    fn take_back(&mut self, tables: &[Table], step: &Step) {
        let table = &tables[step.table];
        let Some(statement) = inverse(table, step, self.steps) else {
            return;
        };
        self.send(statement.clone());
        self.statements.push(statement);
        let row = step.before.as_ref().or(step.after.as_ref());
        let key = table.key.iter().map(|at| {
            let column = &table.columns[*at];
            let value = row.map_or_else(String::new, |row| literal(column, &row[*at]));
            format!("now.{} = {value}", identifier(&column.name))
        });
        let report = format!(
            "SELECT {} AS missed, now.* FROM (SELECT 1) AS one LEFT JOIN {} AS now ON {}",
            quoted(&format!(
                "{} is not as the change left it",
                step.row_name(tables)
            )),
            table.name.sql(),
            key.collect::<Vec<_>>().join(" AND ")
        );
        self.count("ROW_COUNT() = 1", &report);
    }

    /// Looks for rows of the child with these values that have no parent, and locks what was read.
    fn expect_parents(&mut self, key: &ForeignKey, values: &[String]) {
        for values in values.chunks(VALUES_MAX) {
            self.send("SET @weir_found = NULL".to_owned());
            self.send(format!(
                "SELECT COUNT(*) INTO @weir_found {} LOCK IN SHARE MODE",
                key.orphans(values)
            ));
            let label = format!(
                "a row of {} would refer to none of {}",
                key.child, key.parent
            );
            let report = format!(
                "SELECT {} AS missed, child.* {}",
                quoted(&label),
                key.orphans(values)
            );
            self.count("@weir_found = 0", &report);
        }
    }

    fn end(&mut self) {
        self.text.push('\n');
        let is_done = format!("@weir_step = '{}'", self.steps);
        let rows = self.statements.len();
        self.send(format!(
            "SET @weir_report = IF({is_done}, 'DO 0', IF(@weir_step LIKE 'SELECT %', @weir_step, \
             'SELECT ''the session was lost, or a statement was refused'' AS missed'))"
        ));
        self.send(format!(
            "SET @weir_end = IF({is_done}, 'COMMIT AND NO CHAIN NO RELEASE', 'DO 0')"
        ));
        for text in ["@weir_report", "@weir_end"] {
            self.send(format!("PREPARE weir FROM {text}"));
            self.send("EXECUTE weir".to_owned());
        }
        // After an error it is -1: a COMMIT may be refused, too.
        self.send("SET @weir_ended = ROW_COUNT()".to_owned());
        self.send("ROLLBACK AND NO CHAIN NO RELEASE".to_owned());
        let put_back = SAVED.map(|(kept, name)| format!("{name} = {kept}"));
        self.send(format!("SET SESSION {}", put_back.join(", ")));
        let is_kept = format!("{is_done} AND @weir_ended = 0");
        self.send(format!(
            "SET @weir_report = IF({is_kept}, 'SELECT ''{rows} changes of rows are taken back'' AS result', 'DO 0')"
        ));
        self.send("PREPARE weir FROM @weir_report".to_owned());
        self.send("EXECUTE weir".to_owned());
        // A column that is not there makes a client say that the script failed.
        self.send(format!(
            "SET @weir_report = IF({is_kept}, 'DO 0', 'SELECT `nothing was changed: see the row above`')"
        ));
        self.send("PREPARE weir FROM @weir_report".to_owned());
    }
}

/// A string that is read alike in the script's mode, and as readable as it can be.
fn quoted(text: &str) -> String {
    if text.contains('\\') || text.chars().any(char::is_control) {
        return string(text);
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// Conditions that a row has the key of this one, byte for byte.
pub(crate) fn key_conditions(table: &Table, row: &[Cell]) -> Vec<String> {
    let key = || table.key.iter().map(|at| (&table.columns[*at], &row[*at]));
    // As it is first, so that its index is used.
    // A number of a SET's members is compared as one with a sign.
    let indexed = key().filter(|(column, _)| column.data_type != "set");
    let plain = indexed.map(|(column, cell)| {
        let value = literal(column, cell);
        format!("{} = {value}", identifier(&column.name))
    });
    let exact = key().filter_map(|(column, cell)| {
        let says_the_same = format!("{} <=> {}", identifier(&column.name), literal(column, cell));
        guard(column, cell).filter(|guard| *guard != says_the_same)
    });
    plain.chain(exact).collect()
}

/// The statement that takes one change back, if `steps` went before and the row still is as the change left it; none if
/// only what the server computes has changed.
fn inverse(table: &Table, step: &Step, steps: usize) -> Option<String> {
    let name = table.name.sql();
    let is_next = format!("@weir_step = '{steps}'");
    let stored = |row: &[Cell]| -> Vec<(String, String)> {
        let pairs = table.columns.iter().zip(row);
        pairs
            // A column that was added since keeps its value, or gets its default.
            .filter(|(column, cell)| !column.is_generated && **cell != Cell::Unknown)
            .map(|(column, cell)| (identifier(&column.name), literal(column, cell)))
            .collect()
    };
    let guards = |row: &[Cell]| {
        let others = table.columns.iter().zip(row).enumerate();
        // What the server computes of other columns says nothing more, and may hang on its session.
        let others =
            others.filter(|(at, (column, _))| !column.is_generated && !table.key.contains(at));
        let all = std::iter::once(is_next.clone())
            .chain(key_conditions(table, row))
            .chain(others.filter_map(|(_, (column, cell))| guard(column, cell)));
        all.collect::<Vec<_>>().join(" AND ")
    };
    Some(match (&step.before, &step.after) {
        (None, Some(after)) => format!("DELETE FROM {name} WHERE {}", guards(after)),
        (Some(before), None) => {
            let (names, values): (Vec<_>, Vec<_>) = stored(before).into_iter().unzip();
            format!(
                "INSERT INTO {name} ({}) SELECT {} FROM DUAL WHERE {is_next}",
                names.join(", "),
                values.join(", ")
            )
        }
        (Some(before), Some(after)) => {
            if stored(before) == stored(after) {
                return None;
            }
            // All of them: a column with ON UPDATE that is not named would become the time of now.
            let sets = stored(before).into_iter();
            let sets: Vec<_> = sets
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            format!(
                "UPDATE {name} SET {} WHERE {}",
                sets.join(", "),
                guards(after)
            )
        }
        (None, None) => return None,
    })
}

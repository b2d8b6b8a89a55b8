//! The text of the way back: one transaction, newest change first, that keeps nothing unless each statement changed
//! exactly the row that it names.
//!
//! SQL alone decides, since it is not known which client reads the script. `@weir_step` counts the steps that did what
//! they say; a step is a check, or up to [`STEP_CHANGES`] changes. Each change has the count of the steps before it in
//! its condition, and `ROW_COUNT() = 1`: the change before it hit exactly one row. So after one that missed nothing more
//! happens, neither in a client that goes on after errors, nor in a session that the client opened anew. `COMMIT` is run
//! only if all were counted; `ROLLBACK` follows whatever happened. `LAST_INSERT_ID()` has the number of the change that
//! ran last: it only serves to name the row that missed.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use weir_mysql::identifier;

use crate::change::Transaction;
use crate::diff::key_text;
use crate::foreign_keys::ForeignKey;
use crate::inverse::inverse;
use crate::render::{Cell, literal, string};
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
/// Changes that are counted together: a statement that counts takes as long as one that changes a row.
const STEP_CHANGES: usize = 50;

/// A written script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Text of the script.
    pub text: String,
    /// Transactions that are taken back.
    pub transactions: usize,
    /// Rows that are left as they are, and why.
    pub conflicts: Vec<String>,
    /// Where in the text each statement lies that is sent to a server.
    sent: Vec<Range<usize>>,
    /// Numbers of those that change rows.
    changes: Vec<usize>,
    /// The number of the first statement of the end.
    end: usize,
    /// The count of a script that did all.
    pub(crate) steps: usize,
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
        transactions: 0,
        conflicts: Vec::new(),
        sent: Vec::new(),
        changes: Vec::new(),
        end: 0,
        steps: 0,
    };
    script.begin(&conflicts, cascades);
    script.conflicts = conflicts;
    if !surroundings.with_triggers {
        for table in tables {
            script.expect_no_triggers(&table.name);
        }
    }
    let steps: Vec<_> = going.iter().rev().map(|(_, step)| *step).collect();
    let mut transaction = None;
    for of_table in steps.chunk_by(|a, b| a.table == b.table) {
        for some in of_table.chunks(STEP_CHANGES) {
            script.take_back(&tables[some[0].table], some, &mut transaction);
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

    /// Statements that change rows, newest change first.
    pub fn changes(&self) -> impl ExactSizeIterator<Item = &str> {
        let changes = self.changes.iter();
        changes.map(|number| &self.text[self.sent[*number].clone()])
    }

    /// Statements up to the end, which keeps or rolls back what they did, and those of the end.
    pub(crate) fn parts(&self) -> [Vec<&str>; 2] {
        let (body, end) = self.sent.split_at(self.end);
        [body, end].map(|part| part.iter().map(|at| &self.text[at.clone()]).collect())
    }

    fn send(&mut self, statement: &str) {
        let start = self.text.len();
        self.text.push_str(statement);
        self.sent.push(start..self.text.len());
        self.text.push_str(";\n");
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
        self.send(&format!("SET @weir_step = NULL, {}", saved.join(", ")));
        self.send("SET NAMES utf8mb4");
        // Cascades would change rows that no statement names: these have statements of their own.
        let keys = u8::from(!cascades);
        self.send(&format!(
            "SET SESSION time_zone = '+00:00', foreign_key_checks = {keys}, sql_mode = '{SQL_MODE}'"
        ));
        self.send("START TRANSACTION");
        self.send(&format!(
            "SET @weir_step = IF(ROW_COUNT() = 0 AND @@SESSION.time_zone = '+00:00' AND \
             @@SESSION.foreign_key_checks = {keys} AND @@SESSION.sql_mode = '{SQL_MODE}' AND \
             @@SESSION.character_set_connection = 'utf8mb4', '0', 'SELECT ''the session cannot be set up'' AS missed')"
        ));
    }

    /// Counts a step if all before it were counted and `is_done`; else the text that `report` yields is the query of the
    /// end.
    fn count(&mut self, is_done: &str, report: &str) {
        let step = self.steps;
        self.steps += 1;
        self.send(&format!(
            "SET @weir_step = IF(@weir_step = '{step}', IF({is_done}, '{}', {report}), @weir_step)",
            self.steps
        ));
    }

    fn expect_no_triggers(&mut self, table: &TableName) {
        self.send("SET @weir_found = NULL");
        self.send(&format!(
            "SELECT COUNT(*) INTO @weir_found FROM information_schema.TRIGGERS WHERE {}",
            table.condition("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE")
        ));
        let report = format!(
            "SELECT {} AS missed",
            quoted(&format!(
                "{table} has triggers since the script was written"
            ))
        );
        self.count("@weir_found = 0", &quoted(&report));
    }

    /// Takes some changes of a table back and counts them as one step; a comment comes before those of another
    /// `transaction`.
    fn take_back<'a>(
        &mut self,
        table: &Table,
        changes: &[&'a Step],
        transaction: &mut Option<&'a Arc<Transaction>>,
    ) {
        let mut rows = Vec::new();
        for step in changes {
            let is_same = |last: &Arc<Transaction>| {
                Arc::ptr_eq(last, &step.transaction) || last.place == step.transaction.place
            };
            if !transaction.is_some_and(is_same) {
                self.name(&step.transaction);
            }
            *transaction = Some(&step.transaction);
            let number = rows.len() + 1;
            let before = match number {
                1 => "",
                _ => " AND ROW_COUNT() = 1",
            };
            let is_next = format!(
                "IF(@weir_step = '{}'{before}, LAST_INSERT_ID({number}), 0)",
                self.steps
            );
            if let Some(statement) = inverse(table, step, &is_next) {
                self.changes.push(self.sent.len());
                self.send(&statement);
                rows.extend(step.before.as_deref().or(step.after.as_deref()));
            }
        }
        if !rows.is_empty() {
            self.count("ROW_COUNT() = 1", &row_report(table, &rows));
        }
    }

    fn name(&mut self, transaction: &Transaction) {
        self.transactions += 1;
        self.comment(&format!(
            "takes back {}, {}, at {}",
            transaction.name(),
            transaction.time(),
            transaction.place
        ));
    }

    /// Looks for rows of the child with these values that have no parent, and locks what was read.
    fn expect_parents(&mut self, key: &ForeignKey, values: &[String]) {
        for values in values.chunks(VALUES_MAX) {
            self.send("SET @weir_found = NULL");
            self.send(&format!(
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
            self.count("@weir_found = 0", &quoted(&report));
        }
    }

    fn end(&mut self) {
        self.text.push('\n');
        self.end = self.sent.len();
        let is_done = format!("@weir_step = '{}'", self.steps);
        let rows = self.changes.len();
        self.send(&format!(
            "SET @weir_report = IF({is_done}, 'DO 0', IF(@weir_step LIKE 'SELECT %', @weir_step, \
             'SELECT ''the session was lost, or a statement was refused'' AS missed'))"
        ));
        self.send(&format!(
            "SET @weir_end = IF({is_done}, 'COMMIT AND NO CHAIN NO RELEASE', 'DO 0')"
        ));
        for text in ["@weir_report", "@weir_end"] {
            self.send(&format!("PREPARE weir FROM {text}"));
            self.send("EXECUTE weir");
        }
        // After an error it is -1: a COMMIT may be refused, too.
        self.send("SET @weir_ended = ROW_COUNT()");
        self.send("ROLLBACK AND NO CHAIN NO RELEASE");
        let put_back = SAVED.map(|(kept, name)| format!("{name} = {kept}"));
        self.send(&format!("SET SESSION {}", put_back.join(", ")));
        let is_kept = format!("{is_done} AND @weir_ended = 0");
        self.send(&format!(
            "SET @weir_report = IF({is_kept}, 'SELECT ''{rows} changes of rows are taken back'' AS result', 'DO 0')"
        ));
        self.send("PREPARE weir FROM @weir_report");
        self.send("EXECUTE weir");
        // A column that is not there makes a client say that the script failed.
        self.send(&format!(
            "SET @weir_report = IF({is_kept}, 'DO 0', 'SELECT `nothing was changed: see the row above`')"
        ));
        self.send("PREPARE weir FROM @weir_report");
    }
}

/// A string that is read alike in the script's mode, and as readable as it can be.
fn quoted(text: &str) -> String {
    if text.contains('\\') || text.chars().any(char::is_control) {
        return string(text);
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// An expression for the query that shows the row that the last change missed, one of these, and what is there.
fn row_report(table: &Table, rows: &[&[Cell]]) -> String {
    let names = rows
        .iter()
        .map(|row| quoted(&quoted(&key_text(table, row))));
    let conditions = rows.iter().map(|row| {
        let key = table.key.iter().map(|at| {
            let column = &table.columns[*at];
            format!(
                "now.{} = {}",
                identifier(&column.name),
                literal(column, &row[*at])
            )
        });
        quoted(&key.collect::<Vec<_>>().join(" AND "))
    });
    let one_of = |texts: Vec<_>| format!("ELT(LAST_INSERT_ID(), {})", texts.join(", "));
    let start = format!("SELECT CONCAT({}, ", quoted(&format!("{} ", table.name)));
    let middle = format!(
        ", ' is not as the change left it') AS missed, now.* FROM (SELECT 1) AS one LEFT JOIN {} AS now ON ",
        table.name.sql()
    );
    format!(
        "CONCAT({}, {}, {}, {})",
        quoted(&start),
        one_of(names.collect()),
        quoted(&middle),
        one_of(conditions.collect())
    )
}

//! The script, run on a copy of the tables as they are, with the keys and triggers that they have; its rows are
//! compared with those of before the changes.

use std::collections::HashSet;

use weir_model::Flavor;
use weir_mysql::{Connection, identifier};
use weir_process::WorkDirectory;
use weir_server::ServerBinary;

use crate::copy::READS_BYTES;
use crate::difference::{Pair, differences};
use crate::events::apply;
use crate::flashback::create;
use crate::foreign_keys::ForeignKey;
use crate::hidden_keys;
use crate::private::TAKES_ALL;
use crate::script::{self, Script, Surroundings};
use crate::triggers::{Trigger, Triggers, mentioned_tables};
use crate::undo::Undo;
use crate::{FlashbackError, FlashbackPlan, Private, State, Table, TableName};

/// Beginning of the schemas of the rows that the script has to make.
const EXPECTED: &str = "weir_expected";
/// Steps of one query that looks for rows without a parent.
const STEPS_MAX: usize = 100;

/// A copy of the tables as they are, for a script to be tried on.
#[derive(Debug)]
pub struct Rehearsal<'a> {
    prepared: &'a FlashbackPlan,
    private: Private,
    snapshot: Connection,
    rows: Connection,
    surroundings: Surroundings,
    triggers: Triggers,
}

/// Results of a script on the copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RehearsalResult {
    /// Statements that do not change exactly the row that they name.
    pub missed: Vec<String>,
    /// Rows that are not what they were before the changes.
    pub differences: Vec<String>,
}

impl<'a> Rehearsal<'a> {
    /// Copies the tables as they are now, for these triggers to fire.
    ///
    /// # Errors
    ///
    /// A server that is gone, or one that does not start.
    pub fn new(
        prepared: &'a FlashbackPlan,
        binary: &ServerBinary,
        triggers: Triggers,
    ) -> Result<Self, FlashbackError> {
        let source = prepared.source();
        let foreign_keys = ForeignKey::read(&mut source.open()?, &prepared.tables)?;
        let directory = WorkDirectory::create(&prepared.options.work, "flashback")?;
        let (snapshot, _) = prepared.open_snapshot(State::Now)?;
        let private = Private::start(binary, &prepared.variables, directory, prepared.stop())?;
        let rows = private.connect_for_rows()?;
        let mut rehearsal = Self {
            prepared,
            private,
            snapshot,
            rows,
            surroundings: Surroundings {
                foreign_keys,
                with_triggers: triggers.may_fire,
            },
            triggers,
        };
        for table in &prepared.tables {
            rehearsal.copy(table, "")?;
        }
        Ok(rehearsal)
    }

    /// The server with the copy.
    pub fn private(&self) -> &Private {
        &self.private
    }

    fn copy(&mut self, table: &Table, clause: &str) -> Result<(), FlashbackError> {
        self.private.make_schema(&table.name.schema)?;
        create(table, &self.private)?;
        let (snapshot, rows) = (&mut self.snapshot, &mut self.rows);
        let prepared = self.prepared;
        prepared.copy_snapshot(snapshot, table, clause, rows, &self.private)?;
        Ok(())
    }

    /// Looks for rows that would refer to none, and leaves the changes that would cause them; writes the script and
    /// runs it.
    ///
    /// # Errors
    ///
    /// Rows of other tables that would not come back, or a server that is gone.
    pub fn perform(
        mut self,
        undo: &mut Undo,
        head: &str,
    ) -> Result<(Script, RehearsalResult), FlashbackError> {
        self.check_cascades(undo)?;
        self.copy_neighbours(undo)?;
        self.make_triggers()?;
        let mut missed = self.leave_orphans(undo)?;
        let tables = &self.prepared.tables;
        let script = script::write(undo, tables, &self.surroundings, head);
        self.expect(undo)?;
        // Keys are checked after each statement, also where the rows at the end would do.
        let stopped = rehearse(&self.private, &script)?;
        if missed.is_empty() {
            missed = stopped;
        }
        let mut found = Vec::new();
        let mut connection = self.private.connect(None)?;
        connection.run(READS_BYTES)?;
        for (number, table) in tables.iter().enumerate() {
            let pair = Pair {
                table,
                expected: &expected_table(number, table),
            };
            found.extend(differences(&mut connection, pair)?);
        }
        let rehearsed = RehearsalResult {
            missed,
            differences: found,
        };
        Ok((script, rehearsed))
    }

    /// Rows that a change of a parent changed with it come back only if their table is among those that are undone.
    fn check_cascades(&self, undo: &Undo) -> Result<(), FlashbackError> {
        if self.prepared.options.ignore_cascades {
            return Ok(());
        }
        let tables = &self.prepared.tables;
        let (going, _) = undo.plan(tables);
        let steps: Vec<_> = going.iter().map(|(_, step)| *step).collect();
        let mut connection = self.prepared.source().open()?;
        hidden_keys::check(
            &mut connection,
            tables,
            &self.surroundings.foreign_keys,
            &steps,
        )?;
        for key in &self.surroundings.foreign_keys {
            let is_undone = tables.iter().any(|table| table.name == key.child);
            let cascaded = going
                .iter()
                .find(|(_, step)| !is_undone && key.has_cascaded(tables, step));
            if let Some((_, step)) = cascaded {
                return Err(FlashbackError::refused(
                    format!(
                        "{}: its change may have changed rows of {} (foreign key {}), which would not come back with it",
                        step.row_name(tables),
                        key.child,
                        key.name
                    ),
                    format!(
                        "add {} to --tables, or pass --ignore-cascades to leave its rows as they are",
                        key.child
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Copies rows of other tables that refer to rows that go, or that those that come refer to.
    fn copy_neighbours(&mut self, undo: &Undo) -> Result<(), FlashbackError> {
        let tables = &self.prepared.tables;
        let (going, _) = undo.plan(tables);
        let steps: Vec<_> = going.iter().map(|(_, step)| *step).collect();
        let mut conditions: Vec<(TableName, String)> = Vec::new();
        for key in &self.surroundings.foreign_keys {
            let values = key.changed_values(tables, &steps);
            for (name, is_child) in [(&key.child, true), (&key.parent, false)] {
                if tables.iter().any(|table| table.name == *name) {
                    continue;
                }
                let condition = match values.as_slice() {
                    [] => "FALSE".to_owned(),
                    values => key.has_value("", is_child, values),
                };
                conditions.push((name.clone(), condition));
            }
        }
        conditions.sort();
        for of_one in conditions.chunk_by(|a, b| a.0 == b.0) {
            let table = self.read_table(&of_one[0].0)?;
            let any: Vec<_> = of_one.iter().map(|(_, one)| one.as_str()).collect();
            self.copy(&table, &format!(" WHERE {}", any.join(" OR ")))?;
        }
        Ok(())
    }

    fn read_table(&self, name: &TableName) -> Result<Table, FlashbackError> {
        let (source, variables) = (&self.prepared.source(), &self.prepared.variables);
        Table::read(&mut source.open()?, source, variables, name, true)
    }

    /// Makes the triggers, after the tables that they name.
    fn make_triggers(&mut self) -> Result<(), FlashbackError> {
        let mut connection = self.prepared.source().open()?;
        let known = &self.prepared.tables;
        let mut names = mentioned_tables(&mut connection, &self.triggers.all, known)?;
        // A neighbour has only the rows that keys need.
        let keys = self.surroundings.foreign_keys.iter();
        let neighbours: Vec<_> = keys.flat_map(|key| [&key.child, &key.parent]).collect();
        names.retain(|name| !neighbours.contains(&name));
        for name in names {
            let table = self.read_table(&name)?;
            self.copy(&table, "")?;
        }
        let mut connection = self.private.connect(None)?;
        for statement in self.triggers.all.iter().flat_map(Trigger::statements) {
            connection.run(&statement).map_err(self.private.refused())?;
        }
        Ok(())
    }

    /// Tries all changes, and leaves those after which a row would refer to none, until there is no such row. Returns
    /// the statements that missed their row.
    fn leave_orphans(&self, undo: &mut Undo) -> Result<Vec<String>, FlashbackError> {
        let mut connection = self.private.connect(None)?;
        loop {
            let missed = self.try_changes(undo, &mut connection)?;
            let mut left = Vec::new();
            for key in &self.surroundings.foreign_keys {
                left.extend(self.orphaning(undo, key, &mut connection)?);
            }
            connection.run("ROLLBACK")?;
            let mut is_settled = true;
            for (number, why) in left {
                is_settled &= !undo.leave(number, &why);
            }
            if is_settled {
                return Ok(missed);
            }
        }
    }

    /// Runs each statement of a script by itself, in a transaction that stays open.
    fn try_changes(
        &self,
        undo: &Undo,
        connection: &mut Connection,
    ) -> Result<Vec<String>, FlashbackError> {
        let script = script::write(undo, &self.prepared.tables, &self.surroundings, "");
        connection.run("SET NAMES utf8mb4")?;
        connection.run(TAKES_ALL)?;
        connection.run("START TRANSACTION")?;
        let first = script.steps_before_changes;
        let mut missed = Vec::new();
        for (number, statement) in script.statements.iter().enumerate() {
            self.prepared.stop().check()?;
            connection.run(format!("SET @weir_step = '{}'", first + number))?;
            match connection.run(statement) {
                Ok(done) if done.affected_rows == 1 => {}
                Ok(_) => missed.push(statement.clone()),
                Err(error) if error.is_lost() => return Err(error.into()),
                Err(error) => missed.push(format!("{statement} ({})", error.words())),
            }
        }
        Ok(missed)
    }

    /// Numbers of the changes that would leave rows of this key without a parent, with why.
    fn orphaning(
        &self,
        undo: &Undo,
        key: &ForeignKey,
        connection: &mut Connection,
    ) -> Result<Vec<(usize, String)>, FlashbackError> {
        let tables = &self.prepared.tables;
        let (going, _) = undo.plan(tables);
        let mut searched = Vec::new();
        for (number, step) in going {
            for value in key.values_of(tables, step) {
                searched.push(format!(
                    "(SELECT {number} {} LIMIT 1)",
                    key.orphans(&[value])
                ));
            }
        }
        let mut found: HashSet<usize> = HashSet::new();
        for searched in searched.chunks(STEPS_MAX) {
            found.extend(connection.rows::<usize>(searched.join(" UNION ALL "))?);
        }
        let why = format!(
            "a row of {} would refer to none of {} (foreign key {})",
            key.child, key.parent, key.name
        );
        Ok(found
            .into_iter()
            .map(|number| (number, why.clone()))
            .collect())
    }

    /// Makes tables with the rows that the script has to make.
    fn expect(&mut self, undo: &mut Undo) -> Result<(), FlashbackError> {
        let tables = &self.prepared.tables;
        let mut images = std::mem::take(&mut undo.images);
        for (number, table) in tables.iter().enumerate() {
            // Its generated columns have what was logged; the script has the server compute them.
            let expected = Table {
                name: expected_table(number, table),
                ..table.with_plain_columns()
            };
            self.private.make_schema(&expected.name.schema)?;
            create(&expected, &self.private)?;
            let columns = expected.stored().map(|one| identifier(&one.name));
            let columns = columns.collect::<Vec<_>>().join(", ");
            let (expected, source) = (expected.name, table.name.sql());
            let statement = format!(
                "INSERT INTO {} ({columns}) SELECT {columns} FROM {source}",
                expected.sql()
            );
            self.rows.run(statement).map_err(self.private.refused())?;
            let Some(images) = images.get_mut(number) else {
                continue;
            };
            images.retain(&undo.going_keys(tables, number));
            images.redirect(&expected.schema, &expected.table);
            if let Some(writer) = &undo.writer {
                self.private.be_strict(&mut self.rows, false)?;
                let (stop, refused) = (self.prepared.stop(), self.private.refused());
                apply(images, &mut self.rows, writer, false, stop, &refused)?;
            }
        }
        Ok(())
    }
}

/// A schema for each: names of constraints are unique in one.
fn expected_table(number: usize, table: &Table) -> TableName {
    TableName {
        schema: format!("{EXPECTED}{number}"),
        table: table.name.table.clone(),
    }
}

/// Sends all of a script, as a client does that goes on after errors.
fn send(private: &Private, script: &Script) -> Result<Connection, FlashbackError> {
    let mut connection = private.connect(None)?;
    if private.flavor() == Flavor::Mariadb {
        connection.run("SET SESSION check_constraint_checks = 1")?;
    }
    for statement in &script.sent {
        let sent = connection.each(statement, |_: weir_mysql::Row| {});
        match sent {
            Err(error) if error.is_lost() => return Err(error.into()),
            _ => {}
        }
    }
    Ok(connection)
}

/// Runs a script on the private server, which has the tables as they are; what it says of a row that it missed.
///
/// # Errors
///
/// A private server that is gone.
pub fn rehearse(private: &Private, script: &Script) -> Result<Vec<String>, FlashbackError> {
    let mut connection = send(private, script)?;
    let step: Option<Option<String>> = connection.first("SELECT @weir_step")?;
    let step = step.flatten().unwrap_or_default();
    if step == script.steps.to_string() {
        return Ok(Vec::new());
    }
    // A statement that the server refuses leaves the number of the step before it.
    let number = step.parse::<usize>().ok();
    let refused = number.and_then(|number| {
        let at = number.checked_sub(script.steps_before_changes)?;
        script.statements.get(at).cloned()
    });
    Ok(vec![refused.unwrap_or(step)])
}

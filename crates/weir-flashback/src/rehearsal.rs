//! The script, run on a copy of the tables as they are, with the keys and triggers that they have; its rows are
//! compared with those of before the changes.

use std::collections::HashSet;

use weir_model::Flavor;
use weir_mysql::{Connection, Row, identifier};

use crate::copy::READS_BYTES;
use crate::difference::{Pair, differences};
use crate::events::apply;
use crate::flashback::create;
use crate::foreign_keys::ForeignKey;
use crate::hidden_keys;
use crate::inverse::inverse;
use crate::private::TAKES_ALL;
use crate::script::{self, Script, Surroundings};
use crate::triggers::{Trigger, Triggers, mentioned_tables};
use crate::undo::Undo;
use crate::{FlashbackError, FlashbackPlan, Private, State, Stop, Table, TableName};

/// Beginning of the schemas of the rows that the script has to make.
const EXPECTED: &str = "weir_expected";
/// Steps of one query that looks for rows without a parent.
const STEPS_MAX: usize = 100;
/// Statements between two looks whether to stop.
const SENT_AT_ONCE: usize = 1_000;

/// A copy of the tables as they are, for a script to be tried on.
#[derive(Debug)]
pub struct Rehearsal<'a> {
    prepared: &'a FlashbackPlan,
    private: &'a Private,
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
    /// Copies the tables as they are now to the private server, for these triggers to fire. All else on that server is
    /// removed.
    ///
    /// # Errors
    ///
    /// A server that is gone.
    pub fn new(
        prepared: &'a FlashbackPlan,
        private: &'a Private,
        triggers: Triggers,
    ) -> Result<Self, FlashbackError> {
        let source = prepared.source();
        let foreign_keys = ForeignKey::read(&mut source.open()?, &prepared.tables)?;
        private.clear()?;
        let (snapshot, _) = prepared.open_snapshot(State::Now)?;
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

    fn copy(&mut self, table: &Table, clause: &str) -> Result<(), FlashbackError> {
        self.private.make_schema(&table.name.schema)?;
        create(table, self.private)?;
        let (snapshot, rows) = (&mut self.snapshot, &mut self.rows);
        let prepared = self.prepared;
        prepared.copy_snapshot(snapshot, table, clause, rows, self.private)?;
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
        self.copy_aside()?;
        let (script, missed) = self.settle(undo, head)?;
        self.expect(undo)?;
        let mut found = Vec::new();
        let mut connection = self.private.connect(None)?;
        connection.run(READS_BYTES)?;
        for (table, expected) in self.prepared.tables.iter().zip(self.expected()) {
            let pair = Pair {
                table,
                expected: &expected.name,
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
            let values = key.written_values(tables, &steps);
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

    /// Runs the script, and leaves changes after which a row would refer to none, until there is no such row. Returns
    /// the script and the statements that missed their row.
    fn settle(&self, undo: &mut Undo, head: &str) -> Result<(Script, Vec<String>), FlashbackError> {
        loop {
            let script = script::write(undo, &self.prepared.tables, &self.surroundings, head);
            let mut trial = Trial::begin(self.private, &script, self.prepared.stop())?;
            let stopped = trial.missed()?;
            let missed = if stopped.is_some() {
                trial.connection.run("ROLLBACK")?;
                self.try_changes(undo, &mut trial.connection)?
            } else {
                Vec::new()
            };
            let mut is_settled = true;
            for key in &self.surroundings.foreign_keys {
                for (number, why) in self.orphaning(undo, key, &mut trial.connection)? {
                    is_settled &= !undo.leave(number, &why);
                }
            }
            if is_settled && stopped.is_none() {
                let missed = trial.end()?.into_iter().collect();
                return Ok((script, missed));
            }
            trial.connection.run("ROLLBACK")?;
            if is_settled {
                // Keys are checked after each statement, also where the rows at the end would do.
                let missed = if missed.is_empty() {
                    stopped.into_iter().collect()
                } else {
                    missed
                };
                return Ok((script, missed));
            }
        }
    }

    /// Runs each change by itself, without the checks of keys, in a transaction that stays open. Returns those that do
    /// not change exactly the row that they name.
    fn try_changes(
        &self,
        undo: &Undo,
        connection: &mut Connection,
    ) -> Result<Vec<String>, FlashbackError> {
        let tables = &self.prepared.tables;
        connection.run(TAKES_ALL)?;
        connection.run("START TRANSACTION")?;
        let (going, _) = undo.plan(tables);
        let going = going.iter().rev();
        let changes = going.filter_map(|(_, step)| inverse(&tables[step.table], step, "TRUE"));
        let mut missed = Vec::new();
        for statement in changes {
            self.prepared.stop().check()?;
            match connection.run(&statement) {
                Ok(done) if done.affected_rows == 1 => {}
                Ok(_) => missed.push(statement),
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

    /// Tables for the rows that the script has to make.
    fn expected(&self) -> Vec<Table> {
        let tables = self.prepared.tables.iter().enumerate();
        tables
            .map(|(number, table)| Table {
                name: expected_table(number, table),
                // Generated columns have what was logged; the script has the server compute them.
                ..table.with_plain_columns()
            })
            .collect()
    }

    /// Copies the rows from which the script starts.
    fn copy_aside(&mut self) -> Result<(), FlashbackError> {
        for (table, expected) in self.prepared.tables.iter().zip(self.expected()) {
            self.private.make_schema(&expected.name.schema)?;
            create(&expected, self.private)?;
            let columns = expected.stored().map(|one| identifier(&one.name));
            let columns = columns.collect::<Vec<_>>().join(", ");
            let statement = format!(
                "INSERT INTO {} ({columns}) SELECT {columns} FROM {}",
                expected.name.sql(),
                table.name.sql()
            );
            self.rows.run(statement).map_err(self.private.refused())?;
        }
        Ok(())
    }

    /// Gives those that are taken back the values that they had.
    fn expect(&mut self, undo: &mut Undo) -> Result<(), FlashbackError> {
        let Some(writer) = &undo.writer else {
            return Ok(());
        };
        let mut images = std::mem::take(&mut undo.images);
        for (number, (expected, images)) in self.expected().iter().zip(&mut images).enumerate() {
            images.retain(&undo.going_keys(&self.prepared.tables, number));
            images.redirect(&expected.name.schema, &expected.name.table);
            self.private.be_strict(&mut self.rows, false)?;
            let (stop, refused) = (self.prepared.stop(), self.private.refused());
            apply(images, &mut self.rows, writer, false, stop, &refused)?;
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

/// A script on the private server, up to its end.
struct Trial<'a> {
    connection: Connection,
    script: &'a Script,
}

impl<'a> Trial<'a> {
    /// Sends all but the end, as a client does that goes on after errors.
    fn begin(private: &Private, script: &'a Script, stop: Stop) -> Result<Self, FlashbackError> {
        let mut connection = private.connect(None)?;
        if private.flavor() == Flavor::Mariadb {
            connection.run("SET SESSION check_constraint_checks = 1")?;
        }
        let [body, _] = script.parts();
        for some in body.chunks(SENT_AT_ONCE) {
            stop.check()?;
            connection.first_of_each::<Row>(some)?;
        }
        Ok(Self { connection, script })
    }

    /// Returns what the script says of the row that it missed; none if it missed none.
    fn missed(&mut self) -> Result<Option<String>, FlashbackError> {
        let step: Option<Option<String>> = self.connection.first("SELECT @weir_step")?;
        let step = step.flatten().unwrap_or_default();
        Ok((step != self.script.steps.to_string()).then_some(step))
    }

    /// Lets the script keep its changes if it missed no row.
    fn end(mut self) -> Result<Option<String>, FlashbackError> {
        let [_, end] = self.script.parts();
        self.connection.first_of_each::<Row>(&end)?;
        self.missed()
    }
}

/// Runs a script on the private server, which has the tables as they are; what it says of a row that it missed.
///
/// # Errors
///
/// A private server that is gone.
pub fn rehearse(private: &Private, script: &Script) -> Result<Option<String>, FlashbackError> {
    Trial::begin(private, script, Stop::default())?.end()
}

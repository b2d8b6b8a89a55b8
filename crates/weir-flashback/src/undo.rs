//! The way back: which changes of chosen transactions are taken back, and which are left since another transaction
//! changed their rows after them, or since something refers to them.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use weir_mysql::binlog::{EventWriter, Gtid};

use crate::change::{Change, Transaction};
use crate::images::Images;
use crate::render::Cell;
use crate::step::{RowKey, Step, word_of};
use crate::{FlashbackError, FlashbackPlan, LogFindings, Table};

/// Which transactions are taken back; all after the moment, if nothing is chosen.
#[derive(Debug, Clone, Default)]
pub struct TransactionFilter {
    /// By name.
    pub gtids: Vec<Gtid>,
    /// By connection.
    pub connection: Option<u32>,
    /// By a part of the statement's text.
    pub statement: Option<String>,
}

impl TransactionFilter {
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

/// Changes that are to be taken back, and those that stand in the way.
#[derive(Debug, Default)]
pub struct Undo {
    chosen: TransactionFilter,
    steps: Vec<Step>,
    /// Keys that chosen transactions changed: what others do before or elsewhere conflicts with nothing.
    touched: HashSet<(usize, Vec<u8>)>,
    /// Of each table, the rows of before the chosen changes.
    pub(crate) images: Vec<Images>,
    /// Writer of events as this log has them.
    pub(crate) writer: Option<EventWriter>,
}

impl Undo {
    /// Of these transactions.
    pub fn new(chosen: TransactionFilter) -> Self {
        Self {
            chosen,
            ..Self::default()
        }
    }

    /// Reads the changes of these transactions since the moment.
    ///
    /// # Errors
    ///
    /// A log that cannot be read, or a past that is unknown.
    pub fn read(
        prepared: &FlashbackPlan,
        chosen: TransactionFilter,
    ) -> Result<(Self, LogFindings), FlashbackError> {
        let mut undo = Self::new(chosen);
        let tables = &prepared.tables;
        let (told, writer) = prepared.scan_all(false, &mut |change| {
            undo.take(&tables[change.table], change)
        })?;
        undo.writer = writer;
        Ok((undo, told))
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
            key_before: None,
            key_after: None,
            before: None,
            after: None,
            obstacle: None,
        };
        for (image, is_after) in change.images() {
            let key = Some(change.key(table, image)?);
            let cells = if is_chosen {
                Some(change.cells(table, image)?)
            } else {
                None
            };
            if is_after {
                (step.key_after, step.after) = (key, cells);
            } else {
                (step.key_before, step.before) = (key, cells);
            }
        }
        if is_chosen {
            check_old_values(table, change, step.before.as_deref())?;
            self.images_of(change.table).take(table, change)?;
            let keys = step.keys().map(|(table, key)| (table, key.to_vec()));
            self.touched.extend(keys);
        } else if !step
            .keys()
            .any(|(table, key)| self.touched.contains(&(table, key.to_vec())))
        {
            return Ok(());
        }
        self.steps.push(step);
        Ok(())
    }

    /// All steps are in memory, and so are these.
    fn images_of(&mut self, table: usize) -> &mut Images {
        while self.images.len() <= table {
            self.images.push(Images::new(Path::new(""), usize::MAX));
        }
        &mut self.images[table]
    }

    /// The chosen steps that change rows of a table, with their numbers.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = (usize, &Step)> {
        let steps = self.steps.iter().enumerate();
        steps.filter(|(_, step)| step.is_chosen)
    }

    /// Rows that were not there before the first change of them by anyone since the first chosen one, and are not there
    /// after the last.
    pub(crate) fn passing_rows(&self) -> HashSet<RowKey<'_>> {
        let mut was_there: HashMap<RowKey<'_>, bool> = HashMap::new();
        let mut gone: HashSet<RowKey<'_>> = HashSet::new();
        for step in &self.steps {
            for row in step.keys() {
                let is_before = step.key_before.as_deref() == Some(row.1);
                was_there.entry(row).or_insert(is_before);
                if step.key_after.as_deref() == Some(row.1) {
                    gone.remove(&row);
                } else {
                    gone.insert(row);
                }
            }
        }
        gone.retain(|row| !was_there[row]);
        gone
    }

    /// Takes back only changes of these rows, and of the keys that they had in between.
    pub(crate) fn only(&mut self, rows: &HashSet<(usize, Vec<u8>)>) {
        let rows: HashSet<RowKey<'_>> = rows
            .iter()
            .map(|(table, key)| (*table, key.as_slice()))
            .collect();
        let rows = self.with_linked(rows);
        let is_chosen: Vec<bool> = self
            .steps
            .iter()
            .map(|step| step.is_chosen && step.keys().any(|key| rows.contains(&key)))
            .collect();
        for (step, is_chosen) in self.steps.iter_mut().zip(is_chosen) {
            step.is_chosen = is_chosen;
        }
    }

    /// These keys, and those that chosen changes moved them from or to.
    fn with_linked<'a>(&'a self, mut rows: HashSet<RowKey<'a>>) -> HashSet<RowKey<'a>> {
        let mut links: HashMap<RowKey<'a>, Vec<RowKey<'a>>> = HashMap::new();
        for (_, step) in self.chosen() {
            let mut keys = step.keys();
            if let (Some(before), Some(after)) = (keys.next(), keys.next())
                && before != after
            {
                links.entry(before).or_default().push(after);
                links.entry(after).or_default().push(before);
            }
        }
        let mut new: Vec<_> = rows.iter().copied().collect();
        while let Some(row) = new.pop() {
            let linked = links.get(&row).into_iter().flatten();
            new.extend(linked.filter(|row| rows.insert(**row)));
        }
        rows
    }

    /// Keys that a transaction that is not taken back changed after one that is, and those that hang together with
    /// them.
    fn changed_by_others(&self) -> HashSet<RowKey<'_>> {
        let mut touched: HashSet<RowKey<'_>> = HashSet::new();
        let mut left: HashSet<RowKey<'_>> = HashSet::new();
        for step in &self.steps {
            for key in step.keys() {
                if step.is_chosen {
                    touched.insert(key);
                } else if touched.contains(&key) {
                    left.insert(key);
                }
            }
        }
        self.with_linked(left)
    }

    /// Leaves a chosen change as it is; whether it was to be taken back until now.
    pub(crate) fn leave(&mut self, number: usize, why: &str) -> bool {
        let obstacle = &mut self.steps[number].obstacle;
        let is_new = obstacle.is_none();
        obstacle.get_or_insert_with(|| why.to_owned());
        is_new
    }

    /// The steps that are taken back, oldest first, and conflicts: the others with why they are left as they are.
    pub(crate) fn plan(&self, tables: &[Table]) -> (Vec<(usize, &Step)>, Vec<String>) {
        let by_others = self.changed_by_others();
        let mut left = by_others.clone();
        let obstructed = self.chosen().filter(|(_, step)| step.obstacle.is_some());
        left.extend(obstructed.flat_map(|(_, step)| step.keys()));
        let left = self.with_linked(left);
        let (mut going, mut conflicts) = (Vec::new(), Vec::new());
        for (number, step) in self.chosen() {
            if !step.keys().any(|key| left.contains(&key)) {
                going.push((number, step));
                continue;
            }
            let why = match &step.obstacle {
                Some(why) => why,
                None if step.keys().any(|key| by_others.contains(&key)) => {
                    "another transaction changed the row since"
                }
                None => "a later change of the row is not taken back",
            };
            conflicts.push(format!(
                "{}: {} by {} is not taken back, {why}",
                step.row_name(tables),
                word_of(step),
                step.transaction.name()
            ));
        }
        (going, conflicts)
    }

    /// The keys of a table's rows that are taken back.
    pub(crate) fn going_keys(&self, tables: &[Table], table: usize) -> HashSet<Vec<u8>> {
        let (going, _) = self.plan(tables);
        let of_table = going.into_iter().filter(|(_, step)| step.table == table);
        of_table
            .flat_map(|(_, step)| step.keys().map(|(_, key)| key.to_vec()))
            .collect()
    }
}

fn check_old_values(
    table: &Table,
    change: &Change<'_>,
    before: Option<&[Cell]>,
) -> Result<(), FlashbackError> {
    let cells = before.unwrap_or_default();
    // A column that was added since had no value.
    let logged = table.columns.iter().zip(cells);
    let lacks = logged
        .take(change.map.columns.len())
        .any(|(column, cell)| !column.is_virtual && *cell == Cell::Unknown);
    if !lacks {
        return Ok(());
    }
    Err(FlashbackError::refused(
        format!(
            "{}: the log at {} has not all old values (transaction {})",
            table.name,
            change.place,
            change.transaction.name()
        ),
        "its session had another binlog_row_image than FULL; restore a backup",
    ))
}

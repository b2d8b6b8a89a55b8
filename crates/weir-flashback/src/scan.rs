//! One pass over the log: from the moment that is asked for to the end that was known when it began.

use std::collections::HashMap;
use std::sync::Arc;

use weir_mysql::NameCase;
use weir_mysql::binlog::{
    Event, LogReader, Packets, Place, QueryEvent, RowsEvent, RowsKind, TableMap, TransactionStart,
    kind, statement_text,
};

use crate::branches::{Branches, KeptRows, Word};
use crate::change::{Change, Transaction};
use crate::error::purged;
use crate::findings::LogFindings;
use crate::moment::{Cut, Moment};
use crate::pace::Pace;
use crate::row_events::{Rows, hand_on};
use crate::statement::{Concern, concern};
use crate::{FlashbackError, Stop, Table};

/// Transactions within the second of the moment that are named.
const WITHIN_SECOND_MAX: usize = 10;

/// Reads a whole log of `packets`; each change of a row of `tables` after the moment goes to `on_change`.
///
/// # Errors
///
/// A damaged log, and whatever in it makes the past unknown.
pub fn read_log<P: Packets>(
    packets: P,
    tables: &[Table],
    moment: &Moment,
    on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
) -> Result<LogFindings, FlashbackError> {
    let cut = Cut::new(moment.clone(), Vec::new());
    Scan::new(tables, cut).run(&mut LogReader::new(packets), on_change)
}

/// One pass over the log.
pub(crate) struct Scan<'a> {
    tables: &'a [Table],
    cut: Cut,
    /// Where the log ended when the pass began; without it, it is read as far as it goes.
    pub(crate) end: Option<(String, u64)>,
    pub(crate) pace: Pace,
    pub(crate) stop: Stop,
    /// The server's way to compare names.
    pub(crate) name_case: NameCase,
    /// True if the pass lists what makes the past unknown and goes on.
    pub(crate) is_lenient: bool,
    /// Tables whose rows are followed, by number and layout.
    maps: HashMap<u64, (usize, Arc<TableMap>)>,
    transaction: Option<Arc<Transaction>>,
    /// The last one before the moment.
    last_before: Option<Transaction>,
    is_after: bool,
    branches: Branches,
    told: LogFindings,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(tables: &'a [Table], cut: Cut) -> Self {
        Self {
            told: LogFindings {
                added: vec![Vec::new(); tables.len()],
                ..LogFindings::default()
            },
            tables,
            cut,
            end: None,
            pace: Pace::new(None),
            stop: Stop::default(),
            name_case: NameCase::default(),
            is_lenient: false,
            maps: HashMap::new(),
            transaction: None,
            last_before: None,
            is_after: false,
            branches: Branches::default(),
        }
    }

    /// Reads to the end; each change of a row after the moment goes to `on_change`.
    ///
    /// # Errors
    ///
    /// A damaged log, one that is gone, and whatever in it makes the past unknown.
    pub(crate) fn run<P: Packets>(
        mut self,
        reader: &mut LogReader<P>,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<LogFindings, FlashbackError> {
        loop {
            self.stop.check()?;
            self.pace.keep(reader.bytes(), self.stop);
            if self.is_at_end(reader) {
                break;
            }
            let Some(event) = reader.next_event().map_err(purged)? else {
                break;
            };
            self.event(&event, on_change)?;
        }
        if !self.cut.is_found() {
            return Err(FlashbackError::refused(
                "the transaction that is named is not in the server's log",
                "SHOW BINARY LOGS lists the remaining files; ask by time",
            ));
        }
        self.told.log_bytes = reader.bytes();
        self.told.pending = self.branches.pending();
        let last_before = self.last_before.as_ref();
        self.told.last_before = last_before.map(|last| (last.name(), last.time()));
        Ok(self.told)
    }

    fn is_at_end<P: Packets>(&self, reader: &LogReader<P>) -> bool {
        self.end.as_ref().is_some_and(|(file, position)| {
            let end = reader.end();
            *end.file == **file && end.position >= *position && !reader.is_inside()
        })
    }

    fn event(
        &mut self,
        event: &Event<'_>,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(), FlashbackError> {
        let (header, body, place) = (&event.header, event.body, &event.place);
        if is_start(header.kind) {
            let start = TransactionStart::read(header, body);
            let start = start.map_err(FlashbackError::malformed(place.clone()))?;
            self.begins(start, place);
            return Ok(());
        }
        // Before the moment only rows of two-phase transactions matter, which may be committed after it.
        if !self.is_after && !self.branches.is_open() && header.kind != kind::QUERY {
            return Ok(());
        }
        match header.kind {
            kind::QUERY | kind::EXECUTE_LOAD_QUERY => {
                let query = QueryEvent::read(header.kind, body)
                    .map_err(FlashbackError::malformed(place.clone()))?;
                self.query(&query, place, on_change)
            }
            kind::ROWS_QUERY | kind::MARIADB_ANNOTATE_ROWS => {
                let text = statement_text(header.kind, body).into_owned();
                self.note(|transaction| transaction.statement = Some(text));
                Ok(())
            }
            kind::TABLE_MAP => self.table_map(body, place),
            kind::INCIDENT => Err(FlashbackError::refused(
                format!(
                    "the log has a gap at {place} (an incident event): changes are missing in it"
                ),
                "restore a backup from before that time",
            )),
            // The first byte says whether it was committed at once.
            kind::XA_PREPARE if body.first() == Some(&0) => {
                self.branches.prepare();
                Ok(())
            }
            kind::XA_PREPARE | kind::XID => {
                let rows = self.branches.end_open();
                self.changes_of(&rows, on_change)
            }
            rows if RowsKind::from_event_kind(rows).is_some() => self.rows(event, on_change),
            _ => Ok(()),
        }
    }

    fn begins(&mut self, start: TransactionStart, place: &Place) {
        self.maps.clear();
        self.branches.end_open();
        if let Some(name) = &start.branch {
            self.branches.start(name);
        }
        let was_after = self.is_after;
        self.is_after = self.cut.begins(&start, place);
        let transaction = Transaction {
            start,
            place: place.clone(),
            connection: None,
            statement: None,
        };
        if self.cut.is_within_second(&transaction.start) {
            self.told.counts_within_second[usize::from(self.is_after)] += 1;
            if self.told.within_second.len() < WITHIN_SECOND_MAX {
                let named = (transaction.name(), self.is_after);
                self.told.within_second.push(named);
            }
        }
        if !self.is_after {
            self.last_before = Some(transaction);
            return;
        }
        self.told.transactions += 1;
        if !was_after {
            self.told.first = Some((transaction.name(), place.to_string(), transaction.time()));
        } else if self.cut.is_before(&transaction.start) {
            self.told.late += 1;
        }
        self.told.is_in_seconds |= !transaction.start.is_exact;
        self.transaction = Some(Arc::new(transaction));
    }

    fn note(&mut self, change: impl FnOnce(&mut Transaction)) {
        if let Some(transaction) = &mut self.transaction {
            change(Arc::make_mut(transaction));
        }
    }

    fn query(
        &mut self,
        query: &QueryEvent<'_>,
        place: &Place,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(), FlashbackError> {
        if let Some(word) = Word::read(&query.statement) {
            self.branch(word, place, on_change)?;
        }
        if !self.is_after {
            return Ok(());
        }
        let connection = query.connection;
        self.note(|transaction| transaction.connection = Some(connection));
        // What most transactions begin with is not taken apart.
        let is_undone = self
            .transaction
            .as_ref()
            .is_some_and(|one| one.start.is_undone);
        if query.statement == "BEGIN" || is_undone {
            return Ok(());
        }
        for (number, table) in self.tables.iter().enumerate() {
            match concern(query, &table.name, self.name_case) {
                Concern::None => {}
                Concern::Added(names) => self.told.added[number].extend(names),
                Concern::Unknown(why) => {
                    let time = self.transaction.as_ref().map(|one| one.time());
                    let what = format!(
                        "{}: a statement at {place}, {}, {why}: `{}`",
                        table.name,
                        time.unwrap_or_default(),
                        weir_mysql::shorten(&query.statement)
                    );
                    if self.is_lenient {
                        self.told.statements.push(what);
                        continue;
                    }
                    return Err(FlashbackError::refused(
                        what,
                        "ask for a time after it, or restore a backup from before it",
                    ));
                }
            }
        }
        Ok(())
    }

    /// A branch that was prepared before the moment and committed after it was not there then: its rows come with its
    /// commit.
    fn branch(
        &mut self,
        word: Word<'_>,
        place: &Place,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(), FlashbackError> {
        match word {
            Word::Start(name) => self.branches.start(name),
            Word::Rollback(name) => drop(self.branches.end(name)),
            Word::Commit(name) => match self.branches.end(name) {
                Some(rows) => return self.changes_of(&rows, on_change),
                None if self.is_after => return self.unknown_branch(name, place),
                None => {}
            },
        }
        Ok(())
    }

    fn unknown_branch(&mut self, name: &str, place: &Place) -> Result<(), FlashbackError> {
        let what = format!(
            "the transaction of two phases (XA) {name} was committed at {place} and prepared before the log file in which \
             the reading began, so that its rows are not known"
        );
        if self.is_lenient {
            self.told.statements.push(what);
            return Ok(());
        }
        Err(FlashbackError::refused(
            what,
            "ask for a time after that, or for one before it was prepared",
        ))
    }

    /// Hands on the rows of a branch that is committed here.
    fn changes_of(
        &mut self,
        kept: &[KeptRows],
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(), FlashbackError> {
        let Some(transaction) = self.transaction.as_ref().filter(|_| self.is_after) else {
            return Ok(());
        };
        for rows in kept {
            self.told.changes += hand_on(rows.as_rows(), transaction, on_change)?;
        }
        Ok(())
    }

    fn table_map(&mut self, body: &[u8], place: &Place) -> Result<(), FlashbackError> {
        let (table_id, schema, name) =
            TableMap::names(body).map_err(FlashbackError::malformed(place.clone()))?;
        let (case, schema, name) = (
            self.name_case,
            String::from_utf8_lossy(schema),
            String::from_utf8_lossy(name),
        );
        let is_it = |table: &Table| {
            case.is_same(&table.name.schema, &schema) && case.is_same(&table.name.table, &name)
        };
        let Some(number) = self.tables.iter().position(is_it) else {
            self.maps.remove(&table_id);
            return Ok(());
        };
        let map = TableMap::read(body).map_err(FlashbackError::malformed(place.clone()))?;
        let table = &self.tables[number];
        // Before columns were added, the log's rows have fewer.
        if self.is_lenient && map.columns.len() != table.columns.len() {
            return Ok(());
        }
        if map.columns.len() > table.columns.len()
            || table.key.iter().any(|at| *at >= map.columns.len())
        {
            // Rows before the moment matter only if they are committed after it, and no statement that changes a
            // definition comes in between.
            if !self.is_after {
                return Ok(());
            }
            return Err(FlashbackError::refused(
                format!(
                    "{} has {} columns in the log at {place} and {} now",
                    table.name,
                    map.columns.len(),
                    table.columns.len()
                ),
                "its definition was changed since, so that these rows do not fit; ask for a later time",
            ));
        }
        self.maps.insert(table_id, (number, Arc::new(map)));
        Ok(())
    }

    fn rows(
        &mut self,
        event: &Event<'_>,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(), FlashbackError> {
        let place = &event.place;
        let table_id =
            RowsEvent::table_id(event.body).map_err(FlashbackError::malformed(place.clone()))?;
        let Some((table, map)) = self.maps.get(&table_id) else {
            return Ok(());
        };
        let rows = Rows {
            table: *table,
            map,
            kind: event.header.kind,
            body: event.body,
            place,
        };
        if self.branches.is_open() {
            self.branches.keep(rows.to_kept());
            return Ok(());
        }
        let Some(transaction) = &self.transaction else {
            return Ok(());
        };
        self.told.changes += hand_on(rows, transaction, on_change)?;
        Ok(())
    }
}

pub(crate) fn is_start(event_kind: u8) -> bool {
    matches!(
        event_kind,
        kind::GTID | kind::ANONYMOUS_GTID | kind::GTID_TAGGED | kind::MARIADB_GTID
    )
}

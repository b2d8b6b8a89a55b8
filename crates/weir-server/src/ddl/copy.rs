//! An ALTER made by copying the table in chunks while the load goes on, in the two ways that tools have: by triggers,
//! and by the binary log. They are for a lab: they show what such a tool costs the load, on tables with a primary key of
//! one whole number.
//!
//! Both fill a new table from ranges of the key, let changes of the load follow, and swap the tables in one RENAME. What
//! they make has names of Weir's own ([`Leftover`]), and goes when they fail.

mod change_keys;
mod chunks;
mod layout;
mod leftover;
mod swap;
mod triggers;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::literal;
use weir_model::{CopyWay, Endpoint};
use weir_mysql::{ClientError, Connection, Connector, Gate, Patience, identifier};

use self::change_keys::ChangeKeys;
use self::chunks::Chunks;
use self::layout::Layout;
use self::leftover::Names;
use crate::ddl::{AlterStatement, DdlError};

pub(crate) use leftover::is_of_a_copier;
pub use leftover::{leftovers, remove_leftovers};

/// `ER_LOCK_WAIT_TIMEOUT` and `ER_LOCK_DEADLOCK`: trying again may do.
const PASSING: [u16; 2] = [1205, 1213];
/// Tries of a statement that others hold up.
const TRIES: u32 = 20;
/// Time of a chunk that is aimed at.
const CHUNK_TIME: Duration = Duration::from_millis(500);

/// A copy to make.
#[derive(Debug, Clone)]
pub struct TableCopier {
    /// The server.
    pub endpoint: Endpoint,
    /// Statements that may be sent to it.
    pub gate: Gate,
    /// The change.
    pub alter: AlterStatement,
    /// Way of copying.
    pub way: CopyWay,
    /// Variables of the copier's sessions.
    pub session: BTreeMap<String, String>,
}

/// Summary of a copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopySummary {
    /// Rows of all chunks.
    pub rows: u64,
    /// Chunks.
    pub chunks: u64,
    /// Rows that were read again because the log had changes of them.
    pub changes: u64,
}

impl TableCopier {
    /// Makes the copy, and swaps it with the table. `is_over`: whether to give up.
    ///
    /// # Errors
    ///
    /// A table that cannot be copied so, a server that refuses, or a copy that was given up. The table is as it was, and
    /// nothing else is left, unless the server is gone.
    pub fn run(&self, is_over: &dyn Fn() -> bool) -> Result<CopySummary, DdlError> {
        let names = Names::for_table(&self.alter.schema, &self.alter.table)?;
        // What a copier before this one may have left.
        names.remove(&mut self.connect()?)?;
        let copied = self.copy(&names, is_over);
        if copied.is_err()
            && let Ok(mut connection) = self.connect()
        {
            // The error of the copy is the one to tell.
            let _ = names.remove(&mut connection);
        }
        copied
    }

    fn copy(&self, names: &Names, is_over: &dyn Fn() -> bool) -> Result<CopySummary, DdlError> {
        let mut connection = self.connect()?;
        layout::check_table(&mut connection, &self.alter, self.way)?;
        // Changes from here on are in the log.
        let mut changes = match self.way {
            CopyWay::Triggers => None,
            CopyWay::Log => Some(ChangeKeys::from_now(&mut connection)?),
        };
        let layout = self.make_new_table(&mut connection, names)?;
        if self.way == CopyWay::Triggers {
            triggers::create(&mut connection, names, &layout)?;
        }
        let mut copied = CopySummary::default();
        let mut chunks = Chunks::new(&mut connection, names, &layout, CHUNK_TIME)?;
        loop {
            check(is_over)?;
            if let Some(changes) = &mut changes {
                changes.read(self, &layout)?;
                copied.changes += changes.apply(&mut connection, names, &layout)?;
            }
            match chunks.next(&mut connection)? {
                Some(rows) => copied.rows += rows,
                None => break,
            }
            copied.chunks += 1;
        }
        match changes {
            None => swap::rename(&mut connection, names)?,
            Some(mut changes) => {
                copied.changes += self.catch_up(&mut changes, names, &layout, is_over)?;
                copied.changes += swap::cut_over(self, &mut changes, names, &layout)?;
            }
        }
        // The tables are swapped: what is left is only to be cleared up.
        if names.remove(&mut connection).is_err() {
            names.remove(&mut self.connect()?)?;
        }
        Ok(copied)
    }

    /// Reads the log until little of it is left.
    fn catch_up(
        &self,
        changes: &mut ChangeKeys,
        names: &Names,
        layout: &Layout,
        is_over: &dyn Fn() -> bool,
    ) -> Result<u64, DdlError> {
        const LITTLE: u64 = 200;
        let mut connection = self.connect()?;
        let mut all = 0;
        loop {
            check(is_over)?;
            changes.read(self, layout)?;
            let applied = changes.apply(&mut connection, names, layout)?;
            all += applied;
            if applied <= LITTLE {
                return Ok(all);
            }
        }
    }

    fn make_new_table(
        &self,
        connection: &mut Connection,
        names: &Names,
    ) -> Result<Layout, DdlError> {
        connection.run(format!("CREATE TABLE {} LIKE {}", names.new, names.table))?;
        let change = format!("ALTER TABLE {} {}", names.new, self.alter.changes());
        connection.run(change).map_err(|error| match error.code() {
            Some(_) => DdlError::Refused {
                statement: weir_mysql::shorten(&self.alter.changes()),
                why: error.words(),
            },
            None => error.into(),
        })?;
        Layout::read(connection, &self.alter, names)
    }

    /// A connection in the table's schema, with the session's variables.
    fn connect(&self) -> Result<Connection, DdlError> {
        let connector = Connector::new(self.endpoint.clone(), None, self.gate.clone())?;
        let mut connection = Connection::connect(&connector, false, Patience::Endless)?;
        connection.run(format!("USE {}", identifier(&self.alter.schema)))?;
        for (name, value) in &self.session {
            connection.run(format!(
                "SET SESSION {} = {}",
                identifier(name),
                literal(value)
            ))?;
        }
        Ok(connection)
    }
}

fn check(is_over: &dyn Fn() -> bool) -> Result<(), DdlError> {
    if is_over() {
        return Err(DdlError::Stopped);
    }
    Ok(())
}

/// Runs a statement, again if others hold it up.
fn persist<T>(mut run: impl FnMut() -> Result<T, ClientError>) -> Result<T, DdlError> {
    let mut tries = 1;
    loop {
        match run() {
            Err(error)
                if tries < TRIES && error.code().is_some_and(|code| PASSING.contains(&code)) =>
            {
                tries += 1;
            }
            done => return Ok(done?),
        }
    }
}

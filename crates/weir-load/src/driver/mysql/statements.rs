//! The statements that a connection has prepared.

use crate::workload::{Script, Statement, table_name};

/// Number of kinds of statements.
const KINDS: usize = Statement::ALL.len();

/// A prepared statement of one connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Handle {
    pub(super) id: u32,
    /// The server knows its parameters' types.
    pub(super) is_typed: bool,
}

/// All prepared statements of one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    /// `BEGIN`, unless the server can only take it as text.
    pub(super) begin: Option<Handle>,
    /// `COMMIT`, likewise.
    pub(super) commit: Option<Handle>,
    /// By table, then by kind.
    handles: Box<[Handle]>,
}

impl Statements {
    /// Prepares what `script` needs, with `prepare` doing the work.
    ///
    /// `prepare` returns the server's number of the statement, or nothing if this statement can
    /// not be prepared; that is allowed for `BEGIN` and `COMMIT` only.
    pub(crate) fn prepare<E>(
        script: &Script,
        tables: u32,
        mut prepare: impl FnMut(&str, usize) -> Result<Option<u32>, E>,
    ) -> Result<Self, E> {
        let handle = |id: u32| Handle {
            id,
            is_typed: false,
        };
        let mut statements = Self::default();
        if script.is_transaction() {
            statements.begin = prepare("BEGIN", 0)?.map(handle);
            statements.commit = prepare("COMMIT", 0)?.map(handle);
        }
        let tables = script.tables(tables);
        let mut handles = vec![Handle::default(); tables as usize * KINDS];
        for statement in script.statements() {
            let parameters = statement.parameters(&script.mix).len();
            for table in 0..tables {
                let sql = statement.sql(&table_name(table + 1), &script.mix);
                if let Some(id) = prepare(&sql, parameters)? {
                    handles[table as usize * KINDS + statement.number()] = handle(id);
                }
            }
        }
        statements.handles = handles.into_boxed_slice();
        Ok(statements)
    }

    /// Statements that a connection prepares for `script`.
    pub(crate) fn count(script: &Script, tables: u32) -> u64 {
        let shared = if script.is_transaction() { 2 } else { 0 };
        shared + script.statements().len() as u64 * u64::from(script.tables(tables))
    }

    /// The handle of a statement on a table, counted from 0.
    pub(super) fn on_table(&mut self, statement: Statement, table: u32) -> &mut Handle {
        &mut self.handles[table as usize * KINDS + statement.number()]
    }
}

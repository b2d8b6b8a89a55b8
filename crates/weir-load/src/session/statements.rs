//! The statements that a connection has prepared.

use weir_workload::{Script, Statement, StatementProtocol};

/// A statement of one connection, on one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Handle {
    /// The server's number of it.
    pub(super) id: u32,
    /// The server knows its parameters' types.
    pub(super) is_typed: bool,
    /// The server takes it as text only.
    pub(super) is_text: bool,
}

/// A statement that is to be prepared.
#[derive(Debug)]
pub(crate) struct StatementToPrepare {
    /// Text of the statement.
    pub(crate) sql: String,
    /// Number of parameters.
    pub(crate) parameters: usize,
}

/// All statements of one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    /// By statement, then by table.
    handles: Box<[Handle]>,
}

impl Statements {
    /// Prepares what `script` needs, with `prepare` doing the work for all of it at once.
    ///
    /// `prepare` returns the server's number of each statement, or nothing if it can not be prepared; that
    /// is allowed for those without parameters only.
    pub(crate) fn prepare<E>(
        script: &Script,
        prepare: impl FnOnce(&[StatementToPrepare]) -> Result<Vec<Option<u32>>, E>,
    ) -> Result<Self, E> {
        let is_prepared = |statement: &Statement| statement.sending == StatementProtocol::Prepared;
        let wanted: Vec<_> = script
            .on_tables()
            .filter(|(statement, _)| is_prepared(statement))
            .map(|(statement, table)| StatementToPrepare {
                sql: statement.sql(table),
                parameters: statement.parameters.len(),
            })
            .collect();
        let mut ids = prepare(&wanted)?.into_iter();
        let handles = script.on_tables().map(|(statement, _)| {
            let id = if is_prepared(statement) {
                ids.next().flatten()
            } else {
                None
            };
            Handle {
                id: id.unwrap_or_default(),
                is_typed: false,
                is_text: id.is_none(),
            }
        });
        Ok(Self {
            handles: handles.collect(),
        })
    }

    /// The handle at a position, see [`positions`].
    pub(super) fn at(&mut self, position: usize) -> &mut Handle {
        &mut self.handles[position]
    }
}

/// Returns the positions of each statement's first handle, and the number of handles.
pub(super) fn positions(script: &Script) -> (Vec<usize>, u32) {
    let mut count = 0;
    let starts = script
        .statements
        .iter()
        .map(|statement| {
            let start = count as usize;
            count += statement.tables;
            start
        })
        .collect();
    (starts, count)
}

//! The statements that a connection has prepared.

use weir_workload::{Script, Sending};

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

/// All statements of one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    /// By statement, then by table.
    handles: Box<[Handle]>,
}

impl Statements {
    /// Prepares what `script` needs, with `prepare` doing the work.
    ///
    /// `prepare` returns the server's number of the statement, or nothing if this statement can
    /// not be prepared; that is allowed for those without parameters only.
    pub(crate) fn prepare<E>(
        script: &Script,
        mut prepare: impl FnMut(&str, usize) -> Result<Option<u32>, E>,
    ) -> Result<Self, E> {
        let mut handles = Vec::with_capacity(positions(script).1 as usize);
        for statement in &script.statements {
            for table in 0..statement.tables {
                let id = match statement.sending {
                    Sending::Prepared => {
                        prepare(&statement.sql(table), statement.parameters.len())?
                    }
                    Sending::Text => None,
                };
                handles.push(Handle {
                    id: id.unwrap_or_default(),
                    is_typed: false,
                    is_text: id.is_none(),
                });
            }
        }
        Ok(Self {
            handles: handles.into_boxed_slice(),
        })
    }

    /// The handle at a position, see [`positions`].
    pub(super) fn at(&mut self, position: usize) -> &mut Handle {
        &mut self.handles[position]
    }
}

/// Where the handles of each statement begin, and how many handles there are.
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

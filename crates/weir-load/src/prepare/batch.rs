//! A prepared insert of many rows: the server parses it once for a table.
//!
//! Beside the same rows as text it takes a third less of the client's processor time, and on MySQL a twentieth less of
//! the server's.

use weir_mysql::{ClientError, Connection, ExecuteTemplate, PreparedStatement, Request};
use weir_workload::{RowWriter, Value};

use crate::LoadError;
use crate::parameter::parameter_kinds;

/// Parameters of a statement, by the protocol.
const PARAMETERS_MAX: usize = 65_535;

/// An insert of so many rows at a time.
#[derive(Debug)]
pub(super) struct Batch {
    sql: String,
    statement: PreparedStatement,
    template: ExecuteTemplate,
    rows: u64,
    was_executed: bool,
}

impl Batch {
    /// Of as many rows as make some `bytes`. `None` if the server has no prepared statement left to give.
    pub(super) fn prepare(
        control: &mut Connection,
        writer: &mut RowWriter<'_>,
        bytes: usize,
    ) -> Result<Option<Self>, LoadError> {
        let mut row = Vec::new();
        writer.line(1, &mut row);
        let kinds = writer.kinds();
        let rows = (bytes / row.len()).clamp(1, PARAMETERS_MAX / kinds.len());
        let sql = writer.batch_statement(rows);
        let statement = match control.prepare(&sql) {
            Ok(statement) => statement,
            Err(ClientError::Statement { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Self {
            sql,
            statement,
            template: ExecuteTemplate::new(&parameter_kinds(&kinds.repeat(rows))),
            rows: rows as u64,
            was_executed: false,
        }))
    }

    /// Rows that it inserts at a time.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Inserts the rows from `first` on, by way of `packet`; the last one.
    pub(super) fn insert(
        &mut self,
        control: &mut Connection,
        writer: &mut RowWriter<'_>,
        first: u64,
        packet: &mut Vec<u8>,
    ) -> Result<u64, LoadError> {
        packet.clear();
        let typed = !self.was_executed;
        let mut request = Request::execute(packet, &self.template, self.statement.id, typed);
        let mut parameter = 0;
        for row in first..first + self.rows {
            writer.values(row, |_, value| {
                match value {
                    Some(Value::Integer(number)) => request.big_integer(number),
                    Some(Value::Text(text)) => request.text(text),
                    None => request.null(parameter),
                }
                parameter += 1;
            });
        }
        request.finish();
        control.send_execute(&self.sql, packet)?;
        self.was_executed = true;
        Ok(first + self.rows - 1)
    }

    /// Lets the server forget it.
    pub(super) fn close(self, control: &mut Connection) -> Result<(), LoadError> {
        Ok(control.close(&self.sql, self.statement)?)
    }
}

//! Rows that are kept for the session.

use std::sync::Arc;

use mysql_common::io::ParseBuf;
use mysql_common::packets::Column;
use mysql_common::proto::{Binary, Text};
use mysql_common::row::{Row, RowDeserializer};
use mysql_common::value::ServerSide;

use super::column::ColumnForm;
use super::{ExpectedReply, StatementResult, TextRows};
use crate::packet::MalformedPacket;

/// The rows of a reply, decoded.
#[derive(Debug, Default)]
pub(super) struct DecodedRows {
    definitions: Vec<Column>,
    /// The same for all rows, once the first is there.
    columns: Option<Arc<[Column]>>,
    rows: Vec<Row>,
    /// Columns of a result whose values are kept as text.
    forms: Vec<ColumnForm>,
    /// Rows of the result that comes, as text.
    texts: TextRows,
    results: Vec<StatementResult>,
}

impl DecodedRows {
    pub(super) fn clear(&mut self) {
        self.definitions.clear();
        self.columns = None;
        self.rows.clear();
        self.forms.clear();
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Takes a result without rows.
    pub(super) fn result(&mut self, result: StatementResult) {
        self.results.push(result);
    }

    /// The rows of a result have all come.
    pub(super) fn end_of_rows(&mut self) {
        self.texts.fields = self.forms.len();
        let rows = std::mem::take(&mut self.texts);
        self.results.push(StatementResult::Rows(rows));
    }

    pub(super) fn forget_results(&mut self) {
        if !self.results.is_empty() {
            self.results.clear();
        }
    }

    pub(super) fn take_results(&mut self) -> Vec<StatementResult> {
        std::mem::take(&mut self.results)
    }

    /// Takes the definition of a column.
    pub(super) fn column(
        &mut self,
        payload: &[u8],
        expected: ExpectedReply,
    ) -> Result<(), MalformedPacket> {
        if matches!(
            expected,
            ExpectedReply::TextResults | ExpectedReply::TypedResults
        ) {
            self.forms.push(ColumnForm::read(payload)?);
            return Ok(());
        }
        let column = ParseBuf(payload).parse::<Column>(());
        let column = column.map_err(|_| MalformedPacket("a column definition is none"))?;
        self.definitions.push(column);
        Ok(())
    }

    /// Takes a row.
    pub(super) fn row(
        &mut self,
        payload: &[u8],
        expected: ExpectedReply,
    ) -> Result<(), MalformedPacket> {
        self.texts.fields = self.forms.len();
        match expected {
            ExpectedReply::TextResults => return self.texts.text_row(payload),
            ExpectedReply::TypedResults => return self.texts.typed_row(payload, &self.forms),
            _ => {}
        }
        let definitions = &self.definitions;
        let columns = self
            .columns
            .get_or_insert_with(|| definitions.as_slice().into());
        let (buffer, columns) = (&mut ParseBuf(payload), Arc::clone(columns));
        let row = if expected == ExpectedReply::TypedRows {
            buffer
                .parse::<RowDeserializer<ServerSide, Binary>>(columns)
                .map(Row::from)
        } else {
            buffer
                .parse::<RowDeserializer<ServerSide, Text>>(columns)
                .map(Row::from)
        };
        self.rows
            .push(row.map_err(|_| MalformedPacket("a row is cut short"))?);
        Ok(())
    }
}

//! One change of one row in the log, and the transaction that made it.

use std::sync::Arc;

use weir_mysql::binlog::{
    Field, Gtid, MalformedEvent, Place, RowChange, RowImage, TableMap, TransactionStart,
};

use crate::moment::show;
use crate::render::{Cell, cells};
use crate::{FlashbackError, Table};

/// A transaction of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Which, and when it was committed.
    pub start: TransactionStart,
    /// Where it begins.
    pub place: Place,
    /// The connection that made it, if the log says it.
    pub connection: Option<u32>,
    /// The text of its last statement, if the log has it.
    pub statement: Option<String>,
}

impl Transaction {
    /// Returns the transaction's name, else its place.
    pub fn name(&self) -> String {
        match &self.start.gtid {
            Some(gtid) => gtid.to_string(),
            None => self.place.to_string(),
        }
    }

    /// When it was committed, UTC, as exactly as the log says it.
    pub fn time(&self) -> String {
        show(self.start.committed_us)
    }
}

/// One change of one row.
#[derive(Debug)]
pub struct Change<'a> {
    /// The number of the table.
    pub table: usize,
    /// Layout of the images.
    pub map: &'a Arc<TableMap>,
    /// The images.
    pub row: RowChange<'a>,
    /// Whose it is.
    pub transaction: &'a Arc<Transaction>,
    /// Where.
    pub place: &'a Place,
}

impl Change<'_> {
    /// Returns the images, the one before first, each with true if it is the one after.
    pub(crate) fn images(&self) -> impl Iterator<Item = (&RowImage<'_>, bool)> {
        let before = self.row.before.iter().map(|image| (image, false));
        before.chain(self.row.after.iter().map(|image| (image, true)))
    }

    /// The key of one of its images.
    ///
    /// # Errors
    ///
    /// A row whose key the log does not have.
    pub(crate) fn key(
        &self,
        table: &Table,
        image: &RowImage<'_>,
    ) -> Result<Vec<u8>, FlashbackError> {
        let mut key = Vec::new();
        self.append_key(table, image, &mut key)?;
        Ok(key)
    }

    /// As [`Change::key`], into a buffer.
    pub(crate) fn append_key(
        &self,
        table: &Table,
        image: &RowImage<'_>,
        key: &mut Vec<u8>,
    ) -> Result<(), FlashbackError> {
        let malformed = || FlashbackError::malformed(self.place.clone());
        if image.key(self.map, &table.key, key).map_err(malformed())? {
            return Ok(());
        }
        let fields = self.fields(image).map_err(malformed())?;
        let mut columns: Vec<_> = table.key.clone();
        columns.sort_unstable();
        let is_whole = columns
            .iter()
            .all(|at| fields.get(*at).is_some_and(|field| field.append_to(key)));
        if is_whole {
            return Ok(());
        }
        Err(self.lacks(table, "lacks a column of the key"))
    }

    /// Returns the content of one image for each column. Sessions may log after-images without columns that stay as
    /// they are (`binlog_row_image`): these are taken from the image before.
    fn fields<'b>(&'b self, image: &RowImage<'b>) -> Result<Vec<Field<'b>>, MalformedEvent> {
        let mut fields = image.fields(self.map)?;
        let Some(before) = self.row.before.filter(|_| fields.contains(&Field::Absent)) else {
            return Ok(fields);
        };
        for (field, before) in fields.iter_mut().zip(before.fields(self.map)?) {
            if *field == Field::Absent {
                *field = before;
            }
        }
        Ok(fields)
    }

    /// One of its images with all that the log has of the row: a bit for each column, then NULL bits and values.
    pub(crate) fn whole_image(&self, image: &RowImage<'_>) -> Result<[Vec<u8>; 2], FlashbackError> {
        let fields = self.fields(image);
        let fields = fields.map_err(FlashbackError::malformed(self.place.clone()))?;
        let count = fields
            .iter()
            .filter(|field| **field != Field::Absent)
            .count();
        let (mut present, mut nulls) = (
            vec![0; fields.len().div_ceil(8)],
            vec![0; count.div_ceil(8)],
        );
        let (mut values, mut seen) = (Vec::new(), 0);
        for (at, field) in fields.iter().enumerate() {
            match field {
                Field::Absent => continue,
                Field::Null => nulls[seen / 8] |= 1 << (seen % 8),
                Field::Value(value) => values.extend_from_slice(value),
            }
            present[at / 8] |= 1 << (at % 8);
            seen += 1;
        }
        nulls.extend(values);
        Ok([present, nulls])
    }

    /// The cells of one of its images, for the columns that the table has now.
    pub(crate) fn cells(
        &self,
        table: &Table,
        image: &RowImage<'_>,
    ) -> Result<Vec<Cell>, FlashbackError> {
        let fields = self.fields(image);
        let cells = fields.and_then(|fields| cells(table, self.map, image, &fields));
        cells.map_err(FlashbackError::malformed(self.place.clone()))
    }

    /// Returns true if the log may have only a difference of this column's value.
    pub(crate) fn has_difference(&self, table: &Table, at: usize) -> bool {
        let is_partial = self.row.after.is_some_and(|after| after.is_partial);
        is_partial && table.columns[at].data_type == "json"
    }

    /// Returns true if columns that the log does not have may have changed: `MariaDB` replaces a row by an update. It
    /// does not log the defaults that come with that.
    pub(crate) fn may_hide_values(&self) -> bool {
        let start = &self.transaction.start;
        let is_mariadb = matches!(start.gtid, Some(Gtid::Mariadb { .. }));
        let statement = self.transaction.statement.as_deref().unwrap_or_default();
        let verb = statement.trim_start().get(..6).unwrap_or_default();
        is_mariadb && !["UPDATE", "INSERT"].contains(&verb.to_ascii_uppercase().as_str())
    }

    /// The log has less of it than is needed.
    pub(crate) fn lacks(&self, table: &Table, what: &str) -> FlashbackError {
        FlashbackError::refused(
            format!(
                "{}: the log at {} {what} (transaction {}, {}; its session had another binlog_row_image than FULL)",
                table.name,
                self.place,
                self.transaction.name(),
                self.transaction.time()
            ),
            "ask for a time after it, or restore a backup from before it",
        )
    }
}

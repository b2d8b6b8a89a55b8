//! Events with rows: handed on row by row, or kept until their transaction is committed.

use std::sync::Arc;

use weir_mysql::binlog::{MalformedEvent, Place, RowsEvent, TableMap};

use crate::FlashbackError;
use crate::branches::KeptRows;
use crate::change::{Change, Transaction};

/// An event with rows of a table that is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) table: usize,
    pub(crate) map: &'a Arc<TableMap>,
    pub(crate) kind: u8,
    pub(crate) body: &'a [u8],
    pub(crate) place: &'a Place,
}

impl Rows<'_> {
    pub(crate) fn to_kept(self) -> KeptRows {
        KeptRows {
            table: self.table,
            map: Arc::clone(self.map),
            kind: self.kind,
            body: self.body.to_vec(),
            place: self.place.clone(),
        }
    }
}

impl KeptRows {
    pub(crate) fn as_rows(&self) -> Rows<'_> {
        Rows {
            table: self.table,
            map: &self.map,
            kind: self.kind,
            body: &self.body,
            place: &self.place,
        }
    }
}

/// Calls `on_change` with each row of the event; their number.
pub(crate) fn hand_on(
    rows: Rows<'_>,
    transaction: &Arc<Transaction>,
    on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
) -> Result<u64, FlashbackError> {
    let place = rows.place;
    let event =
        RowsEvent::read(rows.kind, rows.body).map_err(FlashbackError::malformed(place.clone()))?;
    let mut count = 0;
    let each = event.each(rows.map, |row| {
        count += 1;
        on_change(&Change {
            table: rows.table,
            map: rows.map,
            row,
            transaction,
            place,
        })
        .map_err(ReadFailure::By)
    });
    each.map_err(|stopped| match stopped {
        ReadFailure::By(error) => error,
        ReadFailure::Malformed(malformed) => FlashbackError::malformed(place.clone())(malformed),
    })?;
    Ok(count)
}

/// Why rows were not read to the end.
enum ReadFailure {
    By(FlashbackError),
    Malformed(MalformedEvent),
}

impl From<MalformedEvent> for ReadFailure {
    fn from(malformed: MalformedEvent) -> Self {
        Self::Malformed(malformed)
    }
}

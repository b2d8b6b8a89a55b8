//! Row events for the private server: it reads the values that a server of its kind wrote, whatever their types.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use weir_mysql::binlog::{EventWriter, RowsKind, TableMap};
use weir_mysql::{ClientError, Connection};

use crate::images::{Images, KeptImage};
use crate::{FlashbackError, Stop};

/// Images of one statement, bytes.
const BYTES_MAX: usize = 1 << 20;

/// Gives images to a server in `BINLOG` statements.
struct Applier<'a> {
    connection: &'a mut Connection,
    writer: &'a EventWriter,
    kind: RowsKind,
    /// Images that wait: all of one layout and of the same columns.
    map: Option<Arc<TableMap>>,
    present: Vec<u8>,
    images: Vec<u8>,
    events: Vec<u8>,
}

/// Brings a table to what `images` keep: all keys that changed are deleted, then those that were there inserted. The
/// other way round a row would go with one whose key its collation takes for the same. Of rows without a key as many are
/// deleted as came since, and as many inserted as went.
pub(crate) fn apply(
    images: &mut Images,
    connection: &mut Connection,
    writer: &EventWriter,
    is_keyless: bool,
    stop: Stop,
    refused: &dyn Fn(ClientError) -> FlashbackError,
) -> Result<(), FlashbackError> {
    connection
        .run(format!(
            "BINLOG '{}'",
            STANDARD.encode(writer.format_event())
        ))
        .map_err(refused)?;
    for kind in [RowsKind::Delete, RowsKind::Insert] {
        let mut applier = Applier {
            connection,
            writer,
            kind,
            map: None,
            present: Vec::new(),
            images: Vec::new(),
            events: Vec::new(),
        };
        images.each(&mut |image| {
            stop.check()?;
            let times = match (kind, is_keyless) {
                (RowsKind::Delete, false) => 1,
                (RowsKind::Delete, true) => -image.copies,
                _ => image.copies,
            };
            for _ in 0..times {
                applier.take(image).map_err(refused)?;
            }
            Ok(())
        })?;
        applier.send().map_err(refused)?;
    }
    Ok(())
}

impl Applier<'_> {
    fn take(&mut self, image: &KeptImage<'_>) -> Result<(), ClientError> {
        let is_same = self
            .map
            .as_ref()
            .is_some_and(|map| Arc::ptr_eq(map, image.map))
            && self.present == image.present;
        if !is_same || self.images.len() + image.bytes.len() > BYTES_MAX {
            self.send()?;
            self.map = Some(Arc::clone(image.map));
            self.present = image.present.to_vec();
        }
        self.images.extend_from_slice(image.bytes);
        Ok(())
    }

    fn send(&mut self) -> Result<(), ClientError> {
        let Some(map) = self.map.as_ref().filter(|_| !self.images.is_empty()) else {
            return Ok(());
        };
        self.events.clear();
        self.writer.rows(
            map,
            self.kind,
            &self.present,
            &self.images,
            &mut self.events,
        );
        self.images.clear();
        let statement = format!("BINLOG '{}'", STANDARD.encode(&self.events));
        self.connection.run(statement)?;
        Ok(())
    }
}

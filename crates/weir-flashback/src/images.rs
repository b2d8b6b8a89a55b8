//! Rows as of the moment, for all that changed since: of each key the first image before a change.
//!
//! Whatever happened to a key later, its first change after the moment has the row as it was then, or shows that it
//! was not there. So only the first matters, and the memory that it takes is that of distinct keys: images beyond a
//! limit lie in a file.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use weir_mysql::binlog::{RowImage, TableMap};

use crate::change::Change;
use crate::spool::Spool;
use crate::{FlashbackError, Table};

/// Images that are kept in memory, bytes.
pub const MEMORY_BYTES: usize = 64 << 20;

/// Of one table, the row of each key that changed.
#[derive(Debug)]
pub struct Images {
    keys: HashMap<Box<[u8]>, ImagePlace, foldhash::fast::RandomState>,
    /// Layouts of the images.
    maps: Vec<Arc<TableMap>>,
    spool: Spool,
    key: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct ImagePlace {
    /// Where the image lies: its columns' bits, then itself.
    at: u64,
    length: u32,
    map: u16,
    /// Of a row with a key 1 if it was there, otherwise 0, and the image is the one that was inserted. Of equal rows
    /// without a key how many more there were than are now.
    copies: i64,
}

/// An image, to be sent to a server.
#[derive(Debug)]
pub struct KeptImage<'a> {
    /// Layout of the image.
    pub map: &'a Arc<TableMap>,
    /// A bit for each column that it has.
    pub present: &'a [u8],
    /// NULL bits and values of the image.
    pub bytes: &'a [u8],
    /// Of a row with a key 1 if it was there, otherwise 0, and the image only tells its key. Of equal rows without a key
    /// how many more there were than are now.
    pub copies: i64,
}

impl Images {
    /// None yet. Images beyond `memory_bytes` lie in a file in `directory`.
    pub fn new(directory: &Path, memory_bytes: usize) -> Self {
        Self {
            keys: HashMap::default(),
            maps: Vec::new(),
            spool: Spool::new(directory, memory_bytes),
            key: Vec::new(),
        }
    }

    /// Keeps only these keys.
    pub(crate) fn retain(&mut self, keys: &HashSet<Vec<u8>>) {
        self.keys.retain(|key, _| keys.contains(&**key));
    }

    /// Says of all images that they are of another table.
    pub(crate) fn redirect(&mut self, schema: &str, table: &str) {
        for map in &mut self.maps {
            *map = Arc::new(map.redirected(schema, table));
        }
    }

    /// Keys that changed.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns true if no key changed.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Takes a change of a row of `table`.
    ///
    /// # Errors
    ///
    /// An image that lacks columns and is needed.
    pub fn take(&mut self, table: &Table, change: &Change<'_>) -> Result<(), FlashbackError> {
        for (image, is_after) in change.images() {
            self.keep(table, change, image, !is_after)?;
        }
        Ok(())
    }

    fn keep(
        &mut self,
        table: &Table,
        change: &Change<'_>,
        image: &RowImage<'_>,
        is_there: bool,
    ) -> Result<(), FlashbackError> {
        self.key.clear();
        change.append_key(table, image, &mut self.key)?;
        // A row that was inserted is only deleted: its key is enough.
        let is_known = self.keys.contains_key(&*self.key);
        if table.is_keyless || (is_there && !is_known) {
            check_full(table, change, image)?;
        }
        let copies = match (is_there, table.is_keyless) {
            (true, _) => 1,
            (false, true) => -1,
            (false, false) => 0,
        };
        if let Some(known) = self.keys.get_mut(&*self.key) {
            if table.is_keyless {
                known.copies += copies;
            }
            return Ok(());
        }
        let map = self.map(change.map);
        // A new image may lack columns of the key that stay as they are, without which a server finds no row.
        let whole = if is_there || image.is_full(change.map.columns.len()) {
            None
        } else {
            Some(change.whole_image(image)?)
        };
        let [present, bytes] = match &whole {
            Some([present, bytes]) => [present.as_slice(), bytes],
            None => [image.present, image.bytes],
        };
        let at = self.spool.append(&[present, bytes])?;
        let kept = ImagePlace {
            at,
            length: (present.len() + bytes.len()) as u32,
            map,
            copies,
        };
        self.keys.insert(self.key.as_slice().into(), kept);
        Ok(())
    }

    /// The number of a layout. Servers number a table anew each time that they open it.
    fn map(&mut self, map: &Arc<TableMap>) -> u16 {
        let known = self
            .maps
            .iter()
            .position(|known| known.columns == map.columns);
        let number = known.unwrap_or_else(|| {
            self.maps.push(Arc::clone(map));
            self.maps.len() - 1
        });
        number as u16
    }

    /// Calls `each` with every image, in the order in which they came.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, and what `each` returns.
    pub fn each(
        &mut self,
        each: &mut dyn FnMut(&KeptImage<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(), FlashbackError> {
        let mut all: Vec<ImagePlace> = self.keys.values().copied().collect();
        all.sort_unstable_by_key(|kept| kept.at);
        let mut reader = self.spool.reader()?;
        let mut buffer = Vec::new();
        for kept in all {
            let map = &self.maps[usize::from(kept.map)];
            let both = reader.read(kept.at, kept.length as usize, &mut buffer)?;
            let (present, bytes) = both.split_at(map.columns.len().div_ceil(8));
            each(&KeptImage {
                map,
                present,
                bytes,
                copies: kept.copies,
            })?;
        }
        Ok(())
    }
}

fn check_full(
    table: &Table,
    change: &Change<'_>,
    image: &RowImage<'_>,
) -> Result<(), FlashbackError> {
    if image.is_partial {
        return Err(change.lacks(table, "has differences of JSON values only"));
    }
    if image.is_full(change.map.columns.len()) {
        return Ok(());
    }
    // The server computes virtual columns; it need not log them.
    let lacking = (0..change.map.columns.len()).find(|at| {
        let has = image
            .present
            .get(at / 8)
            .is_some_and(|byte| byte & (1 << (at % 8)) != 0);
        !has && table
            .columns
            .get(*at)
            .is_none_or(|column| !column.is_virtual)
    });
    match lacking {
        None => Ok(()),
        Some(at) => {
            let name = table.columns.get(at).map_or("?", |column| &column.name);
            Err(change.lacks(table, &format!("has not the old value of `{name}`")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use weir_mysql::binlog::{Place, RowChange, TransactionStart};

    use super::*;
    use crate::change::Transaction;
    use crate::{Column, TableName};

    const ALL: &[u8] = &[0b11];

    /// `CREATE TABLE shop.t (id INT PRIMARY KEY, v INT)`.
    fn table() -> (Table, Arc<TableMap>) {
        let column = |name: &str| Column {
            name: name.to_owned(),
            data_type: "int".to_owned(),
            column_type: "int".to_owned(),
            charset: None,
            is_generated: false,
            is_virtual: false,
        };
        let table = Table {
            name: TableName::read("shop.t", ""),
            columns: vec![column("id"), column("v")],
            key: vec![0],
            is_keyless: false,
            create: String::new(),
            is_versioned: false,
            unlogged: None,
        };
        let body = b"\x09\0\0\0\0\0\x01\0\x04shop\0\x01t\0\x02\x03\x03\0\0";
        (table, Arc::new(TableMap::read(body).unwrap()))
    }

    fn bytes((id, value): (u8, u8)) -> Vec<u8> {
        vec![0, id, 0, 0, 0, value, 0, 0, 0]
    }

    type Row = (u8, u8);
    /// A row as it was and as it became.
    type Step = (Option<Row>, Option<Row>);
    type Rows = BTreeMap<u8, u8>;

    fn transaction() -> Arc<Transaction> {
        Arc::new(Transaction {
            start: TransactionStart {
                gtid: None,
                committed_us: 0,
                is_exact: true,
                is_standalone: false,
                is_undone: false,
                branch: None,
            },
            place: Place::default(),
            connection: None,
            statement: None,
        })
    }

    fn take(images: &mut Images, table: &Table, map: &Arc<TableMap>, step: Step) {
        let (before, after) = (step.0.map(bytes), step.1.map(bytes));
        let transaction = transaction();
        let change = Change {
            table: 0,
            map,
            row: RowChange {
                before: before.as_deref().map(|bytes| RowImage {
                    present: ALL,
                    bytes,
                    is_partial: false,
                }),
                after: after.as_deref().map(|bytes| RowImage {
                    present: ALL,
                    bytes,
                    is_partial: false,
                }),
            },
            transaction: &transaction,
            place: &transaction.place,
        };
        images.take(table, &change).unwrap();
    }

    /// Steps that a table can take, from numbers: inserts, changes of values and of keys, deletes.
    fn steps(numbers: &[(u8, u8, u8)], rows: &mut Rows) -> Vec<(Step, Rows)> {
        let mut done = Vec::new();
        for (kind, id, value) in numbers {
            let (id, other) = (id % 12, value % 12);
            let before = rows.get(&id).map(|value| (id, *value));
            let step = match (kind % 4, before) {
                (_, None) => (None, Some((id, *value))),
                (0, Some(row)) => (Some(row), None),
                (1, Some(row)) if !rows.contains_key(&other) => (Some(row), Some((other, row.1))),
                (_, Some(row)) => (Some(row), Some((id, *value))),
            };
            if let Some((id, _)) = step.0 {
                rows.remove(&id);
            }
            if let Some((id, value)) = step.1 {
                rows.insert(id, value);
            }
            done.push((step, rows.clone()));
        }
        done
    }

    /// Applies the images as a server does: all keys deleted, those that were there inserted.
    fn overlay(images: &mut Images, rows: &mut Rows) {
        for is_insert in [false, true] {
            images
                .each(&mut |image| {
                    let (id, value) = (image.bytes[1], image.bytes[5]);
                    if !is_insert {
                        rows.remove(&id);
                    } else if image.copies > 0 {
                        rows.insert(id, value);
                    }
                    Ok(())
                })
                .unwrap();
        }
    }

    /// Bytes of memory that the process has.
    fn resident_bytes() -> u64 {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages = status
            .split(' ')
            .nth(1)
            .and_then(|pages| pages.parse().ok());
        pages.unwrap_or(0_u64) * 4_096
    }

    /// Each key takes its image and less than 200 bytes, however often it changes.
    #[test]
    fn memory_is_that_of_the_keys_that_changed() {
        const KEYS: u32 = 100_000;
        let (table, map) = table();
        let directory = tempfile::tempdir().unwrap();
        let before = resident_bytes();
        let mut images = Images::new(directory.path(), MEMORY_BYTES);
        let transaction = transaction();
        for number in 0..10 * KEYS {
            let mut image = vec![0];
            image.extend((number % KEYS).to_le_bytes());
            image.extend(number.to_le_bytes());
            let image = RowImage {
                present: ALL,
                bytes: &image,
                is_partial: false,
            };
            let change = Change {
                table: 0,
                map: &map,
                row: RowChange {
                    before: Some(image),
                    after: Some(image),
                },
                transaction: &transaction,
                place: &transaction.place,
            };
            images.take(&table, &change).unwrap();
        }
        let grown = resident_bytes().saturating_sub(before);
        assert_eq!(images.len(), KEYS as usize);
        let each = grown / u64::from(KEYS);
        assert!(each < 200 + 10, "{each} bytes for each key");
    }

    proptest! {
        /// Whatever happened, and wherever in it the snapshot lies: the first images make the rows then; in memory or
        /// in a file.
        #[test]
        fn first_images_make_the_rows_of_then(
            before in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..30),
            since in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..120),
            at in any::<prop::sample::Index>(),
            memory_bytes in 0_usize..200,
        ) {
            let (table, map) = table();
            let directory = tempfile::tempdir().unwrap();
            let mut rows = Rows::new();
            steps(&before, &mut rows);
            let then = rows.clone();
            let done = steps(&since, &mut rows);
            let mut found = match at.index(done.len() + 1) {
                0 => then.clone(),
                number => done[number - 1].1.clone(),
            };
            let mut images = Images::new(directory.path(), memory_bytes);
            for (step, _) in &done {
                take(&mut images, &table, &map, *step);
            }
            overlay(&mut images, &mut found);
            prop_assert_eq!(&found, &then);
        }
    }
}

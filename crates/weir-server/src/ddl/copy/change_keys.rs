//! Keys of rows that changed, from the binary log. Their rows are read again from the table and written to the new one,
//! so that many changes of a row are one, and values need not be read from the log.

use std::collections::BTreeSet;
use std::sync::Arc;

use weir_mysql::binlog::{
    BinlogError, LogReader, LogValue, RowImage, RowsEvent, RowsKind, TableMap, decode, kind,
};
use weir_mysql::{Connection, LogStart, Row};

use super::layout::Layout;
use super::leftover::Names;
use super::{TableCopier, persist};
use crate::ddl::DdlError;

/// Keys of one statement.
const KEYS_MAX: usize = 500;
/// Ids of readers begin here; replicas that are given a number by hand have lower ones.
const SERVER_IDS_FROM: u32 = 3_000_000_000;

/// Position up to which the log was read, and the keys of rows that were not read again yet.
pub(super) struct ChangeKeys {
    file: String,
    position: u32,
    keys: BTreeSet<i128>,
}

impl ChangeKeys {
    /// Changes from now on.
    pub(super) fn from_now(connection: &mut Connection) -> Result<Self, DdlError> {
        let (file, position) = log_end(connection)?;
        Ok(Self {
            file,
            position,
            keys: BTreeSet::new(),
        })
    }

    /// Reads the log to its end.
    pub(super) fn read(&mut self, copier: &TableCopier, layout: &Layout) -> Result<(), DdlError> {
        let mut connection = copier.connect()?;
        connection
            .run("SET @master_binlog_checksum = 'CRC32', @source_binlog_checksum = 'CRC32'")?;
        let is_mariadb = connection.version().contains("MariaDB");
        connection.run(if is_mariadb {
            "SET @mariadb_slave_capability = 4"
        } else {
            "SET @replica_uuid = UUID(), @slave_uuid = @replica_uuid"
        })?;
        let start = LogStart {
            file: self.file.clone(),
            position: self.position,
            server_id: SERVER_IDS_FROM + connection.id(),
            has_annotations: false,
        };
        let mut reader = LogReader::new(connection.binary_log(&start)?);
        let mut map: Option<Arc<TableMap>> = None;
        while let Some(event) = reader.next_event().map_err(log)? {
            let place = event.place.clone();
            let malformed = |error: weir_mysql::binlog::MalformedEvent| {
                DdlError::Log(BinlogError::Malformed {
                    place: place.clone(),
                    why: error.to_string(),
                })
            };
            if event.header.kind == kind::TABLE_MAP {
                let (_, schema, table) = TableMap::names(event.body).map_err(malformed)?;
                let is_it = (schema, table) == (layout.schema.as_bytes(), layout.table.as_bytes());
                if is_it {
                    map = Some(Arc::new(TableMap::read(event.body).map_err(malformed)?));
                }
            } else if RowsKind::from_event_kind(event.header.kind).is_some()
                && let Some(map) = &map
                && RowsEvent::table_id(event.body).map_err(malformed)? == map.table_id
            {
                let rows = RowsEvent::read(event.header.kind, event.body).map_err(malformed)?;
                let keys = &mut self.keys;
                let read = rows.each(map, |change| {
                    for image in [change.before, change.after].into_iter().flatten() {
                        keys.extend(key(map, &image, layout)?);
                    }
                    Ok::<(), weir_mysql::binlog::MalformedEvent>(())
                });
                read.map_err(malformed)?;
            }
        }
        let end = reader.end();
        if !end.file.is_empty() && end.position > 0 {
            self.file = end.file.to_string();
            self.position = end.position as u32;
        }
        Ok(())
    }

    /// Reads those rows again; how many.
    pub(super) fn apply(
        &mut self,
        connection: &mut Connection,
        names: &Names,
        layout: &Layout,
    ) -> Result<u64, DdlError> {
        self.each_part(|keys| {
            let [gone, back] = read_again(keys, names, layout);
            let back = back + " LOCK IN SHARE MODE";
            persist(|| {
                connection.run("START TRANSACTION")?;
                let done = connection.run(&gone).and_then(|_| connection.run(&back));
                match done {
                    Ok(_) => connection.run("COMMIT"),
                    Err(error) => {
                        connection.run("ROLLBACK")?;
                        Err(error)
                    }
                }
            })?;
            Ok(())
        })
    }

    /// As [`ChangeKeys::apply`], where the tables are locked.
    pub(super) fn apply_locked(
        &mut self,
        connection: &mut Connection,
        names: &Names,
        layout: &Layout,
    ) -> Result<u64, DdlError> {
        self.each_part(|keys| {
            for statement in read_again(keys, names, layout) {
                connection.run(statement)?;
            }
            Ok(())
        })
    }

    /// Takes all keys, as many at a time as a statement names; how many there were.
    fn each_part(
        &mut self,
        mut apply: impl FnMut(&[i128]) -> Result<(), DdlError>,
    ) -> Result<u64, DdlError> {
        let keys: Vec<_> = std::mem::take(&mut self.keys).into_iter().collect();
        for some in keys.chunks(KEYS_MAX) {
            apply(some)?;
        }
        Ok(keys.len() as u64)
    }
}

/// Returns statements that give the new table's rows of these keys the content of the table now;
/// they may be gone.
fn read_again(keys: &[i128], names: &Names, layout: &Layout) -> [String; 2] {
    let list: Vec<_> = keys.iter().map(ToString::to_string).collect();
    let (key, list) = (&layout.key, list.join(", "));
    let columns = layout.columns.join(", ");
    [
        format!("DELETE FROM {} WHERE {key} IN ({list})", names.new),
        format!(
            "REPLACE INTO {} ({columns}) SELECT {columns} FROM {} WHERE {key} IN ({list})",
            names.new, names.table
        ),
    ]
}

fn log(error: BinlogError) -> DdlError {
    DdlError::Log(error)
}

/// The key of an image; `None`: the image does not have it, as it did not change.
fn key(
    map: &TableMap,
    image: &RowImage<'_>,
    layout: &Layout,
) -> Result<Option<i128>, weir_mysql::binlog::MalformedEvent> {
    let fields = image.fields(map)?;
    let column = map.columns.get(layout.key_at).copied();
    let (Some(column), Some(weir_mysql::binlog::Field::Value(bytes))) =
        (column, fields.get(layout.key_at))
    else {
        return Ok(None);
    };
    Ok(match decode(column, bytes, layout.is_unsigned)? {
        LogValue::Int(number) => Some(number.into()),
        LogValue::UInt(number) => Some(number.into()),
        _ => None,
    })
}

/// Returns the present end of the log.
fn log_end(connection: &mut Connection) -> Result<(String, u32), DdlError> {
    let statements = ["SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"];
    let is_mariadb = connection.version().contains("MariaDB");
    let version: Option<weir_model::ServerVersion> = connection.version().parse().ok();
    let is_new = version.is_some_and(|version| (version.major, version.minor) >= (8, 2));
    let statement = statements[usize::from(is_mariadb || !is_new)];
    let row: Option<Row> = connection.first(statement)?;
    let said = row.and_then(|row| Some((row.get::<String, _>(0)?, row.get::<u32, _>(1)?)));
    said.ok_or_else(|| DdlError::Table {
        table: "of the binary log".to_owned(),
        why: format!("{statement} says nothing"),
        remedy: "set log_bin in [server.config]",
    })
}

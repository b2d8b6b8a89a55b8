//! Which files the log has, and in which of them a moment lies.

use std::time::Duration;

use weir_model::Flavor;
use weir_mysql::binlog::{LogReader, TransactionStart, kind};
use weir_mysql::{BinaryLog, Connection, LogStart, Row};

use crate::error::purged;
use crate::moment::{Moment, show};
use crate::scan::is_start;
use crate::{FlashbackError, Source};

/// Where the first event of a file begins.
const FIRST: u32 = 4;
/// Two looks at the clock by one server may differ by this, s.
const SKEW_S: u64 = 2;
/// Later than any time, and still a number to add to.
const NEVER: u64 = u64::MAX / 2;
/// Ids of readers lie above those that people choose.
const SERVER_IDS_FROM: u32 = 1 << 31;
/// The server says a word at least so often while it has nothing to send.
const SILENCE: Duration = Duration::from_mins(2);

/// The log's files with their lengths, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct LogFiles {
    files: Vec<(String, u64)>,
}

impl LogFiles {
    pub(crate) fn list(connection: &mut Connection) -> Result<Self, FlashbackError> {
        let rows: Vec<Row> = connection
            .rows("SHOW BINARY LOGS")
            .map_err(|error| privilege(error, "REPLICATION CLIENT (MariaDB: BINLOG MONITOR)"))?;
        let file = |row: &Row| {
            let name = row.get_opt::<String, _>(0)?.ok()?;
            let length = row.get_opt::<u64, _>(1)?.ok()?;
            Some((name, length))
        };
        let files: Vec<_> = rows.iter().filter_map(file).collect();
        if files.is_empty() {
            return Err(FlashbackError::refused(
                "the server has no binary log",
                "nothing of the past is kept without log_bin",
            ));
        }
        Ok(Self { files })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The end of the log as it is known.
    pub(crate) fn end(&self) -> (String, u64) {
        self.files.last().cloned().unwrap_or_default()
    }

    /// Bytes from the beginning of `file` to the end.
    pub(crate) fn bytes_from(&self, file: &str) -> u64 {
        let from = self.files.iter().skip_while(|(name, _)| name != file);
        from.map(|(_, length)| length).sum()
    }

    /// The last file that begins before the moment.
    pub(crate) fn before(
        &self,
        moment: &Moment,
        source: &Source,
        server_id: u32,
    ) -> Result<String, FlashbackError> {
        let first = &self.files[0].0;
        let us = match moment {
            Moment::Time(us) => *us,
            Moment::At(place) => {
                let is_known = self.files.iter().any(|(name, _)| **name == *place.file);
                return if is_known {
                    Ok(place.file.to_string())
                } else {
                    Err(FlashbackError::refused(
                        format!("the server has no log file {}", place.file),
                        format!("SHOW BINARY LOGS lists them, from {first} on"),
                    ))
                };
            }
            Moment::Start | Moment::Before(_) | Moment::After(_) => return Ok(first.clone()),
        };
        let second = us / 1_000_000;
        let begins = |number: usize| self.begins(number, source, server_id);
        let oldest = first_second(source, first, server_id)?;
        if oldest > second {
            return Err(FlashbackError::refused(
                format!(
                    "the log begins at {}, after the time that is asked for, {}",
                    show(oldest * 1_000_000),
                    show(us)
                ),
                "restore a backup from before that time",
            ));
        }
        // The first `low` files begin early enough.
        let (mut low, mut high) = (1, self.files.len());
        while low < high {
            let middle = low.midpoint(high);
            if begins(middle)? + SKEW_S <= second {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // No file begins before an earlier one does: its time is that of a session that set the time.
        while low > 1 && begins(low - 1)? < begins(low - 2)? {
            low -= 1;
        }
        Ok(self.files[low - 1].0.clone())
    }

    /// When a file was begun, s since 1970, or later. The time of its first event is that of the session in which the
    /// server began it, which may have set it; MySQL has the true one with each transaction. A file without one was
    /// begun at a time that is not known.
    fn begins(
        &self,
        number: usize,
        source: &Source,
        server_id: u32,
    ) -> Result<u64, FlashbackError> {
        let file = &self.files[number].0;
        if source.flavor == Flavor::Mariadb {
            return first_second(source, file, server_id);
        }
        let (last, end) = self.end();
        let mut reader = LogReader::new(open(source, file, server_id)?);
        loop {
            let at = reader.end();
            if *at.file == *last && at.position >= end {
                return Ok(NEVER);
            }
            let Some(event) = reader.next_event().map_err(purged)? else {
                return Ok(NEVER);
            };
            if is_start(event.header.kind) {
                let start = TransactionStart::read(&event.header, event.body);
                let start = start.map_err(FlashbackError::malformed(event.place.clone()))?;
                return Ok(start.committed_us / 1_000_000);
            }
        }
    }
}

/// When a file was begun, s since 1970.
fn first_second(source: &Source, file: &str, server_id: u32) -> Result<u64, FlashbackError> {
    let mut reader = LogReader::new(open(source, file, server_id)?);
    while let Some(event) = reader.next_event().map_err(purged)? {
        if event.header.kind == kind::FORMAT_DESCRIPTION {
            return Ok(u64::from(event.header.timestamp_s));
        }
    }
    Err(FlashbackError::refused(
        format!("the log file {file} is empty"),
        "look at it with mysqlbinlog",
    ))
}

/// The log from the beginning of `file` on, read as a replica reads it.
pub(crate) fn open(
    source: &Source,
    file: &str,
    server_id: u32,
) -> Result<BinaryLog, FlashbackError> {
    let mut connection = source.open()?;
    // The reader knows of checksums; MariaDB's then sends its own kinds of events as they are. A reader of MySQL's
    // that has a name ends no other one's reading.
    connection.run("SET @master_binlog_checksum = 'CRC32', @source_binlog_checksum = 'CRC32'")?;
    match source.flavor {
        Flavor::Mariadb => connection.run("SET @mariadb_slave_capability = 4")?,
        Flavor::Mysql => {
            connection.run("SET @replica_uuid = UUID(), @slave_uuid = @replica_uuid")?
        }
    };
    connection.run(format!(
        "SET @master_heartbeat_period = {}",
        SILENCE.as_nanos() / 4
    ))?;
    let start = LogStart {
        file: file.to_owned(),
        position: FIRST,
        server_id,
        has_annotations: source.flavor == Flavor::Mariadb,
    };
    let log = connection.binary_log(&start);
    log.map_err(|error| privilege(error, "REPLICATION SLAVE"))
}

/// An id that no replica of this server has: the server would end the reading of one with the same.
pub(crate) fn free_server_id(connection: &mut Connection) -> Result<u32, FlashbackError> {
    let mut taken: Vec<u32> = Vec::new();
    // Who may not look takes the risk of one in two thousand million for each replica.
    for statement in ["SHOW REPLICAS", "SHOW SLAVE HOSTS"] {
        match connection.rows::<Row>(statement) {
            Ok(rows) => {
                let ids = rows.iter().filter_map(|row| row.get_opt::<u32, _>(0)?.ok());
                taken.extend(ids);
                break;
            }
            Err(error) if error.is_lost() => return Err(error.into()),
            Err(_) => {}
        }
    }
    let drawn: Option<u32> =
        connection.first("SELECT CAST(FLOOR(RAND() * 2000000000) AS UNSIGNED)")?;
    Ok(free(drawn.unwrap_or(0), &taken))
}

/// The first id from the drawn one on that is not taken.
fn free(drawn: u32, taken: &[u32]) -> u32 {
    let mut id = SERVER_IDS_FROM + drawn;
    while taken.contains(&id) {
        id += 1;
    }
    id
}

fn privilege(error: weir_mysql::ClientError, needed: &str) -> FlashbackError {
    match error.code() {
        // ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_ACCESS_DENIED_ERROR.
        Some(1227 | 1045) => FlashbackError::refused(
            format!(
                "the account may not read the binary log ({})",
                error.words()
            ),
            format!("GRANT {needed} ON *.* to it"),
        ),
        Some(1381) => FlashbackError::refused(
            "the server has no binary log (log_bin is OFF)",
            "nothing of the past is kept without it",
        ),
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_of_a_replica_is_taken() {
        let replicas = [1, SERVER_IDS_FROM + 5, SERVER_IDS_FROM + 6];
        assert_eq!(free(4, &replicas), SERVER_IDS_FROM + 4);
        assert_eq!(free(5, &replicas), SERVER_IDS_FROM + 7);
    }
}

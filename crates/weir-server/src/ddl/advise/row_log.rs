//! The row log: changes of the table while it is built, which the server applies at the end. A full log makes the
//! ALTER fail.
//!
//! MySQL manual, `innodb_online_alter_log_max_size`; MariaDB Knowledge Base, the same.

use std::thread;
use std::time::{Duration, Instant};

use weir_mysql::Connection;

use super::obstacle::Obstacle;
use super::table::TableCopy;
use super::user_server::UserServer;
use crate::ddl::table_name::is_table;
use crate::ddl::{Algorithm, AlterStatement, DdlError, Lock, Way, Work};

/// A log that lasts no longer may not do for an ALTER of a large table.
const SHORT_S: f64 = 900.0;

/// Size of the log, if the statement keeps one, bytes.
pub(super) fn log_bytes(way: &Way, user: &UserServer) -> u64 {
    let is_kept = way.lock == Some(Lock::None)
        && way.work != Work::Metadata
        && way.algorithm != Some(Algorithm::Copy);
    let most = user.number("innodb_online_alter_log_max_size");
    most.filter(|_| is_kept).unwrap_or_default()
}

/// Returns the time that the log lasts at the present rate of writes, as an obstacle.
pub(super) fn look(
    connection: &mut Connection,
    alter: &AlterStatement,
    (copy, way): (&TableCopy, &Way),
    user: &UserServer,
    observe: Duration,
) -> Result<Option<Obstacle>, DdlError> {
    let log_bytes = log_bytes(way, user);
    if log_bytes == 0 {
        return Ok(None);
    }
    let Some((rows_per_s, of)) = write_rate(connection, alter, user, observe)? else {
        return Ok(None);
    };
    let bytes_per_s = rows_per_s * copy.row_bytes as f64;
    if bytes_per_s < 1.0 {
        return Ok(None);
    }
    let lasts_s = log_bytes as f64 / bytes_per_s;
    let text = format!(
        "{rows_per_s:.0} rows/s of {of} are written now, {} bytes each: the row log of {} fills in {lasts_s:.0} s, and an \
         ALTER that takes longer fails; raise innodb_online_alter_log_max_size",
        copy.row_bytes,
        weir_model::Bytes(log_bytes)
    );
    Ok(Some(if lasts_s < SHORT_S {
        Obstacle::risk("row log", text)
    } else {
        Obstacle::note("row log", text)
    }))
}

/// Rows written a second, and of what.
fn write_rate(
    connection: &mut Connection,
    alter: &AlterStatement,
    user: &UserServer,
    observe: Duration,
) -> Result<Option<(f64, &'static str)>, DdlError> {
    let of_table = format!(
        "SELECT CAST(COALESCE(SUM(COUNT_INSERT + COUNT_UPDATE + COUNT_DELETE), 0) AS UNSIGNED) \
         FROM performance_schema.table_io_waits_summary_by_table WHERE {}",
        is_table(
            ["OBJECT_SCHEMA", "OBJECT_NAME"],
            &alter.schema,
            &alter.table
        )
    );
    let of_all = "SELECT CAST(SUM(VARIABLE_VALUE) AS UNSIGNED) FROM information_schema.GLOBAL_STATUS \
                  WHERE VARIABLE_NAME IN ('INNODB_ROWS_INSERTED', 'INNODB_ROWS_UPDATED', 'INNODB_ROWS_DELETED')";
    let (query, of) = if user.is_on("performance_schema") {
        (of_table.as_str(), "the table")
    } else {
        (of_all, "all tables")
    };
    let mut read = || match connection.first::<Option<u64>>(query) {
        Ok(count) => Ok(count.flatten()),
        // MySQL without performance_schema has no such table, and an account may not see it.
        Err(error) if error.code().is_some() => Ok(None),
        Err(error) => Err(DdlError::from(error)),
    };
    let Some(before) = read()? else {
        return Ok(None);
    };
    let began = Instant::now();
    thread::sleep(observe);
    let after = read()?.unwrap_or(before);
    let rows = after.saturating_sub(before) as f64;
    Ok(Some((rows / began.elapsed().as_secs_f64().max(1e-3), of)))
}

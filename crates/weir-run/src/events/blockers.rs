//! Connections that hold the lock that a statement waits for.

use weir_model::Blocker;
use weir_mysql::Connection;

use super::connections::Names;

/// Longest part of a statement that is kept, characters.
const STATEMENT_CHARS: usize = 200;

/// Number, command, seconds in it, statement.
type Row = (u64, Option<String>, Option<f64>, Option<String>);

/// Returns the holders of the metadata lock that connection `id` waits for. A look that fails sees
/// none.
pub(super) fn blockers(watcher: &mut Connection, id: u32, names: &Names) -> Vec<Blocker> {
    let known = watcher.rows::<Row>(by_locks(id)).unwrap_or_default();
    let rows = if known.is_empty() {
        watcher.rows::<Row>(by_transactions(id)).unwrap_or_default()
    } else {
        known
    };
    let blocker = |(connection, command, seconds, statement): Row| Blocker {
        connection,
        event: names.name(connection),
        idle_s: seconds.filter(|_| command.as_deref() == Some("Sleep")),
        statement: statement.map(|text| text.chars().take(STATEMENT_CHARS).collect()),
    };
    rows.into_iter().map(blocker).collect()
}

/// From the server's list of metadata locks, which `MySQL` keeps by default; with the statement that the connection
/// runs or ran last.
fn by_locks(id: u32) -> String {
    format!(
        "SELECT DISTINCT t.PROCESSLIST_ID, t.PROCESSLIST_COMMAND, CAST(t.PROCESSLIST_TIME AS DOUBLE), \
           (SELECT s.SQL_TEXT FROM performance_schema.events_statements_current s \
             WHERE s.THREAD_ID = t.THREAD_ID ORDER BY s.EVENT_ID DESC LIMIT 1) \
         FROM performance_schema.threads w \
         JOIN performance_schema.metadata_locks p \
           ON p.OWNER_THREAD_ID = w.THREAD_ID AND p.LOCK_STATUS = 'PENDING' \
         JOIN performance_schema.metadata_locks g \
           ON g.OBJECT_TYPE = p.OBJECT_TYPE AND g.OBJECT_SCHEMA = p.OBJECT_SCHEMA \
          AND g.OBJECT_NAME = p.OBJECT_NAME AND g.LOCK_STATUS = 'GRANTED' \
          AND g.OWNER_THREAD_ID <> p.OWNER_THREAD_ID \
         JOIN performance_schema.threads t ON t.THREAD_ID = g.OWNER_THREAD_ID \
         WHERE w.PROCESSLIST_ID = {id}"
    )
}

/// Returns the query where there is no such list (`MariaDB` without its performance schema): transactions that are
/// open and do not wait themselves. Transactions that only pass by have ended when a wait has lasted.
fn by_transactions(id: u32) -> String {
    format!(
        "SELECT p.ID, p.COMMAND, CAST(p.TIME AS DOUBLE), p.INFO \
         FROM information_schema.INNODB_TRX t \
         JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id \
         WHERE p.ID <> {id} AND COALESCE(p.STATE, '') NOT LIKE 'Waiting for%' \
         ORDER BY t.trx_started"
    )
}

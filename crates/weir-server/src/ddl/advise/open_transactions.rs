//! Open transactions on the table: an ALTER waits for them, and all later statements on the table wait for the ALTER.
//!
//! MySQL manual, "The `metadata_locks` Table"; MariaDB Knowledge Base, "`METADATA_LOCK_INFO`".

use std::time::Duration;

use weir_model::Flavor;
use weir_mysql::{ClientError, Connection};

use super::obstacle::Obstacle;
use super::user_server::UserServer;
use crate::ddl::table_name::is_table;
use crate::ddl::{AlterStatement, DdlError};

/// A connection with a lock on the table: its number, and the seconds since its transaction began.
type Holder = (u64, Option<u64>);

const AGE: &str = "CAST(TIMESTAMPDIFF(SECOND, x.trx_started, NOW()) AS UNSIGNED)";

/// `INNODB_TRX` is a copy that servers make anew 0.1 s after its last reading (`CACHE_MIN_IDLE_TIME_US` in
/// `storage/innobase/trx/trx0i_s.cc`): an earlier reading here must be that old.
const COPY_AGE: Duration = Duration::from_millis(150);

/// Those that are open now.
pub(super) fn look(
    connection: &mut Connection,
    alter: &AlterStatement,
    user: &UserServer,
) -> Result<Vec<Obstacle>, DdlError> {
    if let Some(query) = locks_query(connection, alter, user)? {
        match connection.rows::<Holder>(query) {
            Ok(holders) => return Ok(holders.iter().map(|holder| holds(holder, user)).collect()),
            Err(error) => permitted(error)?,
        }
    }
    std::thread::sleep(COPY_AGE);
    let query = format!(
        "SELECT x.trx_mysql_thread_id, {AGE} FROM information_schema.INNODB_TRX x \
         WHERE x.trx_mysql_thread_id NOT IN (0, CONNECTION_ID()) ORDER BY x.trx_started"
    );
    match connection.rows::<Holder>(query) {
        Ok(open) => Ok(may_hold(&open, user.flavor).into_iter().collect()),
        Err(error) => {
            permitted(error)?;
            let text = "open transactions are not known: the account may not see them; GRANT PROCESS to it";
            Ok(vec![Obstacle::risk("open transactions", text.to_owned())])
        }
    }
}

/// The query that knows locks by table, if the server can answer it.
fn locks_query(
    connection: &mut Connection,
    alter: &AlterStatement,
    user: &UserServer,
) -> Result<Option<String>, DdlError> {
    let is_table = |columns| is_table(columns, &alter.schema, &alter.table);
    if user.is_on("performance_schema") && is_instrumented(connection)? {
        return Ok(Some(format!(
            "SELECT DISTINCT t.PROCESSLIST_ID, {AGE} FROM performance_schema.metadata_locks l \
             JOIN performance_schema.threads t ON t.THREAD_ID = l.OWNER_THREAD_ID \
             LEFT JOIN information_schema.INNODB_TRX x ON x.trx_mysql_thread_id = t.PROCESSLIST_ID \
             WHERE l.OBJECT_TYPE = 'TABLE' AND {} \
             AND l.LOCK_STATUS = 'GRANTED' AND t.PROCESSLIST_ID <> CONNECTION_ID()",
            is_table(["l.OBJECT_SCHEMA", "l.OBJECT_NAME"])
        )));
    }
    let plugin: Option<u64> = connection.first(
        "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'METADATA_LOCK_INFO' \
         AND PLUGIN_STATUS = 'ACTIVE'",
    )?;
    Ok((plugin == Some(1)).then(|| {
        format!(
            "SELECT DISTINCT CAST(l.THREAD_ID AS UNSIGNED), {AGE} FROM information_schema.METADATA_LOCK_INFO l \
             LEFT JOIN information_schema.INNODB_TRX x ON x.trx_mysql_thread_id = l.THREAD_ID \
             WHERE {} AND l.THREAD_ID <> CONNECTION_ID()",
            is_table(["l.TABLE_SCHEMA", "l.TABLE_NAME"])
        )
    }))
}

/// Returns true if `performance_schema` sees metadata locks: `MariaDB` has the instrument off.
fn is_instrumented(connection: &mut Connection) -> Result<bool, DdlError> {
    let enabled = connection.first::<String>(
        "SELECT ENABLED FROM performance_schema.setup_instruments WHERE NAME = 'wait/lock/metadata/sql/mdl'",
    );
    match enabled {
        Ok(enabled) => Ok(enabled.as_deref() == Some("YES")),
        Err(error) => permitted(error).map(|()| false),
    }
}

/// An account may lack a privilege; all else is a failure.
fn permitted(error: ClientError) -> Result<(), DdlError> {
    match error {
        ClientError::Privilege { .. } | ClientError::Statement { .. } => Ok(()),
        other => Err(other.into()),
    }
}

fn holds((id, age_s): &Holder, user: &UserServer) -> Obstacle {
    let age = age_s.map_or_else(String::new, |age_s| format!(", open for {age_s} s"));
    let limit = user.variable("lock_wait_timeout").unwrap_or("?");
    let text = format!(
        "connection {id} has a lock on the table{age}: the ALTER waits for it, up to lock_wait_timeout = {limit} s, and \
         later statements on the table wait for the ALTER"
    );
    Obstacle::blocks("open transactions", text)
}

fn may_hold(open: &[Holder], flavor: Flavor) -> Option<Obstacle> {
    let (id, age_s) = open.first()?;
    let age_s = age_s.unwrap_or_default();
    let how = match flavor {
        Flavor::Mysql => "GRANT SELECT ON performance_schema.* to the account",
        Flavor::Mariadb => "INSTALL SONAME 'metadata_lock_info'",
    };
    let text = format!(
        "{} transactions are open, the oldest for {age_s} s on connection {id}; whether they use the table is not \
         known: {how}",
        open.len()
    );
    Some(Obstacle::risk("open transactions", text))
}

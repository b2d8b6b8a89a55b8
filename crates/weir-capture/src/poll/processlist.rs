//! Statements that run, of `MariaDB`'s processlist.

use weir_mysql::Connection;

use super::event::{Event, Look};
use super::mark::is_marked;
use crate::CaptureError;

const QUERY: &str = "SELECT ID weir_poll, QUERY_ID, USER, DB, COMMAND, INFO, CAST(TIME_MS * 1000 AS SIGNED), \
     CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) FROM information_schema.PROCESSLIST \
     WHERE ID <> CONNECTION_ID() AND COMMAND <> 'Daemon'";

type Columns = (
    u64,
    u64,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<Vec<u8>>,
    Option<i64>,
    i64,
);

/// The server's clock, microseconds since 1970.
pub(super) fn now_us(connection: &mut Connection) -> Result<i64, CaptureError> {
    let query = "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) weir_poll";
    let now: Option<(i64,)> = connection.first(query)?;
    Ok(now.map(|(now_us,)| now_us).unwrap_or_default())
}

/// Reads what runs.
pub(super) fn look(connection: &mut Connection) -> Result<Look, CaptureError> {
    let mut look = Look::nothing();
    look.now_us = now_us(connection)?;
    for row in connection.rows::<Columns>(QUERY)? {
        let (session, id, user, schema, command, text, age_us, now_us) = row;
        look.now_us = now_us;
        look.sessions.insert(session);
        look.users.push((session, user.unwrap_or_default()));
        let runs = matches!(command.as_deref(), Some("Query" | "Execute"));
        if let Some(text) = text.filter(|text| runs && !is_marked(text)) {
            look.running.push(Event {
                session,
                id,
                name: format!("statement/com/{}", command.unwrap_or_default()),
                began_us: now_us - age_us.unwrap_or(0).max(0),
                end: None,
                text: Some(text),
                digest: None,
                schema: schema.unwrap_or_default(),
                is_nested: false,
            });
        }
    }
    Ok(look)
}

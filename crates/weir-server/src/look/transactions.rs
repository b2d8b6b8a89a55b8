//! The oldest open transaction: old versions of rows stay for it.

use super::finding::{CounterValue, Finding, Unit, Weight};
use super::reader::Reader;
use crate::ServerError;

/// A younger transaction is none to name, seconds.
const AGE_MIN_S: f64 = 60.0;
/// Old versions of rows that make a long transaction a problem.
const HISTORY_MIN: f64 = 100_000.0;
const GRANT: &str = "GRANT PROCESS ON *.* TO the account";

/// Reads the length of the list of old versions, which `MariaDB` has in its status, too.
pub(super) fn history(reader: &mut Reader) -> Result<Option<f64>, ServerError> {
    let query = "SELECT COUNT FROM information_schema.INNODB_METRICS weir_look WHERE NAME = 'trx_rseg_history_len'";
    let answer = reader.rows::<(f64,)>(query);
    let rows = reader.if_permitted("old row versions", GRANT, answer)?;
    Ok(rows.and_then(|rows| rows.first().map(|(count,)| *count)))
}

/// Reads the oldest transaction, and judges it by the list of old versions.
pub(super) fn look(
    reader: &mut Reader,
    history: Option<f64>,
) -> Result<Option<Finding>, ServerError> {
    let source = "information_schema.INNODB_TRX";
    let query = format!(
        "SELECT trx_mysql_thread_id, TIMESTAMPDIFF(SECOND, trx_started, NOW()), trx_query IS NULL \
         FROM {source} weir_look ORDER BY trx_started LIMIT 1"
    );
    let answer = reader.rows::<(u64, f64, bool)>(&query);
    let rows = reader.if_permitted("open transactions", GRANT, answer)?;
    let oldest = rows.and_then(|rows| rows.first().copied());
    Ok(oldest.filter(|(_, age_s, _)| *age_s >= AGE_MIN_S).map(|(thread, age_s, is_idle)| {
        let is_problem = history.is_some_and(|history| history >= HISTORY_MIN);
        let weight = if is_problem { Weight::Problem } else { Weight::Fact };
        let state = if is_idle { "idle now" } else { "running a statement" };
        let text = format!("connection {thread} has a transaction open ({state}): old versions of rows stay for it");
        let mut readings = vec![CounterValue::new("trx_started", age_s, Unit::Seconds)];
        readings.extend(history.map(|history| CounterValue::new("trx_rseg_history_len", history, Unit::Count)));
        Finding::new("long transaction", weight, text, readings, source)
    }))
}

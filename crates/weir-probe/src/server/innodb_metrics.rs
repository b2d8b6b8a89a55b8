//! Counters of InnoDB beside its status: `information_schema.INNODB_METRICS`, of those that are
//! enabled by default in both flavours.

use weir_model::{Metric, metrics};
use weir_mysql::Connection;

use super::{number, rows, text};
use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

const STATEMENT: &str = "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS \
    WHERE NAME IN ('trx_rseg_history_len', 'lock_deadlocks', 'lock_timeouts')";

/// Counters of InnoDB.
#[derive(Debug)]
pub(super) struct InnodbMetrics;

impl Part<Connection> for InnodbMetrics {
    fn name(&self) -> &'static str {
        "INNODB_METRICS"
    }

    fn read(
        &mut self,
        connection: &mut Connection,
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        for row in rows(connection, STATEMENT)? {
            if let (Some(metric), Some(value)) = (text(&row, 0).and_then(metric), number(&row, 1)) {
                readings.add(metric, value);
            }
        }
        Ok(())
    }
}

fn metric(name: &str) -> Option<Metric> {
    Some(match name {
        "trx_rseg_history_len" => metrics::STATUS_HISTORY,
        "lock_deadlocks" => metrics::STATUS_DEADLOCKS,
        "lock_timeouts" => metrics::STATUS_LOCK_TIMEOUTS,
        _ => return None,
    })
}

//! Facts about the buffer pool beside the status: `information_schema.INNODB_BUFFER_POOL_STATS`,
//! summed over the pool's instances.

use weir_model::metrics;
use weir_mysql::Connection;

use super::{number, rows};
use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

const STATEMENT: &str = "SELECT SUM(OLD_DATABASE_PAGES), SUM(PAGES_MADE_YOUNG), \
    SUM(PAGES_NOT_MADE_YOUNG) FROM information_schema.INNODB_BUFFER_POOL_STATS";

/// The LRU list of the buffer pool.
#[derive(Debug)]
pub(super) struct BufferPool;

impl Part<Connection> for BufferPool {
    fn name(&self) -> &'static str {
        "INNODB_BUFFER_POOL_STATS"
    }

    fn read(
        &mut self,
        connection: &mut Connection,
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        let columns = [
            metrics::STATUS_POOL_PAGES_OLD,
            metrics::STATUS_POOL_MADE_YOUNG,
            metrics::STATUS_POOL_NOT_MADE_YOUNG,
        ];
        for row in rows(connection, STATEMENT)? {
            for (column, metric) in columns.into_iter().enumerate() {
                if let Some(value) = number(&row, column) {
                    readings.add(metric, value);
                }
            }
        }
        Ok(())
    }
}

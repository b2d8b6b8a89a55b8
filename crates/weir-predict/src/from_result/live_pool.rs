//! Misses of other pools of a live server, from looks at its pool's pages.

use std::time::Duration;

use crate::{Looks, lru};
use serde::Serialize;
use weir_model::Bytes;
use weir_report::table;

use crate::from_result::ForecastError;
use crate::from_result::pools::pools_or_shares;

/// Observation of a server's pool and its use.
#[derive(Debug)]
pub struct PoolUseSeen {
    /// The server's name.
    pub server: String,
    /// Pages that it held, look by look.
    pub looks: Looks,
    /// Number of looks.
    pub count: u32,
    /// Time that they took the server, together.
    pub looking: Duration,
    /// Time for which it was looked at.
    pub over: Duration,
    /// Misses in this time.
    pub misses: f64,
    /// Bytes of a page.
    pub page_bytes: f64,
    /// Bytes of all tables and indexes.
    pub data_bytes: f64,
}

/// Observation, and the prediction from it.
#[derive(Debug, Serialize)]
pub struct LivePool {
    server: String,
    looks: u32,
    /// Time that a look took the server, on average.
    look_ms_mean: f64,
    seconds: f64,
    pages_resident: f64,
    pages_seen: usize,
    pages_of_data: f64,
    misses_per_s: f64,
    pools: Vec<Row>,
}

/// One pool.
#[derive(Debug, Serialize)]
struct Row {
    pool_bytes: u64,
    share_of_data: f64,
    misses_per_s: f64,
    /// Of those of today.
    misses_share: f64,
}

impl LivePool {
    /// Predicts the misses of the `asked` pools (`1G..64G` or `1G,2G`; by default shares of the
    /// data).
    ///
    /// # Errors
    ///
    /// A pool that is no size, and looks from which nothing follows.
    pub fn predict(seen: &PoolUseSeen, asked: Option<&str>) -> Result<Self, ForecastError> {
        let seconds = seen.over.as_secs_f64();
        let misses_per_s = seen.misses / seconds;
        let looks = &seen.looks;
        let pages_of_data = (seen.data_bytes / seen.page_bytes).max(looks.distinct() as f64);
        let popularity = looks.popularity(pages_of_data, misses_per_s)?;
        let row = |size: &Bytes| {
            let pages = size.0 as f64 / seen.page_bytes;
            let misses_per_s_there = lru(&popularity, pages).misses;
            Row {
                pool_bytes: size.0,
                share_of_data: pages / pages_of_data,
                misses_per_s: misses_per_s_there,
                misses_share: misses_per_s_there / misses_per_s,
            }
        };
        Ok(Self {
            server: seen.server.clone(),
            looks: seen.count,
            look_ms_mean: seen.looking.as_secs_f64() * 1e3 / f64::from(seen.count),
            seconds,
            pages_resident: looks.resident(),
            pages_seen: looks.distinct(),
            pages_of_data,
            misses_per_s,
            pools: pools_or_shares(asked, pages_of_data)?
                .iter()
                .map(row)
                .collect(),
        })
    }

    /// Returns the observation in one line.
    pub fn line(&self) -> String {
        format!(
            "{}: {} looks in {:.0} s, each {:.0} ms; {:.0} pages in the pool, {} different ones seen of {:.0}; {:.0} \
             misses per second",
            self.server,
            self.looks,
            self.seconds,
            self.look_ms_mean,
            self.pages_resident,
            self.pages_seen,
            self.pages_of_data,
            self.misses_per_s
        )
    }

    /// The pools, as a table.
    pub fn table(&self) -> String {
        let rows: Vec<_> = self.pools.iter().map(Row::line).collect();
        table(&["pool", "of data", "misses/s", "of today's"], &rows)
    }
}

impl Row {
    fn line(&self) -> Vec<String> {
        vec![
            Bytes(self.pool_bytes).to_string(),
            format!("{:.0} %", self.share_of_data * 100.0),
            format!("{:.0}", self.misses_per_s),
            format!("{:.0} %", self.misses_share * 100.0),
        ]
    }
}

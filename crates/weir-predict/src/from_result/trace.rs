//! Misses of pools from what a recorded run with a tiny pool has read: of any workload, since nothing has to
//! be known of it.

use crate::{PAGE_BYTES, PageReads, StackDistances};
use serde::Serialize;
use weir_model::Bytes;
use weir_report::table;

use crate::from_result::ForecastError;
use crate::from_result::pools::pools_or_shares;

/// The share of the reads that only fills the pools.
const WARM_UP: f64 = 1.0 / 3.0;

/// Misses of one pool on the recorded reads.
#[derive(Debug, Serialize)]
struct Row {
    pool_bytes: u64,
    share_of_pages: f64,
    /// Misses / page references, of a list of least recent use.
    miss_ratio: f64,
}

/// Misses of pools on the recorded reads.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct TraceMisses {
    rows: Vec<Row>,
}

/// Returns the misses of the `asked` pools (`1G..64G` or `1G,2G`; by default shares of the pages that were read) on
/// `reads`.
///
/// # Errors
///
/// A pool that is no size.
pub fn trace_misses(reads: &PageReads, asked: Option<&str>) -> Result<TraceMisses, ForecastError> {
    let sizes = pools_or_shares(asked, f64::from(reads.distinct))?;
    Ok(TraceMisses {
        rows: rows(reads, &sizes),
    })
}

impl TraceMisses {
    /// As a table.
    pub fn table(&self) -> String {
        let lines: Vec<_> = self.rows.iter().map(Row::line).collect();
        table(&["pool", "of pages", "misses"], &lines)
    }
}

fn rows(reads: &PageReads, sizes: &[Bytes]) -> Vec<Row> {
    let mut distances = StackDistances::new(reads.distinct);
    let warm_up = (reads.pages.len() as f64 * WARM_UP) as usize;
    for (number, page) in reads.pages.iter().enumerate() {
        if number == warm_up {
            distances.forget_counts();
        }
        distances.access(*page);
    }
    let curve = distances.curve();
    let row = |size: &Bytes| Row {
        pool_bytes: size.0,
        share_of_pages: size.0 as f64 / PAGE_BYTES / f64::from(reads.distinct),
        miss_ratio: curve.miss_ratio(size.0 as f64 / PAGE_BYTES),
    };
    sizes.iter().map(row).collect()
}

impl Row {
    fn line(&self) -> Vec<String> {
        vec![
            Bytes(self.pool_bytes).to_string(),
            format!("{:.0} %", self.share_of_pages * 100.0),
            format!("{:.4}", self.miss_ratio),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_a_circle_miss_unless_all_fit() {
        let reads = PageReads {
            pages: (0..10).flat_map(|_| 0..1_000).collect(),
            distinct: 1_000,
            ..PageReads::default()
        };
        let of = |pages: u64| rows(&reads, &[Bytes(pages * 16_384)])[0].miss_ratio;
        assert!((of(999) - 1.0).abs() < 1e-9);
        assert!(of(1_000).abs() < 1e-9);
    }
}

//! Misses of pools from what a recorded run with a tiny pool has read: of any workload, since nothing has to
//! be known of it.

use serde::Serialize;
use weir_model::Bytes;
use weir_predict::{PAGE_BYTES, PageReads, READS_MAX, StackDistances};
use weir_report::table;

use super::asked_pools;
use crate::cli::PredictTraceArguments;
use crate::output;

/// The share of the reads that only fills the pools.
const WARM_UP: f64 = 1.0 / 3.0;

/// One pool.
#[derive(Debug, Serialize)]
struct Row {
    pool_bytes: u64,
    share_of_pages: f64,
    /// Misses / page references, of a list of least recent use.
    miss_ratio: f64,
}

/// Prints the misses of pools for a trace.
pub(super) fn execute(arguments: &PredictTraceArguments) -> anyhow::Result<()> {
    let path = &arguments.trace;
    let reads = PageReads::read(path)?;
    let pages = f64::from(reads.distinct);
    let sizes = asked_pools(arguments.pools.pool.as_deref(), pages)?;
    let rows = rows(&reads, &sizes);
    if arguments.json {
        return output::line(serde_json::to_string_pretty(&rows)?);
    }
    output::line(format_args!(
        "{}: {} page reads in {:.0} s, of {} pages ({})\n",
        path.display(),
        reads.pages.len(),
        reads.length_s,
        reads.distinct,
        Bytes((pages * PAGE_BYTES) as u64)
    ))?;
    let lines: Vec<_> = rows.iter().map(Row::line).collect();
    output::text(table(&["pool", "of pages", "misses"], &lines))?;
    if reads.has_more {
        output::line(format_args!(
            "\nthe recording is longer: its first {} million reads were taken",
            READS_MAX / 1_000_000
        ))?;
    }
    output::line(
        "\nassumed: steady state, a list of least recent use (InnoDB's misses up to a tenth less), and a recorded pool so small \
         that nearly every reference was read: say nothing of pools less than five times as large",
    )
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

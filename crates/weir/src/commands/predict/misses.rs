//! Misses alone, of a study that has no run yet.

use serde::Serialize;
use weir_model::{Bytes, Plan};
use weir_predict::{PoolModel, old_blocks_time_s};
use weir_report::table;

use super::{Subject, first_cell};
use crate::cli::PredictStudyArguments;
use crate::output;

/// Without a run there is no processor time and no throughput: misses only.
pub(super) fn execute(
    plan: &Plan,
    assumed: &[String],
    arguments: &PredictStudyArguments,
) -> anyhow::Result<()> {
    let subject = Subject::of(plan, &arguments.pools)?;
    let old_blocks_time_s = old_blocks_time_s(first_cell(plan)?);
    let rows: Vec<_> = subject
        .pools
        .iter()
        .map(|pool| Misses::of(&subject, old_blocks_time_s, *pool))
        .collect();
    if arguments.json {
        return output::line(serde_json::to_string_pretty(&rows)?);
    }
    output::line(format_args!(
        "{}: {} of pages in use, {:.1} asked for by a transaction\n",
        plan.title,
        Bytes(subject.data_bytes as u64),
        subject.popularity.references()
    ))?;
    let header = ["pool", "of data", "misses", "frozen", "reads/transaction"];
    let lines: Vec<_> = rows.iter().map(Misses::row).collect();
    output::text(table(&header, &lines))?;
    output::line("")?;
    for line in assumed {
        output::line(format_args!("assumed: {line}"))?;
    }
    output::line(
        "assumed: steady state, independent keys, leaves as full as after loading. `frozen`: if the \
         pool's old part turns over within innodb_old_blocks_time. Throughput needs a result of one run.",
    )
}

/// What a pool misses.
#[derive(Debug, Serialize)]
struct Misses {
    pool_bytes: u64,
    share_of_data: f64,
    miss_ratio: f64,
    miss_ratio_frozen: f64,
    reads_per_transaction: f64,
}

impl Misses {
    fn of(subject: &Subject, old_blocks_time_s: f64, pool: Bytes) -> Self {
        let frames = subject.frames(pool).max(1.0);
        let model = PoolModel::new(
            &subject.popularity,
            frames,
            subject.pool_use,
            old_blocks_time_s,
        );
        let promoting = model.promoting();
        Self {
            pool_bytes: pool.0,
            share_of_data: pool.0 as f64 / subject.data_bytes,
            miss_ratio: promoting.miss_ratio,
            miss_ratio_frozen: model.frozen().miss_ratio,
            reads_per_transaction: promoting.misses,
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            Bytes(self.pool_bytes).to_string(),
            format!("{:.0} %", self.share_of_data * 100.0),
            format!("{:.4}", self.miss_ratio),
            format!("{:.4}", self.miss_ratio_frozen),
            format!("{:.3}", self.reads_per_transaction),
        ]
    }
}

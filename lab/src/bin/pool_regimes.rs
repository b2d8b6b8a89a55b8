//! Misses of a live server's pool beside those of the models, for each distribution of keys, pool
//! size and `innodb_old_blocks_time`.
//!
//! One table, point selects, data in the temporary directory: `TMPDIR=/dev/shm` makes reads as fast
//! as memory, so that the pool turns over as fast as it can. Every cell has a server of its own
//! start, since what a frozen pool holds depends on how it was filled. A line of JSON per cell.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use serde_json::json;
use tempfile::TempDir;
use weir_load::{LoadPlan, PreparePlan, TableOptions};
use weir_model::{
    Bytes, Distribution, DistributionName, Flavor, LoadSpec, Mix, SysbenchWorkload, WorkloadName,
};
use weir_mysql::Gate;
use weir_predict::{Popularity, TableSet, frozen, lru, midpoint, popularity_of};
use weir_server::{PrivateServer, ServerBinary};

const PAGE_BYTES: u64 = 16_384;

/// Compares the pool of live servers with the models.
#[derive(Debug, Parser)]
struct Options {
    /// `mysql` or `mariadb`
    #[arg(long, value_delimiter = ',', default_value = "mysql,mariadb")]
    flavor: Vec<String>,
    /// Rows of the table
    #[arg(long, default_value_t = 1_500_000)]
    rows: u64,
    /// Buffer pools
    #[arg(long, value_delimiter = ',', default_value = "128M")]
    pool: Vec<Bytes>,
    /// `innodb_old_blocks_time`, milliseconds
    #[arg(long, value_delimiter = ',', default_value = "0,1000")]
    old_blocks_time: Vec<u32>,
    /// Distributions of keys, by sysbench's names
    #[arg(long, value_delimiter = ',', default_value = "zipfian")]
    distribution: Vec<String>,
    /// Connections
    #[arg(long, default_value_t = 8)]
    connections: u32,
    /// Transactions per second; as fast as it goes without
    #[arg(long)]
    rate: Option<f64>,
    /// Seconds before the measurement
    #[arg(long, default_value_t = 6)]
    warmup: u64,
    /// Seconds of the measurement
    #[arg(long, default_value_t = 6)]
    measure: u64,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    for flavor in &options.flavor {
        let flavor: Flavor = serde_json::from_value(json!(flavor))?;
        let table = PreparedTable::new(flavor, options.rows)?;
        eprintln!("{flavor:?}: {}", table.leaves);
        for distribution in &options.distribution {
            let distribution: DistributionName = serde_json::from_value(json!(distribution))?;
            for pool in &options.pool {
                for old_blocks_time in &options.old_blocks_time {
                    let cell = Cell {
                        options: &options,
                        table: &table,
                        distribution,
                        pool: *pool,
                        old_blocks_time_ms: *old_blocks_time,
                    };
                    println!("{}", cell.measure()?);
                }
            }
        }
    }
    Ok(())
}

/// A data directory with the filled table.
struct PreparedTable {
    binary: ServerBinary,
    directory: TempDir,
    rows: u64,
    leaves: serde_json::Value,
}

impl PreparedTable {
    fn new(flavor: Flavor, rows: u64) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let binary = weir_testing::binary(flavor);
        weir_testing::data_directory(&binary, &directory.path().join("data"));
        let mut prepared = Self {
            binary,
            directory,
            rows,
            leaves: json!(null),
        };
        let server = prepared.start(&[
            ("innodb_buffer_pool_size", "536870912"),
            ("innodb_redo_log_capacity", "536870912"),
        ])?;
        let plan = PreparePlan {
            tables: TableOptions {
                rows,
                ..TableOptions::default()
            },
            ..PreparePlan::new(server.endpoint(), WorkloadName::OltpPointSelect)
        };
        weir_load::prepare(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {})?;
        prepared.leaves = leaves(&server)?;
        server.stop(Duration::from_mins(2))?;
        Ok(prepared)
    }

    fn start(&self, variables: &[(&str, &str)]) -> anyhow::Result<PrivateServer> {
        let mut options = weir_testing::options(self.directory.path());
        let own = variables.iter();
        options
            .variables
            .extend(own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        for name in [
            "innodb_buffer_pool_load_at_startup",
            "innodb_buffer_pool_dump_at_shutdown",
        ] {
            options.variables.insert(name.to_owned(), "OFF".to_owned());
        }
        Ok(PrivateServer::start(&self.binary, &options)?)
    }
}

/// Leaf pages and rows of the table's indexes, as the server says.
fn leaves(server: &PrivateServer) -> anyhow::Result<serde_json::Value> {
    let mut connection = weir_testing::connect(&server.endpoint());
    connection.run("ANALYZE TABLE sbtest1")?;
    let rows: Vec<(String, String, u64)> = connection.rows(
        "SELECT index_name, stat_name, stat_value FROM mysql.innodb_index_stats \
         WHERE table_name = 'sbtest1' AND stat_name IN ('n_leaf_pages', 'size')",
    )?;
    let named = rows
        .into_iter()
        .map(|(index, what, value)| (format!("{index}.{what}"), value));
    Ok(json!(named.collect::<BTreeMap<_, _>>()))
}

/// One measurement.
struct Cell<'a> {
    options: &'a Options,
    table: &'a PreparedTable,
    distribution: DistributionName,
    pool: Bytes,
    old_blocks_time_ms: u32,
}

impl Cell<'_> {
    fn measure(&self) -> anyhow::Result<serde_json::Value> {
        let pool = self.pool.0.to_string();
        let time = self.old_blocks_time_ms.to_string();
        let server = self.table.start(&[
            ("innodb_buffer_pool_size", &pool),
            ("innodb_old_blocks_time", &time),
        ])?;
        self.load(&server, self.options.warmup)?;
        let before = Counters::read(&server)?;
        let (transactions, per_s) = self.load(&server, self.options.measure)?;
        let after = Counters::read(&server)?;
        server.kill();
        let per_transaction =
            |name| (after.value(name) - before.value(name)) / transactions.max(1.0);
        let resident = after.value("Innodb_buffer_pool_pages_data");
        let misses = per_transaction("Innodb_buffer_pool_reads");
        Ok(json!({
            "flavor": self.table.binary.flavor,
            "version": self.table.binary.version.to_string(),
            "distribution": self.distribution.as_str(),
            "pool_pages": self.pool.0 / PAGE_BYTES,
            "resident_pages": resident,
            "free_pages": after.value("Innodb_buffer_pool_pages_free"),
            "old_blocks_time_ms": self.old_blocks_time_ms,
            "transactions_per_s": per_s,
            "misses_per_s": misses * per_s,
            "miss_ratio": misses,
            "read_ahead": per_transaction("Innodb_buffer_pool_read_ahead"),
            "made_young": per_transaction("buffer_pages_made_young"),
            "not_made_young": per_transaction("buffer_pages_not_made_young"),
            "models": self.models(resident, per_s)?,
        }))
    }

    fn load(&self, server: &PrivateServer, seconds: u64) -> anyhow::Result<(f64, f64)> {
        let workload = SysbenchWorkload {
            distribution: self.distribution.into(),
            ..WorkloadName::OltpPointSelect.into()
        };
        let plan = LoadPlan {
            rows: self.table.rows,
            load: LoadSpec {
                connections: self.options.connections,
                measure: Duration::from_secs(seconds).into(),
                pace: self
                    .options
                    .rate
                    .map(|per_s| weir_model::Rate {
                        per_s,
                        arrivals: weir_model::ArrivalKind::Poisson,
                        ramp: None,
                    })
                    .into(),
                ..LoadSpec::default()
            },
            ..LoadPlan::new(server.endpoint(), workload)
        };
        let outcome = weir_load::run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {})?;
        let transactions = outcome.counts_whole_run.transactions as f64;
        Ok((transactions, transactions / outcome.measured_s))
    }

    fn models(&self, resident: f64, per_s: f64) -> anyhow::Result<serde_json::Value> {
        let flavor = self.table.binary.flavor;
        let pages = popularity(self.distribution.into(), self.table.rows, flavor)?;
        // The upper levels of the index are always there: one page to some 1,200 leaves.
        let upper = 1.0 + pages.pages() / 1200.0;
        let frames = resident - upper;
        let settle = f64::from(self.old_blocks_time_ms) / 1000.0 * per_s;
        let promoted = midpoint(&pages, frames, settle);
        Ok(json!({
            "lru": lru(&pages, frames).miss_ratio,
            "midpoint": promoted.miss_ratio,
            "frozen": frozen(&pages, frames).miss_ratio,
            "old_stay_s": promoted.stay / per_s,
        }))
    }
}

fn popularity(distribution: Distribution, rows: u64, flavor: Flavor) -> anyhow::Result<Popularity> {
    let workload = WorkloadName::OltpPointSelect;
    let tables = TableSet::prepared(workload, 1, rows, flavor);
    Ok(popularity_of(
        workload,
        &Mix::default(),
        distribution,
        &tables,
    )?)
}

/// The server's counters at an instant.
struct Counters(BTreeMap<String, String>);

impl Counters {
    fn read(server: &PrivateServer) -> anyhow::Result<Self> {
        let mut counters = server.status()?;
        let mut connection = weir_testing::connect(&server.endpoint());
        let young: Option<(u64, u64)> = connection
            .first(
                "SELECT SUM(pages_made_young), SUM(pages_not_made_young) \
                 FROM information_schema.innodb_buffer_pool_stats",
            )
            .context("while reading innodb_buffer_pool_stats")?;
        let (made, not_made) = young.unwrap_or_default();
        counters.insert("buffer_pages_made_young".to_owned(), made.to_string());
        counters.insert(
            "buffer_pages_not_made_young".to_owned(),
            not_made.to_string(),
        );
        Ok(Self(counters))
    }

    fn value(&self, name: &str) -> f64 {
        let text = self.0.get(name).map_or("0", String::as_str);
        text.parse().unwrap_or(0.0)
    }
}

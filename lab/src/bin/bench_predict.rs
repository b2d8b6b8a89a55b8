//! Cost of predictions: `make bench-predict`. Prints a line per figure and writes JSON.

#![allow(clippy::print_stdout)] // a program

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use clap::Parser;
use serde_json::{Map, Value, json};
use weir_drive::profiles;
use weir_model::{Distribution, Flavor, Mix, WorkloadName};
use weir_predict::{
    Demands, DriveAbility, Flushing, Pool, PoolSettings, PoolUse, StackDistances, System, TableSet,
    WriteSettings, popularity_of, sampled_curve,
};
use weir_workload::KeyStream;

const PAGES: u32 = 100_000;
const ROWS_PER_PAGE: u32 = 75;
const SIZES: u32 = 20;

/// Measures the predictor.
#[derive(Debug, Parser)]
struct Options {
    /// References of the string
    #[arg(long, default_value_t = 10_000_000)]
    references: usize,
    /// Where the results go, as JSON
    #[arg(long, default_value = "target/bench-predict.json")]
    json: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let mut figures = Map::new();
    let mut note = |name: &str, value: f64, unit: &str| {
        println!("{name:<32} {value:>10.2} {unit}");
        figures.insert(format!("{name}_{unit}"), json!(value));
    };
    // First, so that the most memory that was in use is its own.
    note("surface_50_12_10", surface()?, "s");
    note("surface_memory", memory_peak_mib()?, "mib");

    let zipf = Distribution::Zipfian { exponent: 0.8 };
    let keys = KeyStream::new(zipf, u64::from(PAGES * ROWS_PER_PAGE), 1)?;
    let pages = keys.map(|key| (key - 1) / ROWS_PER_PAGE);
    let references: Vec<u32> = pages.take(options.references).collect();
    let count = references.len() as f64;

    let began = Instant::now();
    for size in 1..=SIZES {
        let mut pool = Pool::new(
            PoolSettings::new((PAGES * size / (SIZES + 1)) as usize),
            PAGES,
        );
        for (number, page) in references.iter().enumerate() {
            pool.access(*page, (number / 10) as u32, false);
        }
    }
    let all_s = began.elapsed().as_secs_f64();
    note("pool_20_sizes", all_s, "s");
    note(
        "pool_reference",
        all_s * 1e9 / count / f64::from(SIZES),
        "ns",
    );

    let began = Instant::now();
    let mut distances = StackDistances::new(PAGES);
    for page in &references {
        distances.access(*page);
    }
    let exact = distances.curve();
    note(
        "stack_distance",
        began.elapsed().as_secs_f64() * 1e9 / count,
        "ns",
    );

    let sizes: Vec<f64> = (1..=SIZES)
        .map(|size| f64::from(PAGES * size / (SIZES + 1)))
        .collect();
    let began = Instant::now();
    let sampled = sampled_curve(&references, PAGES, 0.05, &sizes);
    note("sampled_curve_20_sizes", began.elapsed().as_secs_f64(), "s");
    let errors = sampled.iter().zip(&sizes);
    let errors = errors.map(|(found, size)| (found.miss_ratio - exact.miss_ratio(*size)).abs());
    note(
        "sampled_curve_mean_error",
        errors.sum::<f64>() / sizes.len() as f64,
        "1",
    );

    note("memory", memory_peak_mib()?, "mib");
    let text = serde_json::to_string_pretty(&Value::Object(figures))?;
    std::fs::write(&options.json, text)
        .with_context(|| format!("while writing {}", options.json.display()))
}

/// The most memory that this process has had resident, MiB (`VmHWM`, `proc_pid_status(5)`).
fn memory_peak_mib() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|value| value.split_whitespace().next());
    let kibibytes: f64 = kibibytes
        .context("the kernel does not tell VmHWM")?
        .parse()?;
    Ok(kibibytes / 1024.0)
}

/// Seconds for 50 pools on 12 drives with 10 numbers of connections, the drives' abilities and all.
fn surface() -> anyhow::Result<f64> {
    let workload = WorkloadName::OltpReadWrite;
    let zipf = Distribution::Zipfian { exponent: 0.8 };
    let tables = TableSet::prepared(workload, 30, 40_000_000, Flavor::Mysql);
    let began = Instant::now();
    let popularity = popularity_of(workload, &Mix::default(), zipf, &tables)?;
    let system = System {
        popularity,
        writes: WriteSettings {
            redo_capacity_bytes: 2e9,
            redo_bytes: 6_000.0,
            doublewrite: true,
            durable_commits: true,
            flushing: Flushing::MYSQL,
        },
        pool_use: PoolUse::MYSQL,
        old_blocks_time_s: 1.0,
        discrepancy: weir_predict::Discrepancy::default(),
        demands: Demands {
            cores: 32,
            cpu_s: 0.002,
            cpu_s_per_miss: 15e-6,
            emulation_s: 0.0,
            wait_s: 0.001,
            connections_max: 1024,
        },
    };
    let drives: Vec<_> = profiles::list(None)?.into_iter().take(12).collect();
    let drives: Vec<_> = drives.iter().map(|profile| (profile, 1.0)).collect();
    let drives = DriveAbility::of_each(&drives)?;
    let connections: Vec<u32> = (0..10).map(|power| 1 << power).collect();
    let mut sum = 0.0;
    for pool in 1..=50 {
        let model = system.pool(system.popularity.pages() * f64::from(pool) / 50.0);
        for drive in &drives {
            let found = system.predict_each(&model, drive, &connections)?;
            sum += found
                .iter()
                .map(|point| point.transactions_per_s)
                .sum::<f64>();
        }
    }
    anyhow::ensure!(sum > 0.0, "nothing was predicted");
    Ok(began.elapsed().as_secs_f64())
}

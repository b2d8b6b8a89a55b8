//! The load engine beside the distribution's sysbench, on one private server, turn by turn.
//!
//! `make bench-load` runs it. Every case is run by each tool in turn, several times (A B A B), so
//! that whatever else this machine does falls on both; ratios are those of neighbours in time, and
//! their median and range are printed. CPU and memory are the whole process's, from start to end
//! (`wait4(2)`), connecting included. A client in Go, `mysqlslap` and the floor (`query_floor`) come beside in the cases of
//! point selects.
//! `make bench-order` compares order entry instead, with go-tpc beside.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program

mod cases;
mod child;
mod order_entry;
mod others;
mod prepare;
mod processors;
mod server;
mod table;
mod truth;
mod way;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use serde::Serialize;

use cases::{Arm, Case, Sample, Tool};
use order_entry::OrderEntryCase;

/// Compares `weir load` with sysbench on a private MySQL server.
#[derive(Debug, Parser)]
struct Options {
    /// The `weir` to measure
    #[arg(long, default_value = "target/release/weir")]
    weir: PathBuf,
    /// What it is compared with
    #[arg(long, default_value = "sysbench")]
    sysbench: PathBuf,
    /// Turns of each case
    #[arg(long, default_value_t = 4)]
    turns: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 6)]
    time: u32,
    /// Run only cases whose name contains this, such as `point_select/64`; or `truth`
    #[arg(long)]
    only: Option<String>,
    /// A further way to run Weir, `NAME=OPTIONS` or `NAME=@PROGRAM OPTIONS`
    #[arg(long)]
    arm: Vec<Arm>,
    /// Compare order entry instead, sysbench with this script
    #[arg(long, value_name = "SCRIPT")]
    order_entry: Option<PathBuf>,
    /// A client in Go, made of `lab/go-client`, for point selects
    #[arg(long, value_name = "PROGRAM")]
    go_client: Option<PathBuf>,
    /// `mysqlslap`, for point selects
    #[arg(long, value_name = "PROGRAM")]
    slap: Option<PathBuf>,
    /// The floor of point selects, made of `query_floor`
    #[arg(long, value_name = "PROGRAM")]
    floor: Option<PathBuf>,
    /// go-tpc, for order entry
    #[arg(long, value_name = "PROGRAM")]
    go_tpc: Option<PathBuf>,
    /// Where the results go, as JSON
    #[arg(long, default_value = "target/bench-load.json")]
    json: PathBuf,
}

/// Everything that was measured, and where.
#[derive(Debug, Serialize)]
struct Results {
    server: String,
    processor: String,
    load_average_before: String,
    load_average_after: String,
    turns: usize,
    run_s: u32,
    cases: Vec<CaseResult>,
    latency_truth: Option<truth::Truths>,
}

#[derive(Debug, Serialize)]
struct CaseResult {
    case: String,
    samples: Vec<Sample>,
    comparisons: Vec<table::Comparison>,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    child::raise_file_limit()?;
    let mut arms = vec![
        Arm::new(Tool::Sysbench, "sysbench", &options.sysbench),
        Arm::weir("weir", &options.weir, ""),
    ];
    arms.extend(options.arm.iter().map(|arm| arm.or_program(&options.weir)));
    arms.extend(others(&options));
    let cases: Vec<_> = Case::all()
        .into_iter()
        .filter(|case| {
            let only = options.only.as_deref().unwrap_or_default();
            case.to_string().contains(only)
        })
        .collect();
    let load_average_before = load_average();
    let (version, results) = match &options.order_entry {
        Some(script) => compare_order_entry(&arms, script, &options)?,
        None => compare(&arms, &cases, &options)?,
    };
    let is_wanted =
        options.order_entry.is_none() && options.only.as_deref().is_none_or(|only| only == "truth");
    let latency_truth = is_wanted
        .then(|| truth::measure(Duration::from_secs(u64::from(options.time.min(3)))))
        .transpose()?;
    let results = Results {
        server: version,
        processor: processor(),
        load_average_before,
        load_average_after: load_average(),
        turns: options.turns,
        run_s: options.time,
        cases: results,
        latency_truth,
    };
    println!(
        "{}; {}; load average {} before, {} after",
        results.server, results.processor, results.load_average_before, results.load_average_after
    );
    let text = serde_json::to_string_pretty(&results)?;
    std::fs::write(&options.json, text)
        .with_context(|| format!("while writing {}", options.json.display()))
}

/// The tools that have command lines of their own.
fn others(options: &Options) -> Vec<Arm> {
    let given = match options.order_entry {
        None => vec![
            (Tool::GoClient, "go", &options.go_client),
            (Tool::Slap, "mysqlslap", &options.slap),
        ],
        Some(_) => vec![(Tool::GoTpc, "go-tpc", &options.go_tpc)],
    };
    let given = given.into_iter();
    let mut arms: Vec<_> = given
        .filter_map(|(tool, name, program)| Some(Arm::new(tool, name, program.as_deref()?)))
        .collect();
    if options.order_entry.is_none() {
        arms.push(Arm::new(Tool::ServerAlone, "server alone", Path::new("")));
    }
    if let (None, Some(program)) = (&options.order_entry, &options.floor) {
        arms.push(Arm::new(Tool::Floor, "floor", program));
        let mut ring = Arm::new(Tool::Floor, "floor ring", program);
        ring.options.push("--by=ring".to_owned());
        arms.push(ring);
    }
    arms
}

/// Runs the cases in their order; the server's version, and what was measured on it.
fn compare(
    arms: &[Arm],
    cases: &[Case],
    options: &Options,
) -> anyhow::Result<(String, Vec<CaseResult>)> {
    let mut version = String::new();
    let mut results = Vec::new();
    for commits in server::Commits::ALL {
        let of_this = |case: &&Case| case.commits() == commits;
        let cases: Vec<_> = cases.iter().filter(of_this).collect();
        if cases.is_empty() {
            continue;
        }
        let server = server::Server::start(commits).context("while starting the server")?;
        version = server.version();
        for case in cases {
            eprintln!("{case}");
            let arms = case.arms(arms);
            let samples = case.measure(&arms, &server, options.turns, options.time)?;
            let is_first = results.is_empty();
            results.push(printed(case.to_string(), &arms, samples, is_first));
        }
    }
    Ok((version, results))
}

/// The same for order entry.
fn compare_order_entry(
    arms: &[Arm],
    script: &Path,
    options: &Options,
) -> anyhow::Result<(String, Vec<CaseResult>)> {
    let server = server::Server::start(server::Commits::Lazy)?;
    let weir = Arm::weir("weir", &options.weir, "");
    let only = options.only.as_deref().unwrap_or_default();
    let mut results = Vec::new();
    for case in OrderEntryCase::ALL {
        let name = case.to_string();
        if !name.contains(only) {
            continue;
        }
        eprintln!("{name}");
        let tools = (arms, &weir, script);
        let samples = case.measure(tools, &server, options.turns, options.time)?;
        let is_first = results.is_empty();
        results.push(printed(name, arms, samples, is_first));
    }
    Ok((server.version(), results))
}

/// Compares the samples of a case, and prints that.
fn printed(case: String, arms: &[Arm], samples: Vec<Sample>, with_head: bool) -> CaseResult {
    let comparisons = table::compare(arms, &samples);
    print!("{}", table::lines(&case, &comparisons, with_head));
    CaseResult {
        case,
        samples,
        comparisons,
    }
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("model name\t: "));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{count} x {}", name.unwrap_or("unknown processor"))
}

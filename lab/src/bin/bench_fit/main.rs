//! Distance of a fitted workload from the load of the capture that it was fitted to, on real servers: `bench_fit
//! OUT.json [--only=NAME] [--rounds=2] [--transactions=N]`.
//!
//! Production runs behind the capture proxy. Its capture is fitted with its tables, and the fitted file makes tables on
//! an empty server. Then both servers run with three pools, in turn: the capture is replayed as fast as its sessions
//! can, and the fitted workload runs with as many connections and transactions. The first half of each fills the pool.
//! Compared are, of the second half, the share of page requests that the pool serves, and the queries per second.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints, and ends at what it can't do

mod arm;
mod production;

use serde_json::{Value, json};

use arm::{Arm, Measurement};
use production::{PRODUCTIONS, Production};

/// Buffer pools: from a part of what is asked for to nearly all of it.
const POOLS: [&str; 3] = ["8388608", "16777216", "33554432"];

/// Options of the command line.
pub(crate) struct Options {
    out: Option<String>,
    /// One kind of production in place of all.
    only: Option<String>,
    /// Turns of both arms with each pool.
    rounds: usize,
    /// Transactions of each production, in place of its own number.
    transactions: Option<u64>,
}

impl Options {
    fn read() -> Self {
        let words: Vec<_> = std::env::args().skip(1).collect();
        let of = |name: &str| {
            let mut values = words.iter().filter_map(|word| word.strip_prefix(name));
            values.next().map(str::to_owned)
        };
        Self {
            out: words.iter().find(|word| !word.starts_with("--")).cloned(),
            only: of("--only="),
            rounds: of("--rounds=").map_or(2, |text| text.parse().unwrap()),
            transactions: of("--transactions=").map(|text| text.parse().unwrap()),
        }
    }
}

fn main() {
    let asked = Options::read();
    let load_average = || std::fs::read_to_string("/proc/loadavg").unwrap();
    let before = load_average();
    let wanted = PRODUCTIONS.iter().filter(|production| {
        asked
            .only
            .as_ref()
            .is_none_or(|only| only == production.name)
    });
    let found: Vec<_> = wanted
        .map(|production| compared(production, &asked))
        .collect();
    let result = json!({
        "load_before": before.trim(),
        "processors": std::thread::available_parallelism().unwrap().get(),
        "productions": found,
        "load_after": load_average().trim(),
    });
    if let Some(out) = asked.out {
        std::fs::write(out, serde_json::to_string_pretty(&result).unwrap()).unwrap();
    }
}

/// A production beside its fit.
fn compared(production: &Production, asked: &Options) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let transactions = asked.transactions.unwrap_or(production.transactions);
    let captured = production.capture(folder.path(), transactions);
    let fitted = &captured.fitted;
    println!(
        "{}: {} transactions, {:.3} of them and {:.3} of their time fitted by {} kinds",
        production.name,
        fitted.transactions,
        fitted.share_of_transactions,
        fitted.share_of_time.unwrap_or_default(),
        fitted.kinds
    );
    let pools = if production.is_run {
        let arms = [Arm::replay(&captured), Arm::fitted(&captured)];
        POOLS
            .iter()
            .map(|pool| with_pool(pool, &arms, asked.rounds))
            .collect()
    } else {
        Vec::new()
    };
    json!({
        "name": production.name,
        "transactions": transactions,
        "share_of_transactions": fitted.share_of_transactions,
        "share_of_time": fitted.share_of_time,
        "kinds": fitted.kinds,
        "values": fitted.values,
        "pools": pools,
    })
}

/// Both arms in turn with a pool.
fn with_pool(pool: &str, arms: &[Arm; 2], rounds: usize) -> Value {
    let turns: Vec<[Measurement; 2]> = (0..rounds)
        .map(|_| [arms[0].measure(pool), arms[1].measure(pool)])
        .collect();
    let apart = turns
        .iter()
        .map(|[capture, fit]| fit.hit_ratio - capture.hit_ratio);
    let apart: Vec<_> = apart.collect();
    let ratio = turns
        .iter()
        .map(|[capture, fit]| fit.queries_per_s / capture.queries_per_s);
    let ratio: Vec<_> = ratio.collect();
    let hit_ratio = turns[0][0].hit_ratio;
    println!(
        "  pool {} MiB: hit ratio {hit_ratio:.4}, the fit's differs by {apart:.4?}; its throughput is {ratio:.3?} of the \
         replay's",
        pool.parse::<u64>().unwrap() >> 20
    );
    json!({
        "pool_bytes": pool.parse::<u64>().unwrap(),
        "turns": turns,
        "hit_ratio_apart": apart,
        "throughput_ratio": ratio,
    })
}

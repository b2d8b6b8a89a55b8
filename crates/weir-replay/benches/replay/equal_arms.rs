//! A capture of a shop, sent to one real server again and again: what is said to be worse is false.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use weir_judge::compare_replays;
use weir_load::{LoadPlan, PreparePlan, TableOptions, Workload, prepare, run};
use weir_model::{
    Address, Endpoint, FingerprintVerdict, Flavor, LoadSpec, ReplayFilter, ReplayPace,
    ReplayRecord, Secret,
};
use weir_mysql::Gate;
use weir_replay::ReplayOptions;

use crate::proxy::ProxyThread;
use crate::written::send;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/shop.toml");
const USER: &str = "shop";
const PASSWORD: &str = "of-the-benchmark";
/// Replays of an arm in a comparison.
const RUNS: usize = 4;
const TRANSACTIONS: u64 = 3_000;

pub(crate) fn measure(folder: &Path, rounds: u64) -> Value {
    let (server, _directory, port) = weir_testing::start_on_tcp(Flavor::Mysql, &[]);
    let endpoint = Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), port),
        user: USER.to_owned(),
        password: Secret::new(PASSWORD),
        ..server.endpoint()
    };
    let path = captured(folder, &server.endpoint(), &endpoint);
    // The data stay the same.
    let options = ReplayOptions {
        pace: ReplayPace::Fast,
        filter: ReplayFilter::Reads,
        ..ReplayOptions::default()
    };
    let once = || send(endpoint.clone(), &path, &options).record;
    // The first one fills the pool.
    once();
    let found: Vec<_> = (1..=rounds).map(|round| compared(round, &once)).collect();
    let with_a_false_one = found.iter().filter(|named| !named.is_empty()).count();
    println!("equal arms: {with_a_false_one} of {rounds} comparisons name a kind of statement");
    json!({
        "comparisons": rounds,
        "runs_of_an_arm": RUNS,
        "with_a_kind_surely_worse_or_better": with_a_false_one,
        "named": found,
    })
}

/// Interleaved, and each second pair the other way round: a machine that gets slower says nothing for either arm.
fn compared(round: u64, once: &dyn Fn() -> ReplayRecord) -> Vec<Value> {
    let (mut baseline, mut level) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        let (first, second) = (once(), once());
        let (a, b) = if run % 2 == 0 {
            (first, second)
        } else {
            (second, first)
        };
        baseline.push(a);
        level.push(b);
    }
    let kinds = compare_replays(&baseline, &level, round);
    let named = kinds
        .into_iter()
        .filter(|kind| kind.verdict < FingerprintVerdict::Equal);
    named
        .map(|kind| json!({ "fingerprint": kind.fingerprint, "ratio": kind.ratio }))
        .collect()
}

/// The shop as production behind the proxy.
fn captured(folder: &Path, root: &Endpoint, endpoint: &Endpoint) -> PathBuf {
    let file = folder.join("shop.toml");
    let text = std::fs::read_to_string(SHOP).unwrap();
    std::fs::write(&file, text.replace("00_000\n", "_000\n")).unwrap();
    let shop = Workload::read(file.to_str().unwrap()).unwrap();
    let stop = AtomicBool::new(false);
    let filling = PreparePlan {
        threads: 2,
        tables: TableOptions::default(),
        ..PreparePlan::new(root.clone(), shop.clone())
    };
    prepare(&filling, &Gate::own(), &stop, &mut |_, _| {}).unwrap();
    weir_testing::make_account(root, USER, PASSWORD);
    let path = folder.join("shop.weircap");
    let proxy = ProxyThread::start(endpoint, &path);
    let load = LoadPlan {
        max_events: Some(TRANSACTIONS),
        load: LoadSpec {
            connections: 4,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(proxy.endpoint.clone(), shop)
    };
    run(&load, &Gate::own(), &stop, &mut |_| {}).unwrap();
    proxy.finish();
    path
}

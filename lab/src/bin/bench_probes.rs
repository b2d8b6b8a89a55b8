//! Cost of the probes: all of them once a second against none, interleaved, on a real server.
//!
//! `cargo run --release -p weir-lab --bin bench_probes -- mysql 20`: CPU of this process and of the server
//! with idle connections, then the throughput of `SELECT ?`, in as many pairs of phases. The order changes
//! from pair to pair, so that a machine that gets slower or faster says nothing for either.

// A benchmark prints, and ends at what it can't do.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::{Endpoint, Flavor, metrics};
use weir_probe::{HostProbe, Probe, ProcessProbe, Readings, Sampler, ServerProbe};

const PHASE: Duration = Duration::from_secs(4);
/// The first sample connects and prepares, once a run.
const SETTLING: Duration = Duration::from_millis(1500);
const IDLE_CONNECTIONS: usize = 64;
const LOADERS: usize = 8;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let flavor = match arguments.next().as_deref() {
        Some("mariadb") => Flavor::Mariadb,
        _ => Flavor::Mysql,
    };
    let pairs: u32 = arguments.next().map_or(20, |text| text.parse().unwrap());
    let (server, _directory) = weir_testing::start(flavor);
    let endpoint = server.endpoint();
    let idle: Vec<_> = (0..IDLE_CONNECTIONS)
        .map(|_| weir_testing::connect(&endpoint))
        .collect();
    let shares = pairs_of(pairs, &|on| cpu_share(&endpoint, server.pid(), on));
    drop(idle);
    tell(
        "CPU of a core that the probes add, idle",
        shares.iter().map(|(off, on)| on - off),
    );
    let rates = pairs_of(pairs, &|on| throughput(&endpoint, server.pid(), on));
    tell(
        "queries/s with / without probes",
        rates.iter().map(|(off, on)| on / off),
    );
}

/// Measures without (`false`) and with probes, in changing order: `(without, with)`.
fn pairs_of(pairs: u32, measure: &dyn Fn(bool) -> f64) -> Vec<(f64, f64)> {
    let both = |pair: u32| {
        if pair.is_multiple_of(2) {
            let off = measure(false);
            (off, measure(true))
        } else {
            let on = measure(true);
            (measure(false), on)
        }
    };
    (0..pairs).map(both).collect()
}

/// Prints mean and 95 % interval (normal: there are many pairs), median, and the extremes.
fn tell(what: &str, values: impl Iterator<Item = f64>) {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half = 1.96 * (squares / (count - 1.0) / count).sqrt();
    println!(
        "{what}: {mean:.4} +- {half:.4}, median {:.4}, {:.4} to {:.4} ({count} pairs)",
        values[values.len() / 2],
        values[0],
        values[values.len() - 1]
    );
}

/// All probes of a run without a drive, once a second; none if not `on`.
fn sampler(endpoint: &Endpoint, pid: u32, on: bool) -> Option<Sampler> {
    let probes: Vec<Box<dyn Probe>> = vec![
        Box::new(HostProbe::new(Some(std::env::temp_dir()))),
        Box::new(ProcessProbe::server(pid)),
        Box::new(ProcessProbe::client(std::process::id())),
        Box::new(ServerProbe::new(endpoint.clone())),
    ];
    on.then(|| Sampler::start(probes, Duration::from_secs(1), Instant::now()))
}

/// Share of a core that this process and the server use together.
fn cpu_share(endpoint: &Endpoint, pid: u32, on: bool) -> f64 {
    let sampler = sampler(endpoint, pid, on);
    thread::sleep(SETTLING);
    let before = cpu_s(pid);
    thread::sleep(PHASE);
    let used = cpu_s(pid) - before;
    drop(sampler);
    used / PHASE.as_secs_f64()
}

fn cpu_s(server: u32) -> f64 {
    let mut readings = Readings::default();
    ProcessProbe::server(server).sample(&mut readings).unwrap();
    ProcessProbe::client(std::process::id())
        .sample(&mut readings)
        .unwrap();
    let times = [metrics::SERVER_CPU.name, metrics::CLIENT_CPU.name];
    let used = readings.pending().filter(|(name, ..)| times.contains(name));
    used.map(|(_, _, value)| value).sum()
}

/// Queries per second of a few connections.
fn throughput(endpoint: &Endpoint, pid: u32, on: bool) -> f64 {
    let sampler = sampler(endpoint, pid, on);
    let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
    let rate = thread::scope(|scope| {
        for _ in 0..LOADERS {
            scope.spawn(|| {
                let mut connection = weir_testing::connect(endpoint);
                while !stop.load(Ordering::Relaxed) {
                    let _: Vec<u64> = connection.execute("SELECT ?", (1,)).unwrap();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(SETTLING);
        let before = count.load(Ordering::Relaxed);
        thread::sleep(PHASE);
        let queries = count.load(Ordering::Relaxed) - before;
        stop.store(true, Ordering::Relaxed);
        queries as f64 / PHASE.as_secs_f64()
    });
    drop(sampler);
    rate
}

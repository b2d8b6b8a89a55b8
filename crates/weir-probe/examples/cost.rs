//! What the probes cost: all of them once a second against none, interleaved, on a real server.
//!
//! `cargo run --release -p weir-probe --example cost -- mysql 6`: CPU of this process and of the
//! server with idle connections, then the throughput of point selects, in as many pairs of phases.

// An example prints, and ends at what it can't do.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use weir_model::{Endpoint, Flavor, metrics};
use weir_probe::{HostProbe, Probe, ProcessProbe, Readings, Sampler, ServerProbe};
use weir_server::testing;

const PHASE: Duration = Duration::from_secs(8);
const IDLE_CONNECTIONS: usize = 64;
const LOADERS: usize = 8;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let flavor = match arguments.next().as_deref() {
        Some("mariadb") => Flavor::Mariadb,
        _ => Flavor::Mysql,
    };
    let pairs: u32 = arguments.next().map_or(4, |text| text.parse().unwrap());
    let (server, _directory) = testing::start(flavor);
    let endpoint = server.endpoint();
    let idle: Vec<_> = (0..IDLE_CONNECTIONS)
        .map(|_| testing::connect(&endpoint))
        .collect();
    for pair in 1..=pairs {
        let [off, on] = [false, true].map(|on| cpu_share(&endpoint, server.pid(), on));
        println!("pair {pair}: CPU of a core, idle: {off:.4} without, {on:.4} with probes");
    }
    drop(idle);
    for pair in 1..=pairs {
        let [off, on] = [false, true].map(|on| throughput(&endpoint, server.pid(), on));
        let ratio = on / off;
        println!("pair {pair}: {off:.0} queries/s without, {on:.0} with probes: {ratio:.4}");
    }
}

/// All probes of a run without a drive, once a second; none if not `on`.
fn sampler(endpoint: &Endpoint, pid: u32, on: bool) -> Option<Sampler> {
    let probes: Vec<Box<dyn Probe>> = vec![
        Box::new(HostProbe::new(Some(std::env::temp_dir()))),
        Box::new(ProcessProbe::server(pid)),
        Box::new(ProcessProbe::client()),
        Box::new(ServerProbe::new(endpoint.clone())),
    ];
    on.then(|| Sampler::start(probes, Duration::from_secs(1), Instant::now()))
}

/// Share of a core that this process and the server use together.
fn cpu_share(endpoint: &Endpoint, pid: u32, on: bool) -> f64 {
    let sampler = sampler(endpoint, pid, on);
    // The first sample connects and prepares.
    thread::sleep(Duration::from_millis(1500));
    let before = cpu_s(pid);
    thread::sleep(PHASE);
    let used = cpu_s(pid) - before;
    drop(sampler);
    used / PHASE.as_secs_f64()
}

fn cpu_s(server: u32) -> f64 {
    let mut readings = Readings::default();
    ProcessProbe::server(server).sample(&mut readings).unwrap();
    ProcessProbe::client().sample(&mut readings).unwrap();
    let times = [metrics::SERVER_CPU.name, metrics::CLIENT_CPU.name];
    let used = readings.pending().filter(|(name, ..)| times.contains(name));
    used.map(|(_, _, value)| value).sum()
}

/// Queries per second of a few connections.
fn throughput(endpoint: &Endpoint, pid: u32, on: bool) -> f64 {
    let sampler = sampler(endpoint, pid, on);
    let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..LOADERS {
            scope.spawn(|| {
                let mut connection = testing::connect(endpoint);
                let statement = connection.prep("SELECT ?").unwrap();
                while !stop.load(Ordering::Relaxed) {
                    connection.exec_drop(&statement, (1,)).unwrap();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(PHASE);
        stop.store(true, Ordering::Relaxed);
    });
    drop(sampler);
    count.load(Ordering::Relaxed) as f64 / PHASE.as_secs_f64()
}

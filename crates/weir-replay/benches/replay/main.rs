//! How late a replay is, what the proxy costs, and what both take of memory:
//! `cargo bench -p weir-replay --bench replay -- OUT.json`.
//!
//! Captures are made of general logs that are written here, so that each start is known. They are sent to the null
//! server, which shares this machine's processors with the replay.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints, and ends at what it can't do

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use weir_capture::{CaptureProxy, Literals, LogFormat, ProxyCertificate, import_log};
use weir_load::{LoadPlan, NullServer, NullServerBehavior, reactors_for, run};
use weir_model::{Address, Endpoint, Flavor, LoadSpec, Secret, WorkloadName};
use weir_mysql::Gate;
use weir_replay::{ReplayOptions, Survey, replay};

const SCHEMA: &str = "sbtest";
const SECONDS: u64 = 10;
/// Turns of direct and through the proxy.
const ROUNDS: usize = 5;

fn main() {
    let mut words = std::env::args().skip(1);
    let out = words.find(|word| !word.starts_with("--"));
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    raise_file_limit();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    let late: Vec<_> = [(1_000, 20_000), (5_000, 5_000)]
        .into_iter()
        .map(|(sessions, per_s)| lateness(folder.path(), sessions, per_s))
        .collect();
    let result = json!({
        "load_before": load.trim(),
        "processors": std::thread::available_parallelism().unwrap().get(),
        "lateness": late,
        "proxy": proxy(folder.path()),
        "memory_peak_bytes": memory_peak(),
        "load_after": std::fs::read_to_string("/proc/loadavg").unwrap().trim(),
    });
    if let Some(out) = out {
        std::fs::write(out, serde_json::to_string_pretty(&result).unwrap()).unwrap();
    }
}

/// Both ends of each session are files of this process.
fn raise_file_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// The most memory that this process had, null server and all.
fn memory_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    let kib: u64 = line
        .split_ascii_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    kib * 1024
}

/// A capture of sessions that come within the first tenth, each with statements at a pace of its own, and leave at the
/// end.
fn capture(folder: &Path, sessions: u64, per_s: u64) -> PathBuf {
    let mut log = String::new();
    let stamp = |us: u64| {
        format!(
            "2026-01-01T00:{:02}:{:02}.{:06}Z",
            us / 60_000_000,
            us / 1_000_000 % 60,
            us % 1_000_000
        )
    };
    let length_us = SECONDS * 1_000_000;
    let join_us = length_us / 10;
    let mut events: Vec<(u64, u64, u8)> = Vec::new();
    for session in 0..sessions {
        events.push((session * join_us / sessions, session, 0));
        events.push((length_us + session, session, 2));
    }
    for number in 0..per_s * SECONDS * 9 / 10 {
        let at_us = join_us + number * 1_000_000 / per_s;
        events.push((at_us, number % sessions, 1));
    }
    events.sort_unstable();
    for (at_us, session, kind) in events {
        let (at, id) = (stamp(at_us), session + 10);
        let _ = match kind {
            0 => writeln!(
                log,
                "{at}\t{id:5} Connect\tapp@localhost on {SCHEMA} using Socket"
            ),
            1 => writeln!(
                log,
                "{at}\t{id:5} Query\tSELECT c FROM sbtest1 WHERE id = {}",
                at_us % 1_000
            ),
            _ => writeln!(log, "{at}\t{id:5} Quit\t"),
        };
    }
    let name = format!("{sessions}-{per_s}");
    let (from, to) = (
        folder.join(format!("{name}.log")),
        folder.join(format!("{name}.weircap")),
    );
    std::fs::write(&from, log).unwrap();
    import_log(&from, LogFormat::General, &to, Literals::Keep).unwrap();
    std::fs::remove_file(from).unwrap();
    to
}

fn lateness(folder: &Path, sessions: u64, per_s: u64) -> Value {
    let path = capture(folder, sessions, per_s);
    let server = NullServer::start(
        &folder.join(format!("{sessions}.sock")),
        NullServerBehavior::default(),
    )
    .unwrap();
    let options = ReplayOptions::default();
    let survey = Survey::read(&path, &options).unwrap();
    let mut plan = LoadPlan::new(server.endpoint(), WorkloadName::OltpPointSelect);
    plan.reactors = reactors_for(survey.sessions_at_a_time);
    let stop = AtomicBool::new(false);
    let outcome = replay(
        &plan,
        &path,
        &survey,
        &options,
        (&Gate::own(), true),
        &stop,
        &mut |_| {},
    );
    let told = outcome.unwrap().record.fidelity;
    println!(
        "{sessions} sessions, {per_s}/s: {} of {} sent, late p50 {} us, p99 {} us, max {} us, {} busy",
        told.sent, told.captured, told.late_us.p50, told.late_us.p99, told.late_us.max, told.busy
    );
    json!({
        "sessions": sessions,
        "statements_per_s": per_s,
        "fidelity": told,
        "memory_peak_bytes": memory_peak(),
    })
}

/// A closed loop of a few connections, with and without the proxy in between.
fn load(endpoint: &Endpoint, connections: u32) -> (f64, f64) {
    let plan = LoadPlan {
        load: LoadSpec {
            connections,
            measure: weir_model::Duration::from_secs(3),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint.clone(), WorkloadName::OltpPointSelect)
    };
    let outcome = run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    (
        outcome.counts.queries as f64 / outcome.measured_s,
        outcome.latency.us_p50,
    )
}

fn proxy(folder: &Path) -> Vec<Value> {
    let server = NullServer::start_tcp(0, NullServerBehavior::default()).unwrap();
    let direct = server.endpoint();
    let listen = "127.0.0.1:0".parse().unwrap();
    let proxy =
        CaptureProxy::bind(listen, &direct, Flavor::Mysql, &ProxyCertificate::default()).unwrap();
    let through = Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), proxy.address().unwrap().port()),
        password: Secret::default(),
        ..direct.clone()
    };
    let stop = Arc::new(AtomicBool::new(false));
    let (of_thread, to) = (Arc::clone(&stop), folder.join("proxy.weircap"));
    let running = std::thread::spawn(move || proxy.run(&to, Literals::Keep, &of_thread));
    let mut found = Vec::new();
    for connections in [1, 16] {
        let turns: Vec<_> = (0..ROUNDS)
            .map(|_| (load(&direct, connections), load(&through, connections)))
            .collect();
        let mut added: Vec<_> = turns
            .iter()
            .map(|(direct, through)| through.1 - direct.1)
            .collect();
        let mut ratio: Vec<_> = turns
            .iter()
            .map(|(direct, through)| through.0 / direct.0)
            .collect();
        added.sort_by(f64::total_cmp);
        ratio.sort_by(f64::total_cmp);
        println!(
            "proxy, {connections} connections: p50 + {:.0} us ({:.0} to {:.0}), throughput {:.2}x",
            added[ROUNDS / 2],
            added[0],
            added[ROUNDS - 1],
            ratio[ROUNDS / 2]
        );
        found.push(json!({
            "connections": connections,
            "added_us_p50": added,
            "throughput_ratio": ratio,
        }));
    }
    stop.store(true, Ordering::SeqCst);
    running.join().unwrap().unwrap();
    found
}

//! Time that a load over a long way takes to begin, beside sysbench.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use weir_load::LoadPlan;
use weir_model::{Address, Endpoint, Flavor, WorkloadName};
use weir_testing::{Relay, skipped};

use super::{CONNECTIONS, TABLES, behind, go, server};

/// Length of the load itself, s; the rest is the way to it.
const LENGTH_S: u32 = 1;

#[allow(clippy::print_stderr, reason = "it is a measurement")]
fn tell(line: &str) {
    eprintln!("{line}");
}

/// The whole run of sysbench; nothing where it is not installed or fails, as it does after 30 s without all threads.
fn of_sysbench(endpoint: &Endpoint) -> Option<Duration> {
    let Address::Tcp(host, port) = &endpoint.address else {
        panic!("over TCP");
    };
    let mut command = Command::new("sysbench");
    command
        .arg("oltp_read_only")
        .args([
            format!("--mysql-host={host}"),
            format!("--mysql-port={port}"),
        ])
        .args([
            format!("--mysql-user={}", endpoint.user),
            "--mysql-password=away".to_owned(),
        ])
        .args([
            format!("--mysql-db={}", endpoint.database),
            format!("--tables={TABLES}"),
        ])
        .args([
            format!("--threads={CONNECTIONS}"),
            format!("--time={LENGTH_S}"),
        ])
        .args(["--table-size=10", "run"]);
    let began = Instant::now();
    let output = command.stdin(Stdio::null()).output();
    let Ok(output) = output else {
        skipped(
            "start-up beside sysbench",
            "scripts/setup.sh --bench installs it",
        );
        return None;
    };
    if !output.status.success() {
        tell(&String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(began.elapsed())
}

/// Run it alone: `cargo nextest run -p weir-load --run-ignored only -E 'test(start_up)' --no-capture`.
#[test]
#[ignore = "a measurement of some minutes"]
fn start_up_beside_sysbench() {
    let (_server, _directory, port, endpoint) = server(Flavor::Mariadb, TABLES);
    for delay_us in [500, 5_000, 25_000, 500, 5_000, 25_000] {
        let relay = Relay::start(port, Duration::from_micros(delay_us));
        let endpoint = behind(&relay, &endpoint);
        let mut plan = LoadPlan::new(endpoint.clone(), WorkloadName::OltpReadOnly);
        (plan.tables, plan.rows, plan.load.connections) = (TABLES, 10, CONNECTIONS);
        plan.load.measure = Duration::from_secs(u64::from(LENGTH_S)).into();
        let began = Instant::now();
        go(&plan).unwrap_or_else(|error| panic!("{error}"));
        let ours = began.elapsed();
        let theirs = of_sysbench(&endpoint);
        let round_trip_ms = 2.0 * delay_us as f64 / 1e3;
        tell(&format!(
            "round trip {round_trip_ms} ms: Weir {ours:?}, sysbench {theirs:?}"
        ));
    }
}

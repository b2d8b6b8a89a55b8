//! Tests on real servers: the recorded numbers are those of the report.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use weir_load::{Counts, LoadOutcome, Progress};
use weir_model::{Address, Flavor};
use weir_mysql::{ClientConfig, Gate};
use weir_sysbench::Invocation;

use super::Recorder;

const DASHBOARD: &str = include_str!("../../../../../../docs/grafana-dashboard.json");

/// A load with so few rows that its transactions collide.
fn invocation(server: &weir_model::Endpoint, more: &[&str]) -> Invocation {
    let Address::Socket(socket) = &server.address else {
        panic!("a private server")
    };
    let mut words = vec![
        "oltp_write_only".to_owned(),
        "--table-size=20".to_owned(),
        "--threads=16".to_owned(),
        "--rand-type=uniform".to_owned(),
        format!("--mysql-socket={}", socket.display()),
        format!("--mysql-user={}", server.user),
        format!("--mysql-db={}", server.database),
        format!("--mysql-password={}", server.password.reveal()),
    ];
    words.extend(more.iter().map(|word| (*word).to_owned()));
    weir_sysbench::parse(&words, &ClientConfig::default()).unwrap()
}

/// The answer to a request for the metrics, as Prometheus makes it.
fn scrape(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = "GET /metrics HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The samples of an exposition, by name and labels without the workload.
fn samples(text: &str) -> BTreeMap<String, &str> {
    let lines = text.lines().filter(|line| line.starts_with("weir_load_"));
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.replace("workload=\"oltp_write_only\"", ""), value)
        })
        .collect()
}

/// The sum of a column of a CSV file.
fn sum(path: &Path, column: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let at = names.iter().position(|name| *name == column).unwrap();
    let value = |line: &str| {
        let values: Vec<_> = line.split(',').collect();
        assert_eq!(values.len(), names.len(), "{line}");
        values[at].parse::<u64>().unwrap()
    };
    lines.map(value).sum()
}

fn assert_metrics(text: &str, outcome: &LoadOutcome) {
    let form = "application/openmetrics-text; version=1.0.0";
    assert!(text.contains(form) && text.ends_with("# EOF\n"), "{text}");
    let samples = samples(text);
    let count = |name: &str| {
        samples[&format!("weir_load_{name}")]
            .parse::<u64>()
            .unwrap()
    };
    let counts = &outcome.counts;
    assert_eq!(count("transactions_total{}"), counts.transactions);
    for (kind, expected) in [
        ("read", counts.reads),
        ("write", counts.writes),
        ("other", counts.others),
    ] {
        let name = format!("queries_total{{,kind=\"{kind}\"}}");
        assert_eq!(count(&name), expected, "{kind}");
    }
    assert!(!outcome.errors.is_empty(), "no transactions collided");
    for error in &outcome.errors {
        let name = format!("errors_total{{,code=\"{}\"}}", error.code);
        assert_eq!(count(&name), error.count, "{text}");
    }
    assert_eq!(count("threads{}"), 16);
    for name in ["queries_per_second", "latency_p99_seconds"] {
        let value: f64 = samples[&format!("weir_load_{name}{{}}")].parse().unwrap();
        assert!(value > 0.0, "{name}: {text}");
    }
}

fn assert_rows(path: &Path, counts: &Counts) {
    for (column, count) in [
        ("transactions", counts.transactions),
        ("queries", counts.queries),
        ("reads", counts.reads),
        ("writes", counts.writes),
        ("others", counts.others),
        ("errors", counts.errors),
        ("reconnects", counts.reconnects),
    ] {
        assert_eq!(sum(path, column), count, "{column}");
    }
}

fn recorded_numbers_are_those_of_the_report(flavor: Flavor) {
    let (server, directory) = weir_testing::start(flavor);
    let endpoint = server.endpoint();
    let csv = directory.path().join("load.csv");
    let more = format!("--csv={}", csv.display());
    let run = ["--time=3", "--warmup-time=1", "--metrics=0", &more, "run"];
    let invocation = invocation(&endpoint, &run);
    let gate = Gate::own();
    weir_load::prepare(
        &invocation.prepare,
        &gate,
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap();
    let mut recorder = Recorder::open(&invocation).unwrap();
    let address = recorder.address();
    assert!(address.ip().is_loopback());
    let mut before = 0;
    let stop = AtomicBool::new(false);
    let outcome = weir_load::run_observed(&invocation.plan, &gate, &stop, &mut |progress| {
        if let Progress::Interval(interval) = progress {
            recorder.interval(interval);
            let text = scrape(address);
            let now = samples(&text)["weir_load_transactions_total{}"];
            let now: u64 = now.parse().unwrap();
            assert!(now >= before && (now > 0) == (interval.record.time_s > 0.0));
            before = now;
        }
    });
    let outcome = outcome.unwrap();
    recorder.completed(&outcome);
    assert_metrics(&scrape(address), &outcome);
    recorder.finish().unwrap();
    assert!(
        TcpStream::connect(address).is_err(),
        "the endpoint outlived the load"
    );
    assert_rows(&csv, &outcome.counts);
}

#[test]
fn recorded_numbers_of_mysql_are_those_of_the_report() {
    recorded_numbers_are_those_of_the_report(Flavor::Mysql);
}

#[test]
fn recorded_numbers_of_mariadb_are_those_of_the_report() {
    recorded_numbers_are_those_of_the_report(Flavor::Mariadb);
}

#[test]
fn a_disk_that_fills_up_is_named_at_the_end() {
    let (server, directory) = weir_testing::start(Flavor::Mariadb);
    let csv = directory.path().join("load.csv");
    let more = format!("--csv={}", csv.display());
    let invocation = invocation(&server.endpoint(), &["--time=1", &more, "run"]);
    let gate = Gate::own();
    weir_load::prepare(
        &invocation.prepare,
        &gate,
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap();
    let mut recorder = Recorder::open(&invocation).unwrap();
    // From here on every write meets a full disk.
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    recorder.csv.as_mut().unwrap().fill(full);
    let stop = AtomicBool::new(false);
    let outcome = weir_load::run(&invocation.plan, &gate, &stop, &mut |interval| {
        recorder.interval(interval);
    });
    recorder.completed(&outcome.unwrap());
    let error = recorder.finish().unwrap_err().to_string();
    let name = csv.display().to_string();
    assert!(
        error.contains(&name) && error.contains("No space left"),
        "{error}"
    );
}

#[test]
fn the_dashboard_asks_for_what_a_load_serves() {
    let mut metrics = super::LoadMetrics::new("a \"quoted\" name", 4);
    metrics.errors.insert(1213, 7);
    let text = metrics.exposition();
    assert!(
        text.contains("workload=\"a \\\"quoted\\\" name\",code=\"1213\"} 7\n"),
        "{text}"
    );
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let asked = targets.map(|target| target["expr"].as_str().unwrap());
    let asked: Vec<_> = asked.filter(|asked| asked.contains("weir_load_")).collect();
    assert!(
        asked
            .iter()
            .any(|asked| asked.contains("weir_load_errors_total"))
    );
    for expression in asked {
        let from = expression.find("weir_load_").unwrap();
        let name = expression[from..].split(['{', '[']).next().unwrap();
        assert!(text.contains(&format!("\n{name}{{")), "{name}");
    }
}

//! Probes on real servers of both flavours.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use weir_model::{Flavor, Metric, metrics};
use weir_probe::{HostProbe, Probe, ProbeError, ProcessProbe, Sampler, StatusProbe};
use weir_server::testing;

fn read(probe: &mut StatusProbe) -> BTreeMap<&'static str, f64> {
    let readings = probe.sample().unwrap();
    readings
        .into_iter()
        .map(|(metric, value)| (metric.name, value))
        .collect()
}

fn rows_and_statements_are_counted(flavor: Flavor, absent: &[Metric]) {
    let (server, _directory) = testing::start(flavor);
    let mut connection = testing::connect(&server.endpoint());
    connection
        .query_drop("CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB")
        .unwrap();
    let mut probe = StatusProbe::new(server.endpoint());
    let before = read(&mut probe);
    connection
        .query_drop("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
        .unwrap();
    connection
        .query_drop("UPDATE t SET b = 7 WHERE a = 1")
        .unwrap();
    connection.query_drop("DELETE FROM t WHERE a = 2").unwrap();
    let after = read(&mut probe);

    for metric in metrics::ALL {
        let expected = metric.name.starts_with("status.") && !absent.contains(metric);
        assert_eq!(after.contains_key(metric.name), expected, "{}", metric.name);
    }
    let grown = |metric: Metric| after[metric.name] - before[metric.name];
    // Servers change a few rows of their own now and then, so the counts are lower bounds.
    assert!(grown(metrics::STATUS_ROWS_INSERTED) >= 3.0);
    assert!(grown(metrics::STATUS_ROWS_UPDATED) >= 1.0);
    assert!(grown(metrics::STATUS_ROWS_DELETED) >= 1.0);
    assert!(grown(metrics::STATUS_ROWS_INSERTED) < 100.0);
    assert!(grown(metrics::STATUS_REDO_WRITTEN) > 0.0);
    assert!(grown(metrics::STATUS_POOL_READ_REQUESTS) > 0.0);
    // The three statements and the probe's own one.
    assert_eq!(grown(metrics::STATUS_QUESTIONS) as u64, 4);
}

#[test]
fn mysql_counts_rows_and_statements() {
    rows_and_statements_are_counted(Flavor::Mysql, &[]);
}

#[test]
fn mariadb_counts_rows_and_statements() {
    rows_and_statements_are_counted(Flavor::Mariadb, &[metrics::STATUS_ROWS_READ]);
}

fn a_server_that_ends_leaves_gaps_and_the_rest_goes_on(flavor: Flavor) {
    let (server, _directory) = testing::start(flavor);
    let probes: Vec<Box<dyn Probe>> = vec![
        Box::new(HostProbe::new()),
        Box::new(ProcessProbe::server(server.pid())),
        Box::new(ProcessProbe::client()),
        Box::new(StatusProbe::new(server.endpoint())),
    ];
    let origin = Instant::now();
    let running = Sampler::start(probes, Duration::from_millis(50), origin);
    std::thread::sleep(Duration::from_millis(500));
    server.kill();
    let killed_s = origin.elapsed().as_secs_f64();
    std::thread::sleep(Duration::from_millis(500));
    let (samples, gaps) = running.finish();

    let last_time = |metric: Metric| {
        let times = samples.iter().filter(|sample| sample.metric == metric.name);
        times.map(|sample| sample.time_s).fold(f64::NAN, f64::max)
    };
    assert!(last_time(metrics::STATUS_QUESTIONS) <= killed_s);
    assert!(last_time(metrics::SERVER_MEMORY) <= killed_s);
    assert!(last_time(metrics::HOST_CPU_USER) > killed_s);
    assert!(last_time(metrics::CLIENT_CPU) > killed_s);
    let memory = samples
        .iter()
        .find(|sample| sample.metric == metrics::SERVER_MEMORY.name);
    assert!(memory.unwrap().value > 10e6);
    for probe in ["server status", "server process"] {
        assert!(gaps.iter().any(|gap| gap.probe == probe), "{gaps:?}");
    }
}

#[test]
fn a_mysql_that_ends_leaves_gaps() {
    a_server_that_ends_leaves_gaps_and_the_rest_goes_on(Flavor::Mysql);
}

#[test]
fn a_mariadb_that_ends_leaves_gaps() {
    a_server_that_ends_leaves_gaps_and_the_rest_goes_on(Flavor::Mariadb);
}

#[test]
fn wrong_credentials_are_said_and_not_shown() {
    let (server, _directory) = testing::start(Flavor::Mariadb);
    let mut endpoint = server.endpoint();
    endpoint.password = weir_model::Secret::new("not-the-password");
    let error = StatusProbe::new(endpoint).sample().unwrap_err();
    assert!(matches!(error, ProbeError::Status { .. }));
    let text = error.to_string();
    assert!(text.contains("Access denied"), "{text}");
    assert!(!text.contains("not-the-password"));
}

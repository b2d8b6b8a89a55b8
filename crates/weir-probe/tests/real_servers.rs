//! Probes on real servers of both flavours.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use weir_model::{Endpoint, Flavor, Metric, Replication, Secret, Series, metrics};
use weir_probe::{
    HostProbe, Probe, ProbeError, ProcessProbe, Readings, ReplicaProbe, Sampler, ServerProbe,
};

const FLAVORS: [Flavor; 2] = [Flavor::Mysql, Flavor::Mariadb];

/// `name` or `name[instance]` -> value.
fn read(probe: &mut dyn Probe) -> BTreeMap<String, f64> {
    let mut readings = Readings::default();
    probe.sample(&mut readings).unwrap();
    let named = readings.pending().map(|(metric, instance, value)| {
        let name = match instance {
            "" => metric.to_owned(),
            instance => format!("{metric}[{instance}]"),
        };
        (name, value)
    });
    named.collect()
}

/// Samples until `is_seen`, a minute at most.
fn wait_until(probe: &mut dyn Probe, what: &str, is_seen: impl Fn(&BTreeMap<String, f64>) -> bool) {
    let began = Instant::now();
    while !is_seen(&read(probe)) {
        assert!(began.elapsed() < Duration::from_mins(1), "not seen: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What the flavour does not tell.
fn absent(flavor: Flavor) -> &'static [Metric] {
    match flavor {
        Flavor::Mysql => &[],
        Flavor::Mariadb => &[metrics::STATUS_ROWS_READ, metrics::STATUS_REDO_SYNCS],
    }
}

#[test]
fn a_server_is_seen_whole() {
    for flavor in FLAVORS {
        let (server, _directory) = weir_testing::start(flavor);
        let mut connection = weir_testing::connect(&server.endpoint());
        connection
            .run("CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB")
            .unwrap();
        let mut probe = ServerProbe::new(server.endpoint());
        let before = read(&mut probe);
        connection
            .run("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
            .unwrap();
        connection.run("UPDATE t SET b = 7 WHERE a = 1").unwrap();
        connection.run("DELETE FROM t WHERE a = 2").unwrap();
        let after = read(&mut probe);

        for metric in metrics::ALL {
            let expected = metric.name.starts_with("status.") && !absent(flavor).contains(metric);
            let is_of_table = metric.name.starts_with("file.") || metric.name.starts_with("wait.");
            let found = after.contains_key(metric.name);
            assert!(
                found == expected || is_of_table,
                "{flavor:?} {}",
                metric.name
            );
        }
        let grown = |name: &str| after[name] - before[name];
        // Servers change a few rows of their own now and then, so the counts are lower bounds.
        assert!(grown("status.rows_inserted") >= 3.0);
        assert!(grown("status.rows_updated") >= 1.0);
        assert!(grown("status.rows_deleted") >= 1.0);
        assert!(grown("status.rows_inserted") < 100.0);
        assert!(grown("status.pool_read_requests") > 0.0);
        // The three statements and the probe's own: not more than one a table.
        assert!((4.0..12.0).contains(&grown("status.questions")));
        if flavor == Flavor::Mysql {
            assert!(grown("file.writes[redo]") > 0.0 && grown("file.sync_time_s[redo]") > 0.0);
            assert!(after.contains_key("wait.time_s[io/file]"), "{after:?}");
        }
        // A thread of MySQL's brings it up to date, some time after the change.
        let redo = "status.redo_lsn_bytes";
        wait_until(&mut probe, redo, |seen| seen[redo] > before[redo]);
    }
}

#[test]
fn waits_for_row_locks_and_deadlocks_are_seen() {
    for flavor in FLAVORS {
        let (server, _directory) = weir_testing::start(flavor);
        let mut one = weir_testing::connect(&server.endpoint());
        one.run("CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB")
            .unwrap();
        one.run("INSERT INTO t VALUES (1, 1), (2, 2)").unwrap();
        let mut probe = ServerProbe::new(server.endpoint());
        let before = read(&mut probe);
        one.run("BEGIN").unwrap();
        one.run("UPDATE t SET b = 5 WHERE a = 1").unwrap();
        let endpoint = server.endpoint();
        let other = std::thread::spawn(move || {
            let mut two = weir_testing::connect(&endpoint);
            two.run("BEGIN").unwrap();
            two.run("UPDATE t SET b = 6 WHERE a = 2").unwrap();
            two.run("UPDATE t SET b = 6 WHERE a = 1").is_err()
        });
        let waiting = "status.row_lock_waiting";
        wait_until(&mut probe, waiting, |seen| seen[waiting] >= 1.0);
        let failed = one.run("UPDATE t SET b = 5 WHERE a = 2").is_err();
        one.run("COMMIT").unwrap();
        assert!(
            failed | other.join().unwrap(),
            "{flavor:?}: one of them is the victim"
        );
        let after = read(&mut probe);
        let grown = |name: &str| after[name] - before[name];
        assert!(grown("status.deadlocks") >= 1.0, "{flavor:?}");
        assert!(grown("status.row_lock_waits") >= 1.0, "{flavor:?}");
        assert!(grown("status.row_lock_time_s") > 0.0, "{flavor:?}");
    }
}

#[test]
fn a_server_that_ends_is_a_gap_and_the_rest_goes_on() {
    for flavor in FLAVORS {
        let (server, _directory) = weir_testing::start(flavor);
        let mut status = ServerProbe::new(server.endpoint());
        let mut process = ProcessProbe::server(server.pid());
        let mut host = HostProbe::new(None);
        read(&mut status);
        let mut readings = Readings::default();
        process.sample(&mut readings).unwrap();
        let memory = readings
            .pending()
            .find(|(metric, ..)| *metric == metrics::SERVER_MEMORY.name);
        assert!(memory.unwrap().2 > 10e6);
        server.kill();
        let gone = status.sample(&mut readings).unwrap_err();
        assert!(matches!(gone, ProbeError::Server { .. }), "{gone}");
        process.sample(&mut readings).unwrap_err();
        host.sample(&mut readings).unwrap();
    }
}

/// Sends `signal` to the server.
fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Stops the server. Its threads stop one after the other, each when it next sees the signal: until
/// the last has, one that is on a core still answers.
fn stop(pid: u32) {
    signal(pid, Signal::STOP);
    let began = Instant::now();
    while !fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .all(|thread| is_stopped(&thread.unwrap().path()))
    {
        assert!(began.elapsed() < Duration::from_mins(1), "it goes on");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A thread that ended since it was listed is not stopped: the next list is without it.
fn is_stopped(thread: &Path) -> bool {
    let status = fs::read_to_string(thread.join("status"));
    status.is_ok_and(|status| status.contains("\nState:\tT"))
}

#[test]
fn a_server_that_stalls_costs_a_gap_and_a_bounded_time() {
    for flavor in FLAVORS {
        let (server, _directory) = weir_testing::start(flavor);
        let mut probe = ServerProbe::new(server.endpoint());
        read(&mut probe);
        stop(server.pid());
        let began = Instant::now();
        // In the middle of a connection, then while a new one is made.
        for _ in 0..2 {
            probe.sample(&mut Readings::default()).unwrap_err();
        }
        let probes: Vec<Box<dyn Probe>> = vec![Box::new(probe)];
        let sampler = Sampler::start(probes, Duration::from_millis(100), Instant::now());
        let (series, gaps) = sampler.finish();
        assert!(began.elapsed() < Duration::from_mins(1));
        assert!(series.is_empty());
        assert_eq!(gaps[0].source, "server status");
        signal(server.pid(), Signal::CONT);
        assert!(read(&mut ServerProbe::new(server.endpoint()))["status.questions"] > 0.0);
    }
}

#[test]
fn what_an_account_may_not_read_is_named_once_and_the_rest_goes_on() {
    for flavor in FLAVORS {
        let (server, _directory) = weir_testing::start(flavor);
        let mut root = weir_testing::connect(&server.endpoint());
        root.run("CREATE USER poor@localhost IDENTIFIED BY 'secret-of-poor'")
            .unwrap();
        let endpoint = Endpoint {
            user: "poor".to_owned(),
            password: Secret::new("secret-of-poor"),
            ..server.endpoint()
        };
        let probe = ServerProbe::new(endpoint);
        // It samples at once, then at the next tick, which does not come.
        let sampler = Sampler::start(
            vec![Box::new(probe)],
            Duration::from_mins(1),
            Instant::now(),
        );
        let (series, gaps) = sampler.finish();
        assert!(Series::find(&series, metrics::STATUS_POOL_READS).is_some());
        assert!(Series::find(&series, metrics::STATUS_HISTORY).is_none());
        let mut lost: Vec<_> = gaps.iter().map(|gap| gap.source.as_str()).collect();
        lost.sort_unstable();
        let mut expected = vec!["INNODB_BUFFER_POOL_STATS", "INNODB_METRICS"];
        expected.extend(["performance_schema file I/O", "performance_schema waits"]);
        expected.push("replication");
        assert_eq!(lost, expected, "{flavor:?} {gaps:?}");
        assert!(gaps[0].reason.contains("PROCESS"), "{gaps:?}");
        assert!(
            gaps.iter()
                .all(|gap| !gap.reason.contains("secret-of-poor"))
        );
    }
}

#[test]
fn wrong_credentials_are_said_and_not_shown() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let mut endpoint = server.endpoint();
    endpoint.password = Secret::new("not-the-password");
    let mut probe = ServerProbe::new(endpoint);
    let error = probe.sample(&mut Readings::default()).unwrap_err();
    assert!(matches!(error, ProbeError::Server { .. }));
    let text = error.to_string();
    assert!(text.contains("Access denied"), "{text}");
    assert!(!text.contains("not-the-password"));
}

/// A replica that is held up falls behind, and catches up when it is let go.
fn the_lag_of_a_replica_is_seen(flavor: Flavor, replication: Replication) {
    let servers = weir_testing::start_replicated(flavor, replication, 1);
    let mut primary = weir_testing::connect(&servers.primary.endpoint());
    primary
        .run("CREATE TABLE t (a INT PRIMARY KEY) ENGINE = InnoDB")
        .unwrap();
    let replica = &servers.replicas[0];
    let mut probe = ReplicaProbe::new("replica 1", replica.endpoint());
    let mut whole = ServerProbe::new(replica.endpoint());
    let limit = Duration::from_mins(1);
    let (from, to) = (servers.primary.endpoint(), replica.endpoint());
    weir_server::wait_until_caught_up(flavor, &from, &to, limit).unwrap();
    let seen = read(&mut probe);
    assert!(seen["replication.running[replica 1]"] > 0.5, "{seen:?}");
    assert!(read(&mut whole)["replication.lag_s"] < 2.0);
    assert!(!read(&mut ServerProbe::new(from.clone())).contains_key("replication.lag_s"));

    // The table is somebody else's on the replica: the change has to wait.
    let mut holder = weir_testing::connect(&replica.endpoint());
    holder.run("LOCK TABLES t READ").unwrap();
    primary.run("INSERT INTO t VALUES (1)").unwrap();
    let lag = "replication.lag_s[replica 1]";
    wait_until(&mut probe, "a lag", |seen| seen[lag] >= 2.0);
    holder.run("UNLOCK TABLES").unwrap();
    weir_server::wait_until_caught_up(flavor, &from, &to, limit).unwrap();
    wait_until(&mut probe, "no lag", |seen| seen[lag] <= 0.0);
    // How far behind a replica is that does not run, nobody knows.
    let stop = match flavor {
        Flavor::Mysql => "STOP REPLICA",
        Flavor::Mariadb => "STOP SLAVE",
    };
    holder.run(stop).unwrap();
    let seen = read(&mut probe);
    assert!(seen["replication.running[replica 1]"] < 0.5, "{seen:?}");
    assert!(!seen.contains_key("replication.lag_s[replica 1]"));
}

#[test]
fn the_lag_of_an_asynchronous_replica_is_seen() {
    for flavor in FLAVORS {
        the_lag_of_a_replica_is_seen(flavor, Replication::Async);
    }
}

#[test]
fn the_lag_of_a_semi_synchronous_replica_is_seen() {
    for flavor in FLAVORS {
        the_lag_of_a_replica_is_seen(flavor, Replication::SemiSync);
    }
}

//! `weir load`: sysbench's command line against real servers.

use weir_model::{Address, Endpoint, Flavor};

use crate::harness::{Output, Weir, World, signal};

/// A call of `weir load` against `endpoint`.
fn load(endpoint: &Endpoint, arguments: &[&str]) -> Weir {
    load_of("oltp_write_only", endpoint, arguments)
}

fn load_of(workload: &str, endpoint: &Endpoint, arguments: &[&str]) -> Weir {
    let Address::Socket(socket) = &endpoint.address else {
        panic!("a private server")
    };
    Weir::new()
        .args(["load", workload, "--tables=2", "--table-size=1000"])
        .args([format!("--mysql-socket={}", socket.display())])
        .args([format!("--mysql-user={}", endpoint.user)])
        .args([format!("--mysql-db={}", endpoint.database)])
        .args(arguments)
        .env("WEIR_MYSQL_PASSWORD", endpoint.password.reveal())
}

#[test]
fn prepare_run_and_cleanup_on_both_flavours() {
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        let (server, _directory) = weir_server::testing::start(flavor);
        let endpoint = server.endpoint();
        load(&endpoint, &["prepare"]).succeeds();
        let run = ["--threads=4", "--time=2", "--report-interval=1", "run"];
        let report = load(&endpoint, &run).succeeds().stdout;
        for line in [
            "Number of threads: 4",
            "thds: 4",
            "queries performed:",
            "95th percentile:",
        ] {
            assert!(report.contains(line), "{flavor}: no `{line}` in {report}");
        }
        let transactions = report
            .lines()
            .find(|line| line.contains("transactions:"))
            .unwrap();
        let count: u64 = transactions
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        assert!(count > 10, "{transactions}");
        load(&endpoint, &["cleanup"]).succeeds();
        let error = load(&endpoint, &["run"]).fails();
        assert!(error.contains("run `prepare`"), "{error}");
    }
}

#[test]
fn an_open_loop_reports_its_queue_and_what_weir_adds() {
    let (server, _directory) = weir_server::testing::start(Flavor::Mysql);
    let endpoint = server.endpoint();
    load(&endpoint, &["prepare"]).succeeds();
    let run = [
        "--threads=4",
        "--time=2",
        "--report-interval=1",
        "--rate=50",
        "--rate-arrivals=constant",
        "--rtt=500us",
        "--reconnect-on-loss=on",
        "--mysql-ignore-errors=all",
        "--percentiles=50,99.9",
        "run",
    ];
    let report = load(&endpoint, &run).succeeds().stdout;
    let lines: Vec<_> = report.lines().collect();
    for start in [
        "Target transaction rate: 50/sec",
        "[ 1s ] thds: 4",
        "[ 1s ] queue length: ",
        "[ 2s ] thds: 4",
        "    due:",
        "    99.9%:",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(start)),
            "no `{start}` in {report}"
        );
    }
}

#[test]
fn bulk_insert_makes_fills_and_drops_a_table_per_thread() {
    let (server, _directory) = weir_server::testing::start(Flavor::Mariadb);
    let endpoint = server.endpoint();
    let bulk = |arguments: &[&str]| load_of("bulk_insert", &endpoint, arguments);
    bulk(&["--threads=3", "prepare"]).succeeds();
    let run = ["--threads=3", "--events=1000", "--time=0", "run"];
    let report = bulk(&run).succeeds().stdout;
    assert!(
        report.contains("total number of events:              1000"),
        "{report}"
    );
    let error = bulk(&run).fails();
    assert!(error.contains("has rows"), "{error}");
    bulk(&["--threads=3", "cleanup"]).succeeds();
    let error = bulk(&run).fails();
    assert!(error.contains("does not exist"), "{error}");
}

#[test]
fn ctrl_c_ends_a_run_with_its_report() {
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        let (server, _directory) = weir_server::testing::start(flavor);
        let endpoint = server.endpoint();
        load(&endpoint, &["prepare"]).succeeds();
        let child = load(&endpoint, &["--time=60", "run"]).spawn();
        std::thread::sleep(std::time::Duration::from_secs(2));
        signal(child.id(), "INT");
        let output = Output::from(child.wait_with_output().unwrap());
        assert_eq!(output.code, Some(130), "{}{}", output.stdout, output.stderr);
        assert!(
            output.stdout.contains("queries performed:"),
            "{}",
            output.stdout
        );
    }
}

#[test]
fn wrong_options_and_no_server_are_named() {
    let world = World::new();
    let nobody = format!("--mysql-socket={}", world.path("nobody.sock").display());
    let error = Weir::new()
        .args(["load", "oltp_read_only", &nobody, "run"])
        .fails();
    assert!(error.contains("nobody.sock"), "{error}");
    let error = Weir::new()
        .args(["load", "oltp_read_only", "--treads=4", "run"])
        .fails();
    assert!(
        error.contains("invalid option: --treads") && error.contains("threads"),
        "{error}"
    );
    let error = Weir::new().args(["load", "oltp_write", "run"]).fails();
    assert!(error.contains("oltp_write_only"), "{error}");
}

#[test]
fn a_link_named_sysbench_is_a_drop_in() {
    let world = World::new();
    let link = world.path("sysbench");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_weir"), &link).unwrap();
    let output = std::process::Command::new(&link)
        .args(["oltp_read_only", "help"])
        .output();
    let help = String::from_utf8(output.unwrap().stdout).unwrap();
    assert_eq!(help, Weir::new().args(["load", "help"]).succeeds().stdout);
}

#[test]
fn help_lists_the_options_with_their_defaults() {
    for arguments in [["load", "help"], ["load", "--help"]] {
        let help = Weir::new().args(arguments).succeeds().stdout;
        assert!(
            help.contains("--table-size") || help.contains("--table_size"),
            "{help}"
        );
    }
}

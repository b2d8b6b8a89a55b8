//! `weir load`: sysbench's command line against real servers.

use weir_model::{Address, Endpoint, Flavor};

use crate::harness::{Output, Weir, World, has_interrupt, signal, wait_until};

/// A call of `weir load` against `endpoint`.
fn load(endpoint: &Endpoint, arguments: &[&str]) -> Weir {
    load_of("oltp_write_only", endpoint, arguments)
}

pub(crate) fn load_of(workload: &str, endpoint: &Endpoint, arguments: &[&str]) -> Weir {
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
        let (server, _directory) = weir_testing::start(flavor);
        let endpoint = server.endpoint();
        load(&endpoint, &["prepare"]).succeeds();
        let run = ["--threads=4", "--time=2", "--report-interval=1", "run"];
        let report = load(&endpoint, &run).succeeds().stdout;
        for line in [
            "Number of threads: 4",
            "\n\nInitializing worker threads...\n\nThreads started!\n\n[ 1s ] thds: 4",
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
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
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
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
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
        let (server, _directory) = weir_testing::start(flavor);
        let endpoint = server.endpoint();
        load(&endpoint, &["prepare"]).succeeds();
        let child = load(&endpoint, &["--time=60", "run"]).spawn();
        weir_testing::wait_until_loaded(&server);
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

#[cfg(feature = "lua")]
/// What the drop-in prints.
fn drop_in(world: &World, arguments: &[&str]) -> Output {
    let link = world.path("sysbench");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_weir"), &link).unwrap();
    }
    let output = std::process::Command::new(&link).args(arguments).output();
    Output::from(output.unwrap())
}

#[cfg(feature = "lua")]
#[test]
fn a_link_named_sysbench_is_a_drop_in() {
    let world = World::new();
    let help = drop_in(&world, &["--help"]).stdout;
    assert!(help.contains("--rand-type=STRING"), "{help}");
    assert!(!help.contains("--rtt"), "{help}");
    let all = Weir::new().args(["load", "help"]).succeeds().stdout;
    assert!(all.contains("--rtt"), "{all}");
    for (words, expected) in [
        (&["--version"][..], "sysbench 1.0.20\n"),
        (&["--compat=1.1", "--version"], "sysbench 1.1.0\n"),
    ] {
        assert_eq!(drop_in(&world, words).stdout, expected);
    }
    let refused = drop_in(&world, &["cpu", "run"]);
    assert_eq!(refused.code, Some(1));
    let line = "FATAL: Cannot find benchmark 'cpu'";
    assert!(refused.stdout.contains(line), "{}", refused.stdout);
}

#[cfg(feature = "lua")]
#[test]
fn option_files_log_in_but_not_under_the_name_of_sysbench() {
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
    let endpoint = server.endpoint();
    let Address::Socket(socket) = &endpoint.address else {
        panic!("a private server")
    };
    let world = World::new();
    let password = endpoint.password.reveal();
    let text = format!(
        "[client]\nuser={}\npassword=\"{password}\"\nsocket={}\n[weir]\ndatabase={}\ntables=2\n",
        endpoint.user,
        socket.display(),
        endpoint.database,
    );
    std::fs::write(world.path(".my.cnf"), text).unwrap();
    let home = world.path("");
    let load = |command: &str| {
        Weir::new()
            .args([
                "load",
                "oltp_read_only",
                "--table-size=100",
                "--time=1",
                command,
            ])
            .env("HOME", &home)
    };
    load("prepare").succeeds();
    let report = load("run").succeeds();
    for text in [&report.stdout, &report.stderr] {
        assert!(!text.contains(password), "{text}");
    }
    let socket = format!("--mysql-socket={}", socket.display());
    let database = format!("--mysql-db={}", endpoint.database);
    let named = |options: &[&str]| {
        let link = world.path("sysbench");
        let _ = std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_weir"), &link);
        let output = std::process::Command::new(&link)
            .args([
                "oltp_read_only",
                &socket,
                &database,
                "--time=1",
                "--table-size=100",
            ])
            .args(options)
            .arg("run")
            .env("HOME", &home)
            .output();
        Output::from(output.unwrap())
    };
    let refused = named(&[]);
    assert!(refused.stdout.contains("'sbtest'"), "{}", refused.stdout);
    let file = format!("--defaults-file={}", world.path(".my.cnf").display());
    assert_eq!(named(&[&file]).code, Some(0));
}

#[test]
fn a_password_on_the_command_line_is_overwritten() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let endpoint = server.endpoint();
    load(&endpoint, &["prepare"]).succeeds();
    let password = endpoint.password.reveal();
    let option = format!("--mysql-password={password}");
    let child = load(&endpoint, &[&option, "--time=3", "--verbosity=0", "run"])
        .env("WEIR_MYSQL_PASSWORD", "not-this-one")
        .spawn();
    let shown = || std::fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap();
    wait_until("the password is overwritten", || {
        let shown = shown();
        shown.contains("--mysql-password=x") && !shown.contains(password)
    });
    assert!(shown().contains("--time=3"), "{}", shown());
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(output.stdout, "", "verbosity 0 prints no report");
}

#[test]
fn a_password_is_read_from_standard_input_when_asked_for() {
    use std::io::Write as _;

    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let endpoint = server.endpoint();
    load(&endpoint, &["prepare"]).succeeds();
    for (password, code) in [(endpoint.password.reveal(), 0), ("wrong", 1)] {
        let mut child =
            load(&endpoint, &["--mysql-password=-", "--time=1", "run"]).spawn_with_input();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{password}").unwrap();
        drop(input);
        let output = Output::from(child.wait_with_output().unwrap());
        assert_eq!(output.code, Some(code), "{}", output.stderr);
    }
}

#[test]
fn a_server_that_stands_still_is_named_and_the_exit_code_is_sysbenchs() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let endpoint = server.endpoint();
    load(&endpoint, &["prepare"]).succeeds();
    signal(server.pid(), "STOP");
    let run = ["--thread-init-timeout=1", "--time=1", "run"];
    let output = load(&endpoint, &run).output();
    let child = load(&endpoint, &["prepare"]).spawn();
    wait_until("it watches for Ctrl-C", || {
        has_interrupt(child.id(), "SigCgt")
    });
    // Asked twice, it does not wait for the server.
    signal(child.id(), "INT");
    wait_until("the first has come", || {
        !has_interrupt(child.id(), "ShdPnd")
    });
    signal(child.id(), "INT");
    let interrupted = Output::from(child.wait_with_output().unwrap());
    signal(server.pid(), "CONT");
    assert_eq!(interrupted.code, Some(130), "{}", interrupted.stderr);
    assert_eq!(output.code, Some(2), "{}{}", output.stdout, output.stderr);
    assert!(
        !output.stdout.contains("Threads started!"),
        "{}",
        output.stdout
    );
    let expected = "no answer within 1 s: the server's greeting did not come";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
}

#[test]
fn the_development_versions_words_and_defaults_are_there_too() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let endpoint = server.endpoint();
    load(&endpoint, &["prepare"]).succeeds();
    let report = load(&endpoint, &["--compat=1.1", "--time=1", "run"])
        .succeeds()
        .stdout;
    assert!(report.starts_with("sysbench 1.1.0 (weir "), "{report}");
    for line in ["Throughput:", "    events/s (eps):"] {
        assert!(report.contains(line), "{report}");
    }
    assert!(!report.contains("General statistics:"), "{report}");
}

/// The shop's workload file, which makes its own tables.
#[test]
fn a_workload_file_has_a_row_each_second_and_a_full_disk_is_named() {
    let (server, directory) = weir_testing::start(Flavor::Mariadb);
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/shop.toml");
    let file = directory.path().join("shop.csv");
    let csv = format!("--csv={}", file.display());
    let endpoint = server.endpoint();
    let shop = |arguments: &[&str]| load_of(shop, &endpoint, arguments);
    shop(&["prepare"]).succeeds();
    let run = [
        "--threads=4",
        "--time=3",
        "--json",
        &csv,
        "--metrics=0",
        "run",
    ];
    let output = shop(&run).succeeds();
    assert!(
        output.stderr.contains("metrics: http://127.0.0.1:"),
        "{}",
        output.stderr
    );
    let json: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let rows = std::fs::read_to_string(&file).unwrap();
    let third = |line: &str| line.split(',').nth(2).unwrap().parse::<u64>().unwrap();
    assert!(rows.lines().count() >= 4, "{rows}");
    assert_eq!(
        rows.lines().skip(1).map(third).sum::<u64>(),
        json["counts"]["transactions"]
    );
    let error = shop(&["--time=1", "--csv=/dev/full", "run"]).fails();
    assert!(
        error.contains("`/dev/full` (No space left on device"),
        "{error}"
    );
}

#[test]
fn a_port_for_metrics_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let run = [
        "load",
        "oltp_read_only",
        &format!("--metrics={port}"),
        "run",
    ];
    let error = Weir::new().args(run).fails();
    let expected = format!("cannot serve metrics on 127.0.0.1:{port} (Address already in use");
    assert!(
        error.contains(&expected) && error.contains("--metrics"),
        "{error}"
    );
    let wrong = ["load", "oltp_read_only", "--metrics=localhost", "run"];
    let output = Weir::new().args(wrong).output();
    assert!(output.stderr.contains("10.0.0.5:9104"), "{}", output.stderr);
    let capture = ["load", "a.weircap", "--csv=x", "run"];
    let output = Weir::new().args(capture).output();
    assert!(output.stderr.contains("--csv"), "{}", output.stderr);
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

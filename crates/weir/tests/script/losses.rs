//! Servers that go away under a script, and scripts that go away.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_server::PrivateServer;

use crate::beside::Bench;

/// Lost connections are ignored, so that `oltp_common`'s hook prepares its statements anew.
const IGNORED: &str = "--mysql-ignore-errors=1213,1020,1205,2006,2011,2013,2055";

fn a_restart_is_survived(flavor: Flavor, driving: &str) {
    let (server, directory) = weir_testing::start(flavor);
    let bench = Bench::on(&server.endpoint());
    let sizes = "oltp_point_select --table-size=1000 --lua-threads=os";
    assert_eq!(bench.ours(&format!("{sizes} prepare")).code, Some(0));
    let words = format!(
        "oltp_point_select --table-size=1000 --threads=4 --time=600 --lua-threads={driving} {IGNORED} run"
    );
    let mut command = bench.command(&words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    weir_testing::wait_until_loaded(&server);
    server.kill();
    let options = weir_testing::options(directory.path());
    let server = PrivateServer::start(&weir_testing::binary(flavor), &options).unwrap();
    weir_testing::wait_until_loaded(&server);
    wait_for_connections(&server, 4);
    let status = Command::new("kill")
        .args(["-s", "INT", &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
    let run = crate::beside::Output::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(130), "{driving} {run:?}");
    assert!(run.number("reconnects:") >= 4, "{driving} {run:?}");
}

/// Waits until so many connections beside that of the test are there.
fn wait_for_connections(server: &PrivateServer, count: u64) {
    let mut control = weir_testing::connect(&server.endpoint());
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let there: Option<(String, u64)> = control
            .first("SHOW GLOBAL STATUS LIKE 'Threads_connected'")
            .unwrap();
        if there.unwrap().1 == count + 1 {
            return;
        }
        assert!(Instant::now() < deadline, "never {count} connections");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_restart_is_survived_by_threads() {
    a_restart_is_survived(Flavor::Mysql, "os");
}

#[test]
fn a_restart_is_survived_by_coroutines() {
    a_restart_is_survived(Flavor::Mariadb, "reactor");
}

#[test]
fn a_server_that_dies_ends_a_run_that_does_not_ignore_it() {
    for driving in ["os", "reactor"] {
        let (server, _directory) = weir_testing::start(Flavor::Mariadb);
        let bench = Bench::on(&server.endpoint());
        bench.script(
            "x.lua",
            "function thread_init() con = sysbench.sql.driver():connect() end
             function event() con:query('SELECT 1') end",
        );
        let words = format!("x.lua --threads=4 --time=60 --lua-threads={driving} run");
        let mut command = bench.command(&words);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = child.spawn().unwrap();
        weir_testing::wait_until_loaded(&server);
        server.kill();
        let killed = Instant::now();
        let run = crate::beside::Output::from(child.wait_with_output().unwrap());
        assert!(killed.elapsed() < Duration::from_secs(50));
        assert_eq!(run.code, Some(1), "{driving} {run:?}");
        assert!(run.stdout.contains("FATAL: "), "{driving} {run:?}");
    }
}

/// The connection that the engine does not drive is made again in place, in both ways.
#[test]
fn a_server_that_stays_away_is_waited_for_until_the_run_ends() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    bench.script(
        "x.lua",
        "function thread_init()
           first = sysbench.sql.driver():connect()
           con = sysbench.sql.driver():connect()
         end
         function event() con:query('SELECT 1') end",
    );
    let runs = ["os", "reactor"].map(|driving| {
        let words = format!("x.lua --threads=2 --time=15 --lua-threads={driving} {IGNORED} run");
        let mut command = bench.command(&words);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        child.spawn().unwrap()
    });
    weir_testing::wait_until_loaded(&server);
    wait_for_connections(&server, 8);
    server.kill();
    for child in runs {
        let run = crate::beside::Output::from(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(1), "{run:?}");
        let away = run
            .stdout
            .matches("FATAL: no connection to MySQL server on socket '");
        assert_eq!(away.count(), 1, "{run:?}");
        assert!(
            run.stdout.contains("; start the server, and run again"),
            "{run:?}"
        );
    }
}

/// The connections of a script that leaves by `os.exit` are closed, and its exit code is the program's.
#[test]
fn a_script_that_leaves_leaves_no_connection() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    bench.script(
        "x.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('SELECT 1') if sysbench.tid == 3 then os.exit(7) end end",
    );
    for driving in ["os", "reactor"] {
        let words = format!("x.lua --threads=8 --lua-threads={driving} run");
        assert_eq!(bench.ours(&words).code, Some(7), "{driving}");
        wait_for_connections(&server, 0);
    }
}

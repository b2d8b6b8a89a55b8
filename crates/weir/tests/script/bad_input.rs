//! Scripts that crash, loop, print without end: one clear line with script and line, an exit code, and no
//! connection that stays.

use std::process::Stdio;
use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_mysql::Connection;

use crate::beside::{Bench, Output};

const CONNECTS: &str = "function thread_init() con = sysbench.sql.driver():connect() end\n";

/// Runs a script both ways on a server, on which no connection stays.
fn on_mariadb(text: &str, words: &str) -> Vec<Output> {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    let mut control = weir_testing::connect(&server.endpoint());
    both_ways(&bench, &mut control, text, words)
}

fn both_ways(bench: &Bench, control: &mut Connection, text: &str, words: &str) -> Vec<Output> {
    bench.script("x.lua", text);
    let runs = ["os", "reactor"]
        .map(|driving| bench.ours(&format!("{words} --lua-threads={driving} run")));
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let left: Vec<(String, String)> = control
            .rows("SHOW STATUS LIKE 'Threads_connected'")
            .unwrap();
        if left[0].1 == "1" {
            return runs.into();
        }
        assert!(Instant::now() < deadline, "{left:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Whatever is wrong, one line has the script and its line, and the exit code is sysbench's.
#[test]
fn a_failure_is_one_line_with_its_place_and_leaves_no_connection() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    let mut control = weir_testing::connect(&server.endpoint());
    let in_one = |what: &str| {
        format!(
            "{CONNECTS}function event()\n con:query('SELECT 1')\n if sysbench.tid == 40 then {what} end\nend"
        )
    };
    for (text, code, line) in [
        (
            format!("{CONNECTS}x = = 1"),
            1,
            "FATAL: x.lua:2: unexpected symbol near '='",
        ),
        (
            format!("{CONNECTS}\nrequire('no_such_module')"),
            1,
            "FATAL: x.lua:3: module 'no_such_module' not found:",
        ),
        (
            in_one("error('broken')"),
            1,
            "FATAL: `thread_run' function failed: x.lua:4: broken",
        ),
        (
            in_one("local nothing nothing.field = 1"),
            1,
            "FATAL: `thread_run' function failed: x.lua:4: attempt to index local 'nothing' (a nil value)",
        ),
        (
            in_one("con:query('SELEC')"),
            1,
            "FATAL: `thread_run' function failed: x.lua:4: SQL error, errno = 1064",
        ),
        (in_one("os.exit(5)"), 5, ""),
    ] {
        for run in both_ways(&bench, &mut control, &text, "x.lua --threads=64 --time=20") {
            assert_eq!(run.code, Some(code), "{run:?}");
            let lines = run.stdout.lines();
            let told = lines.filter(|told| !line.is_empty() && told.starts_with(line));
            assert_eq!(
                told.count(),
                usize::from(!line.is_empty()),
                "{line} {run:?}"
            );
        }
    }
}

/// As under sysbench: the report comes, and the exit code is 0.
#[test]
fn last_words_that_fail_are_told_and_no_more() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    let text = format!(
        "{CONNECTS}function event() con:query('SELECT 1') end\nfunction thread_done() error('done') end"
    );
    bench.script("x.lua", &text);
    let run = bench.same("x.lua --threads=3 --events=9 run");
    assert_eq!(run.code, Some(0), "{run:?}");
    let line = "FATAL: `thread_done' function failed: x.lua:3: done";
    assert!(run.stdout.contains(line), "{run:?}");
    assert_eq!(run.counts(), [9, 0, 0, 9]);
}

/// The process dies of the signal, as sysbench's does, and says where.
#[test]
fn a_crash_by_ffi_is_told_with_its_line() {
    let text = format!(
        "{CONNECTS}function event()\n con:query('SELECT 1')\n ffi.copy(ffi.cast('char *', 8), 'x')\nend"
    );
    for run in on_mariadb(&text, "x.lua --threads=4") {
        assert_eq!(run.code, None, "{run:?}");
        let lines: Vec<_> = run.stdout.lines().collect();
        let line =
            "FATAL: the script has crashed the program (memory that is not its own) at x.lua:4";
        assert!(lines.contains(&line), "{run:?}");
    }
}

#[test]
fn an_endless_loop_is_told_with_its_line() {
    let text =
        format!("{CONNECTS}function event()\n con:query('SELECT 1')\n while true do\n end\nend");
    for run in on_mariadb(&text, "x.lua --threads=2 --time=1 --forced-shutdown=on") {
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(
            run.stdout.contains("still in an event 3 s after the end"),
            "{run:?}"
        );
        let place = run
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix("FATAL: a thread of the script is still at x.lua:"));
        assert!(
            place.is_some_and(|line| ["4", "5"].contains(&line)),
            "{run:?}"
        );
    }
}

/// A gigabyte goes through, whoever reads it.
#[test]
fn a_script_that_prints_a_gigabyte_ends() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "function prepare()
           local line = string.rep('x', 2^20 - 1)
           for _ = 1, 1024 do print(line) end
         end",
    );
    let mut command = bench.command("x.lua prepare");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let length = std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!((1 << 30..(1 << 30) + 200).contains(&length), "{length}");
}

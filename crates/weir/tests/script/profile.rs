//! `weir load x.lua profile`: the lines of a script that waited.

use weir_model::Flavor;

use crate::beside::{Bench, Output};

/// Seconds, calls and place of each line of the table.
fn lines(run: &Output) -> Vec<(f64, u64, String)> {
    let (_, table) = run.stdout.split_once("Where the events waited").unwrap();
    let rows = table.lines().skip(2);
    let rows = rows.filter_map(|row| {
        let words: Vec<_> = row.split_whitespace().collect();
        let number = |at: usize| words.get(at)?.parse::<f64>().ok();
        Some((number(0)?, number(2)? as u64, words.get(4..)?.join(" ")))
    });
    rows.collect()
}

#[test]
fn a_profile_names_the_lines_that_waited() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    bench.script(
        "x.lua",
        "ffi.cdef('int usleep(unsigned);')
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query('SELECT SLEEP(0.2)')
  stmt = con:prepare('SELECT SLEEP(?)')
  seconds = stmt:bind_create(sysbench.sql.type.DOUBLE)
  stmt:bind_param(seconds)
end
local function pause(text) local slept = con:query_row(text) return slept end
function event()
  pause('SELECT SLEEP(0.04)')
  seconds:set(0.08)
  stmt:execute()
  ffi.C.usleep(20000)
  os.execute('true')
end
function done() print('the command was', sysbench.cmdline.command) end",
    );
    for driving in ["os", "reactor"] {
        let words = format!("x.lua --threads=2 --events=10 --time=0 --lua-threads={driving}");
        let run = bench.weir_load(&format!("{words} profile"));
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stdout.contains("total number of events:"), "{run:?}");
        let lines = lines(&run);
        // How long a shell takes to start is the machine's.
        let (shell, lines): (Vec<_>, Vec<_>) = lines
            .into_iter()
            .partition(|line| line.2.ends_with("os.execute"));
        assert_eq!(shell[0].2, "x.lua:15, os.execute", "{run:?}");
        let named: Vec<_> = lines.iter().take(3).map(|line| line.2.as_str()).collect();
        assert_eq!(
            named,
            ["x.lua:13, execute", "x.lua:9, query", "x.lua:14, usleep"],
            "{run:?}"
        );
        let least_s = [0.8, 0.4, 0.2];
        for (line, least_s) in lines.iter().zip(least_s) {
            assert_eq!(line.1, 10, "{run:?}");
            assert!(line.0 > least_s && line.0 < least_s + 10.0, "{run:?}");
        }
        assert!(
            run.stdout.contains("  the script itself, and calls"),
            "{run:?}"
        );
    }
    // A loop of its own is one long event.
    bench.script(
        "loop.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end
function event() end
function thread_run(tid)
  while ffi.C.sb_more_events(tid) do
    ffi.C.sb_event_start(tid)
    con:query('SELECT SLEEP(0.05)')
    ffi.C.sb_event_stop(tid)
  end
end",
    );
    let run = bench.weir_load("loop.lua --threads=2 --events=10 --time=0 profile");
    assert_eq!(run.code, Some(0), "{run:?}");
    let (seconds, calls, place) = self::lines(&run).swap_remove(0);
    assert_eq!(
        (calls, place.as_str()),
        (10, "loop.lua:6, query"),
        "{run:?}"
    );
    assert!(seconds > 0.45, "{run:?}");
    // A script's own command of this name wins, and sysbench has none.
    let same = bench.same("x.lua profile");
    assert_eq!(same.code, Some(1), "{same:?}");
    bench.script(
        "own.lua",
        "sysbench.cmdline.commands = { profile = { function() print('its own') end } }",
    );
    let own = bench.weir_load("own.lua profile");
    assert!(own.stdout.ends_with("its own\n"), "{own:?}");
}

//! Scripts as coroutines: what waits goes away, and what cannot is told.

use tempfile::TempDir;
use weir_model::Flavor;
use weir_testing::PrivateServer;

use crate::beside::{Bench, Output};

/// A server for the scripts of a test; it goes before its directory.
struct Scene {
    bench: Bench,
    _server: PrivateServer,
    _directory: TempDir,
}

impl Scene {
    fn on(flavor: Flavor) -> Self {
        let (server, directory) = weir_testing::start(flavor);
        Self {
            bench: Bench::on(&server.endpoint()),
            _server: server,
            _directory: directory,
        }
    }

    fn run(&self, text: &str, words: &str) -> Output {
        self.bench.script("x.lua", text);
        self.bench.ours(words)
    }
}

/// A script on a server of its own.
fn on_mariadb(text: &str, words: &str) -> Output {
    Scene::on(Flavor::Mariadb).run(text, words)
}

const CONNECTS: &str = "function thread_init() con = sysbench.sql.driver():connect() end\n";

#[test]
fn sleeping_threads_do_not_hold_others_up() {
    let text = format!(
        "{CONNECTS} ffi.cdef('int usleep(unsigned);')
         function event() ffi.C.usleep(100000) con:query('SELECT 1') end"
    );
    let run = on_mariadb(
        &text,
        "x.lua --threads=50 --time=3 --lua-threads=reactor run",
    );
    assert!(run.code == Some(0) && run.is_quiet(), "{run:?}");
    // One after the other they would be 30.
    assert!(run.number("total number of events:") > 150, "{run:?}");
}

#[test]
fn a_script_that_blocks_is_told_so_with_the_way_out() {
    let text =
        format!("{CONNECTS} function event() os.execute('sleep 0.02') con:query('SELECT 1') end");
    let run = on_mariadb(
        &text,
        "x.lua --threads=4 --time=3 --lua-threads=reactor run",
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    let told =
        run.stderr.contains("without asking the server") && run.stderr.contains("--lua-threads=os");
    assert!(told, "{run:?}");
}

#[test]
fn a_scripts_own_coroutines_pass_the_engines_waits_on() {
    let text = format!(
        "{CONNECTS} local function numbers()
           for i = 1, 3 do coroutine.yield(con:query_row('SELECT ' .. i)) end
         end
         function event()
           local co, sum = coroutine.create(numbers), 0
           while true do
             local ok, n = coroutine.resume(co)
             assert(ok, n)
             if not n then break end
             sum = sum + n
           end
           for n in coroutine.wrap(numbers) do sum = sum + n end
           assert(sum == 12, sum)
         end"
    );
    let run = on_mariadb(
        &text,
        "x.lua --threads=3 --events=9 --lua-threads=reactor run",
    );
    assert!(run.code == Some(0) && run.is_quiet(), "{run:?}");
    assert_eq!(run.counts(), [54, 0, 0, 9]);
}

#[test]
fn a_statement_where_nobody_can_have_their_turn_is_waited_for_in_place() {
    let text = format!(
        "{CONNECTS} function event()
           con:query('BEGIN')
           local list = {{2, 1, 3}}
           table.sort(list, function(a, b)
             return con:query_row('SELECT ' .. a .. ' < ' .. b) == '1'
           end)
           assert(table.concat(list, ' ') == '1 2 3')
           local text = ('ab'):gsub('.', function(c) return con:query_row(\"SELECT UPPER('\" .. c .. \"')\") end)
           assert(text == 'AB', text)
           con:query('COMMIT')
         end"
    );
    // Few connections are on epoll, more on io_uring.
    let scene = Scene::on(Flavor::Mysql);
    for threads in [2, 40] {
        let words = format!("x.lua --threads={threads} --events=200 --time=0");
        let threads_of_system = scene.run(&text, &format!("{words} --lua-threads=os run"));
        let run = scene.run(&text, &format!("{words} --lua-threads=reactor run"));
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(run.counts(), threads_of_system.counts(), "{run:?}");
        assert!(
            run.stderr
                .contains("times for the server within a function"),
            "{run:?}"
        );
        assert!(run.stderr.contains("--lua-threads=os"), "{run:?}");
    }
}

#[test]
fn a_script_that_cannot_be_a_coroutine_gets_threads_and_hears_why() {
    let scene = Scene::on(Flavor::Mariadb);
    for (text, why) in [
        (
            "function event() end",
            "open no connection before their events",
        ),
        (
            "function thread_init() con = sysbench.sql.driver():connect() end
             function event() end
             local loop = thread_run
             function thread_run(id) return loop(id) end",
            "thread_run of its own",
        ),
    ] {
        let run = scene.run(
            text,
            "x.lua --threads=2 --events=4 --lua-threads=reactor run",
        );
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stderr.contains(why), "{run:?}");
        let run = scene.run(text, "x.lua --threads=2 --events=4 run");
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    }
}

#[test]
fn one_of_many_coroutines_that_fails_ends_the_run() {
    let text = format!(
        "{CONNECTS} function event()
           con:query('SELECT 1')
           if sysbench.tid == 40 then error('thread 40') end
         end
         function done() print('done') end"
    );
    let run = on_mariadb(&text, "x.lua --threads=64 --lua-threads=reactor run");
    assert_eq!(run.code, Some(1));
    let line = "FATAL: `thread_run' function failed: x.lua:4: thread 40\n";
    assert!(run.stdout.contains(line), "{run:?}");
    assert!(run.stdout.ends_with("done\n"), "{run:?}");
}

#[test]
fn a_rate_and_ignored_errors_are_as_with_threads() {
    let text = format!(
        "{CONNECTS} local tries = 0
         function event()
           tries = tries + 1
           con:query('SELECT 1')
           if tries % 2 == 1 then con:query('SELECT * FROM no_such_table') end
         end"
    );
    let scene = Scene::on(Flavor::Mariadb);
    for driving in ["os", "reactor"] {
        let words = format!(
            "x.lua --threads=4 --events=40 --time=0 --rate=200 --mysql-ignore-errors=1146 --lua-threads={driving} run"
        );
        let run = scene.run(&text, &words);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(run.counts(), [80, 0, 0, 40], "{driving}");
        assert_eq!(run.number("ignored errors:"), 40);
    }
}

/// Rows that are left for the end are written by the thread's last words.
#[test]
fn last_words_reach_the_server() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    bench.script(
        "x.lua",
        "function prepare()
           sysbench.sql.driver():connect():query('CREATE TABLE t (id INT PRIMARY KEY)')
         end
         function thread_init()
           con = sysbench.sql.driver():connect()
           con:bulk_insert_init('INSERT INTO t VALUES')
         end
         local row = 0
         function event()
           row = row + 1
           con:bulk_insert_next('(' .. sysbench.tid * 1000 + row .. ')')
         end
         function thread_done() con:bulk_insert_done() end
         function cleanup()
           local con = sysbench.sql.driver():connect()
           print('rows', con:query_row('SELECT COUNT(*) FROM t'))
           con:query('DROP TABLE t')
         end",
    );
    for driving in ["os", "reactor"] {
        assert_eq!(bench.ours("x.lua prepare").code, Some(0));
        let words = format!("x.lua --threads=3 --events=90 --time=0 --lua-threads={driving} run");
        let run = bench.ours(&words);
        assert_eq!(run.code, Some(0), "{run:?}");
        let left = bench.ours("x.lua cleanup");
        assert!(left.stdout.contains("rows\t90\n"), "{driving} {left:?}");
    }
}

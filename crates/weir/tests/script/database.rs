//! What scripts do with a server: queries, statements, results, errors, several connections.

use weir_model::Flavor;

use crate::beside::Bench;

weir_testing::on_both_flavors! {
    results_are_those_of_sysbench
    prepared_statements_and_their_parameters_are_those_of_sysbench
    a_bulk_insert_fills_a_table
    errors_of_the_server_are_told_as_sysbench_does
    errors_that_are_ignored_restart_the_event
    several_results_of_one_statement_are_taken_or_drained
}

/// The same scripts, with their command lines, under both programs.
fn same(flavor: Flavor, scripts: &[(&str, &str)]) {
    let (server, _directory) = weir_testing::start(flavor);
    let bench = Bench::on(&server.endpoint());
    for (text, words) in scripts {
        bench.script("x.lua", text);
        bench.same(words);
    }
}

fn results_are_those_of_sysbench(flavor: Flavor) {
    same(
        flavor,
        &[(
            r"
        function event()
          local drv = sysbench.sql.driver()
          local con, other = drv:connect(), drv:connect()
          con:query('DROP TABLE IF EXISTS t')
          local nothing = con:query('CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), d DECIMAL(6,2), w DATETIME)')
          print(nothing == nil, con:query_row('SELECT 1, NULL, 1.50'))
          con:query([[INSERT INTO t VALUES (1, 'a', 1.5, '2026-01-02 03:04:05'), (2, NULL, 2, NULL)]])
          local rs = con:query('SELECT * FROM t ORDER BY id')
          print(rs.nrows, rs.nfields, tostring(rs), tostring(con), tostring(drv))
          for _ = 1, rs.nrows do local row = rs:fetch_row() print(row[1], row[2], row[3], row[4], row[1] + 1) end
          print(rs:fetch_row())
          print(other:query_row('SELECT COUNT(*) FROM t'))
          print(con:query('SELECT * FROM t WHERE id = 9').nrows)
          print(select('#', con:query_row('SELECT * FROM t WHERE id = 9')))
          other:disconnect()
          other:disconnect()
          print(pcall(function() other:query('SELECT 1') return 1 end))
          con:query('DROP TABLE t')
        end",
            "x.lua --events=1 run",
        )],
    );
}

fn prepared_statements_and_their_parameters_are_those_of_sysbench(flavor: Flavor) {
    let text = r"
        local t = sysbench.sql.type
        function event()
          local con = sysbench.sql.driver():connect()
          con:query('DROP TABLE IF EXISTS t')
          con:query('CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR(20))')
          local stmt = con:prepare('INSERT INTO t VALUES (?, ?)')
          local id, v = stmt:bind_create(t.BIGINT), stmt:bind_create(t.VARCHAR, 5)
          stmt:bind_param(id, v)
          stmt:execute()
          id:set(7.9) v:set('abcdefgh')
          stmt:execute()
          id:set(8) v:set(nil)
          stmt:execute()
          id:set(9) v:set_rand_str('x@#')
          stmt:execute()
          print(pcall(stmt.bind_create, stmt, t.DATE))
          local rs = con:query('SELECT id, v, LENGTH(v) FROM t ORDER BY id')
          for _ = 1, 3 do local row = rs:fetch_row() print(row[1], row[2], row[3]) end
          con:query('DROP TABLE t')
        end";
    let lines = [
        "x.lua --events=1 run",
        "x.lua --events=1 --db-ps-mode=disable run",
    ];
    same(flavor, &lines.map(|line| (text, line)));
}

fn a_bulk_insert_fills_a_table(flavor: Flavor) {
    same(
        flavor,
        &[(
            r"
        function event()
          local con = sysbench.sql.driver():connect()
          con:query('DROP TABLE IF EXISTS t')
          con:query('CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(1000))')
          con:bulk_insert_init('INSERT INTO t VALUES')
          for i = 1, 2000 do con:bulk_insert_next(string.format([[(%d, '%s')]], i, ('x'):rep(900))) end
          con:bulk_insert_done()
          print(con:query_row('SELECT COUNT(*), SUM(LENGTH(v)) FROM t'))
          con:query('DROP TABLE t')
        end",
            "x.lua --events=1 run",
        )],
    );
}

fn errors_of_the_server_are_told_as_sysbench_does(flavor: Flavor) {
    same(
        flavor,
        &[
            (
                r"
        function event()
          local con = sysbench.sql.driver():connect()
          con:query('DROP TABLE IF EXISTS t')
          con:query('CREATE TABLE t (id INT PRIMARY KEY)')
          con:query('INSERT INTO t VALUES (1)')
          print(pcall(function() con:query('INSERT INTO t VALUES (1)') end))
          print(con.sql_errno, ffi.string(con.sql_state), ffi.string(con.sql_errmsg), tonumber(con.error))
          print(pcall(function() con:check_error(nil, 'a text') end))
          print(con:check_error('a result', 'a text'))
          function sysbench.hooks.sql_error_ignorable(err) return err.sql_errno == 1062 end
          local _, err = pcall(function() con:query('INSERT INTO t VALUES (1)') end)
          print(type(err), err.sql_errno, err.sql_state, err.errcode, err.query, err.connection == con)
          con:query('DROP TABLE t')
          con:query('SELECT * FROM t')
        end",
                "x.lua --events=1 run",
            ),
            (
                "function event()
           local con = sysbench.sql.driver():connect()
           con:query('DROP TABLE IF EXISTS t')
           con:query('CREATE TABLE t (id INT PRIMARY KEY)')
           local stmt = con:prepare('INSERT INTO t VALUES (1)')
           stmt:execute()
           stmt:execute()
         end",
                "x.lua --events=1 run",
            ),
            (
                "function event()
           local con = sysbench.sql.driver():connect()
           con:query('THIS IS NO SQL')
         end",
                "x.lua --events=1 run",
            ),
            (
                "function event() sysbench.sql.driver('nosuch') end",
                "x.lua --events=1 run",
            ),
        ],
    );
}

fn errors_that_are_ignored_restart_the_event(flavor: Flavor) {
    let text = r"
        local tries = 0
        function thread_init() con = sysbench.sql.driver():connect() end
        function event()
          tries = tries + 1
          con:query('SELECT 1')
          if tries % 2 == 1 then con:query('SELECT * FROM no_such_table') end
        end";
    let (server, _directory) = weir_testing::start(flavor);
    let bench = Bench::on(&server.endpoint());
    bench.script("x.lua", text);
    let run = bench.same("x.lua --events=3 --mysql-ignore-errors=1146 run");
    assert_eq!(run.counts(), [6, 0, 0, 3], "{run:?}");
    assert_eq!(run.number("ignored errors:"), 3);
}

/// The words of the client library differ from build to build; number and place are the same.
#[test]
fn a_server_that_is_not_there_is_named() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "function event() sysbench.sql.driver():connect() end",
    );
    let run = bench.ours("x.lua --mysql-socket=/no/such.sock run");
    assert_eq!(run.code, Some(1));
    for line in [
        "FATAL: unable to connect to MySQL server on socket '/no/such.sock', aborting...",
        "FATAL: error 2002: ",
        "FATAL: `thread_run' function failed: x.lua:1: connection creation failed",
    ] {
        assert!(run.stdout.contains(line), "{run:?}");
    }
}

/// sysbench has no way to take several results in 1.0.20; Weir has that of 1.1, and drains what is left.
fn several_results_of_one_statement_are_taken_or_drained(flavor: Flavor) {
    let (server, _directory) = weir_testing::start(flavor);
    let bench = Bench::on(&server.endpoint());
    bench.script(
        "x.lua",
        "function event()
           local con = sysbench.sql.driver():connect()
           local rs = con:query('SELECT 1; SELECT 2 UNION SELECT 3; DO 0')
           print(rs.nrows, con:more_results(), con:next_result().nrows, con:more_results())
           con:query('SELECT 1; SELECT 2')
           print(con:query_row('SELECT 4'))
           con:query('CREATE PROCEDURE p() BEGIN SELECT 5; SELECT 6; END')
           print(con:query_row('CALL p()'))
           local stmt = con:prepare('SELECT 7.5, NULL')
           print(unpack(stmt:execute():fetch_row(), 1, 2))
         end",
    );
    let run = bench.ours("x.lua --events=1 run");
    assert_eq!(run.code, Some(0), "{run:?}");
    for line in ["1\ttrue\t2\ttrue\n", "\n4\n", "\n5\n", "\n7.5\tnil\n"] {
        assert!(run.stdout.contains(line), "`{line}` in {run:?}");
    }
}

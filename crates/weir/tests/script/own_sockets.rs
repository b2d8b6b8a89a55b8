//! Connections of coroutines that the load engine does not drive: all but the first of a thread, and those that are
//! encrypted or compressed.

use weir_model::Flavor;

use crate::beside::{Bench, Output};

/// Runs the same script with a thread of the system for each connection, and as coroutines; the counts are equal.
fn both_ways(bench: &Bench, words: &str) -> Output {
    let threads = bench.ours(&format!("{words} --lua-threads=os run"));
    assert_eq!(threads.code, Some(0), "{threads:?}");
    let run = bench.ours(&format!("{words} --lua-threads=reactor run"));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.counts(), threads.counts(), "{words}: {run:?}");
    for label in ["ignored errors:", "reconnects:"] {
        assert_eq!(run.number(label), threads.number(label), "{words}: {run:?}");
    }
    run
}

#[test]
fn several_connections_of_a_thread_hold_nobody_up() {
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
    let bench = Bench::on(&server.endpoint());
    bench.script(
        "sleeps.lua",
        "function thread_init()
           local driver = sysbench.sql.driver()
           a, b = driver:connect(), driver:connect()
         end
         function event() b:query('SELECT SLEEP(0.1)') end",
    );
    // 16 connections are on epoll, 40 on io_uring. One after the other, they would reach 30 and 60.
    for threads in [16, 40] {
        let words = format!("sleeps.lua --threads={threads} --time=3 --lua-threads=reactor run");
        let run = bench.ours(&words);
        assert!(run.code == Some(0) && run.is_quiet(), "{run:?}");
        let events = run.number("total number of events:");
        assert!(events > 8 * threads, "{events} {run:?}");
    }
    // A statement of each kind on all connections, rows that need several reads, and what is larger than a socket.
    bench.script(
        "mixed.lua",
        "function thread_init()
           local driver = sysbench.sql.driver()
           a, b, c = driver:connect(), driver:connect(), driver:connect()
           for _, con in ipairs{b, c} do con:query('CREATE TEMPORARY TABLE t (id INT, d MEDIUMTEXT)') end
           insert = c:prepare('INSERT INTO t VALUES (?, ?)')
           id, d = insert:bind_create(sysbench.sql.type.INT), insert:bind_create(sysbench.sql.type.VARCHAR, 2^20)
           insert:bind_param(id, d)
         end
         local long = ('x'):rep(700000)
         function event()
           a:query('BEGIN') b:query('BEGIN')
           assert(a:query_row('SELECT 1') == '1')
           id:set(7) d:set(long)
           insert:execute()
           assert(c:query_row('SELECT d FROM t') == long)
           c:query('DELETE FROM t')
           b:bulk_insert_init('INSERT INTO t VALUES')
           for row = 1, 40 do b:bulk_insert_next('(' .. row .. \", '\" .. long:sub(1, 30000) .. \"')\") end
           b:bulk_insert_done()
           assert(#b:query_row('SELECT GROUP_CONCAT(id) FROM t') > 40)
           assert(b:query('SELECT 1; SELECT 2').nrows == 1 and b:next_result().nrows == 1)
           assert(a:query('SELECT 1; SELECT 2').nrows == 1 and a:next_result().nrows == 1)
           b:query('ROLLBACK') a:query('COMMIT')
           assert(b:query_row('SELECT COUNT(*) FROM t') == '0')
           -- One that is made and closed in the event.
           local d = a.driver:connect()
           assert(d:query_row('SELECT 5') == '5')
           d:disconnect()
         end",
    );
    for threads in [3, 40] {
        let words = format!("mixed.lua --threads={threads} --events=80 --time=0");
        let run = both_ways(&bench, &words);
        assert_eq!(run.number("total number of events:"), 80, "{run:?}");
    }
}

/// Errors and lost connections are the script's, whichever of its connections they come on.
#[test]
fn errors_of_further_connections_are_those_of_the_first() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    bench.script(
        "x.lua",
        "function thread_init()
           local driver = sysbench.sql.driver()
           a, b = driver:connect(), driver:connect()
         end
         local round = 0
         function event()
           round = round + 1
           if round % 2 == 1 then b:query('SELECT * FROM no_such_table') end
           local ok, why = pcall(b.query, b, 'SELEC')
           assert(not ok and why:find('errno = 1064'), why)
           a:query('KILL ' .. b:query_row('SELECT CONNECTION_ID()'))
           ok, why = pcall(b.query, b, 'SELECT 1')
           assert(not ok and (why.sql_errno == 2006 or why.sql_errno == 2013), tostring(why))
           assert(b:query_row('SELECT 6') == '6')
         end",
    );
    let run = both_ways(
        &bench,
        "x.lua --threads=4 --events=20 --time=0 --mysql-ignore-errors=1146,2006,2013",
    );
    assert_eq!(run.number("reconnects:"), 20, "{run:?}");
    // Each event is tried twice for its table, and asks for what is no statement once.
    assert_eq!(run.number("ignored errors:"), 40, "{run:?}");
}

#[test]
fn encrypted_and_compressed_connections_wait_in_place_too() {
    let text = "
        function thread_init()
          local driver = sysbench.sql.driver()
          a, b = driver:connect(), driver:connect()
          local word = THE_WORD
          local _, value = a:query_row(\"SHOW STATUS LIKE '\" .. word .. \"'\")
          assert(value ~= '' and value ~= 'OFF', value)
        end
        function event()
          local list = {2, 1, 3}
          table.sort(list, function(x, y) return a:query_row('SELECT ' .. x .. ' < ' .. y) == '1' end)
          assert(table.concat(list, ' ') == '1 2 3')
          assert(#b:query_row(\"SELECT REPEAT('y', 100000)\") == 100000)
          a:query('DO 0')
        end
        function thread_done() assert(a:query_row('SELECT 1') == '1') end";
    for (flavor, option, status) in [
        (Flavor::Mysql, "--mysql-ssl=required", "'Ssl_cipher'"),
        (Flavor::Mariadb, "--mysql-compression=on", "'Compression'"),
    ] {
        let (server, _directory) = weir_testing::start(flavor);
        let bench = Bench::on(&server.endpoint());
        bench.script("x.lua", &text.replace("THE_WORD", status));
        let words = format!("x.lua --threads=4 --events=40 --time=0 {option}");
        let run = both_ways(&bench, &words);
        assert!(
            run.stderr
                .contains("times for the server within a function"),
            "{run:?}"
        );
    }
}

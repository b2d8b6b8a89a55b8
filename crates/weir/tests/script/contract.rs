//! The contract of scripts, row by row, and the test of each. "beside" means that the distribution's sysbench runs
//! the same script with the same command line, and all but numbers must be equal.
//!
//! | what a script may rely on | test |
//! |---|---|
//! | file, module, `#!`, nothing found, no command | `commands::commands_and_options_are_those_of_sysbench`, beside |
//! | the body runs in every state; `sysbench.opt` is filled later | `runs::functions_are_called_in_sysbenchs_order`, beside |
//! | places of modules, the script's folder last | `commands::a_module_*`, `weir-script lua::state::modules` |
//! | commands, parallel ones, `prepare`, `help`, what is lacking | `commands::*`, beside |
//! | exit code of a failed parallel command | `commands::a_parallel_command_fails_when_a_thread_does_and_says_which`; differs on purpose |
//! | options: kinds, defaults, values, list in the help | `commands::commands_and_options_*`, `weir-script lua::tests::declared_options_*`, beside |
//! | `ARG_FILE` | `commands::options_come_from_the_file_of_an_option`, beside |
//! | modules in C, `LUA_CPATH` | `c_modules::*`, beside |
//! | a list of hosts | `hosts::*` |
//! | options of `--config-file` | `contract::options_come_from_a_file`; differs on purpose |
//! | `init`, `thread_init`, `event`, `thread_done`, `done`, `thread_run` | `runs::functions_are_called_in_sysbenchs_order`, beside |
//! | the loop: restart, end by a value, errors | `runs::an_event_is_tried_again_*`, `commands::a_script_that_fails_*`, beside |
//! | `sb_more_events`, own `thread_run`, `--rate` | `runs::a_rate_is_kept`, `reactors::a_script_that_cannot_be_a_coroutine_*` |
//! | fields of `sysbench`, `version`, `cmdline` | `weir-script lua::tests::beside::what_a_script_finds_is_alike`, beside |
//! | hooks, `stat`, `report_csv`, `report_json` | `runs::hooks_replace_the_report`, beside |
//! | random numbers | `contract::random_numbers_have_their_ranges`, beside; the numbers themselves differ |
//! | drivers, connections, statements, parameters | `database::*`, beside |
//! | results, null results, freed ones | `database::results_*`, `contract::misuse_is_logged_alike`, beside |
//! | several results | `database::several_results_*`; 1.0.20 has none |
//! | bulk inserts | `database::a_bulk_insert_fills_a_table`, `weir-script lua::tests::a_bulk_insert_is_sent_*`, beside |
//! | errors: text, restart, hook, reconnect | `database::errors_*`, `losses::*`, beside |
//! | counting of reads, writes, others | `modules::installed_tests_count_as_under_sysbench_*`, beside |
//! | histogram | `runs::a_histogram_is_printed_as_sysbench_does`, beside |
//! | C surface `sb_*` | `weir-script lua::tests::the_c_surface_is_found_by_its_names`, `runs::an_own_count_of_errors_*`, beside |
//! | C surface `db_*` | `contract::the_database_is_reached_by_ffi`, `c_surface::*`, beside |
//! | C surface `sb_histogram_*`, `sb_print_test_options` | `c_surface::prepared_statements_are_used_by_ffi_*`, beside |
//! | several connections of a thread | `own_sockets::*`, `suites::*` |
//! | `oltp_common` and the eleven tests | `modules::*`, beside |
//! | the interface of 0.5 | `contract::a_script_of_0_5_runs`, beside |
//! | `LuaJIT`'s limits: sort, gsub, own coroutines, sleeping | `reactors::*` |
//! | crash, endless loop, exit, much output, missing module | `bad_input::*`, `losses::a_script_that_leaves_*`, `commands::a_module_that_is_missing_*` |
//! | native workloads under the name `sysbench` | `native::*`, beside |
//!
//! Without a test:
//!
//! - 1.1's own words (`Threads initialization failed!`, byte counters, `warmup`): no distribution has that program.
//! - A script from standard input with a text: the tests give none; the empty one is in `native`.
//! - 30 s of `--thread-init-timeout` of a script: the native workloads' is tested in `it::load`.
//! - `sb_lua_set_test_args`: not there. With it, sysbench's own Lua hands a script's options to its C part; Weir reads them
//!   itself.
//! - Times in `db_bind_param`: they lie in a struct of MySQL's client library, which Weir does not have; they are refused.

use weir_model::Flavor;

use crate::beside::Bench;

fn on_server(flavor: Flavor, text: &str, words: &str) {
    let (server, _directory) = weir_testing::start(flavor);
    let bench = Bench::on(&server.endpoint());
    bench.script("x.lua", text);
    let run = bench.same(words);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn random_numbers_have_their_ranges() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "local r = sysbench.rand
         local function within(name, low, high)
           local least, most = math.huge, -math.huge
           for _ = 1, 2000 do
             local n = r[name](low, high)
             least, most = math.min(least, n), math.max(most, n)
           end
           print(name, least >= low, most <= high, least < most)
         end
         function event()
           for _, name in ipairs{'default', 'uniform', 'gaussian', 'special', 'pareto'} do
             within(name, 5, 25)
           end
           print(#r.string('##-@@'), r.string('##-@@'):match('^%d%d%-%l%l$') ~= nil, r.string('abc'))
           print(type(r.uniform_double()), r.uniform_double() < 1, type(r.uniform_uint64()))
           print(r.unique() ~= r.unique(), pcall(r.uniform, 'x', 'y'))
           print(r.uniform(3.9, 3.1))
         end",
    );
    let run = bench.same("x.lua --events=1 run");
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn misuse_is_logged_alike() {
    let text = "
        function event()
          local con = sysbench.sql.driver():connect()
          local rs = con:query('SELECT 1 UNION SELECT 2')
          print(rs.nrows, rs.nfields, tostring(rs), tostring(con))
          rs:free()
          print(pcall(rs.free, rs))
          local none = con:query('SELECT 1 FROM DUAL WHERE 1 = 0')
          print(none.nrows, none:fetch_row())
          con:disconnect()
          con:disconnect()
          print(pcall(con.query, con, 'SELECT 1'))
        end";
    on_server(Flavor::Mysql, text, "x.lua --events=1 run");
}

#[test]
fn a_script_of_0_5_runs() {
    let text = "
        function set_vars() size = tonumber(oltp_table_size) or 7 end
        function prepare()
          set_vars()
          db_connect()
          print('size', size, type(thread_id), test)
          db_query('CREATE TABLE old (id INT PRIMARY KEY, c CHAR(5))')
          db_bulk_insert_init('INSERT INTO old VALUES')
          for row = 1, size do db_bulk_insert_next('(' .. row .. \", '\" .. sb_rand_str('@@@') .. \"')\") end
          db_bulk_insert_done()
        end
        function thread_init()
          set_vars()
          db_connect()
          stmt = db_prepare('UPDATE old SET c = ? WHERE id = ?')
          params = { 'a', 1 }
          db_bind_param(stmt, params)
        end
        function event()
          params[1], params[2] = sb_rand_str('@@@@@'), sb_rand_uniform(1, size)
          db_query('BEGIN')
          db_execute(stmt)
          db_query('COMMIT')
          local rs = db_query('SELECT 1')
          if rs then error('db_query returns nothing') end
        end
        function cleanup()
          db_connect()
          db_query('DROP TABLE old')
        end";
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
    let bench = Bench::on(&server.endpoint());
    bench.script("x.lua", text);
    // Each makes the table anew.
    let theirs = bench.theirs("x.lua --oltp-table-size=5 prepare");
    let dropped = bench.theirs("x.lua cleanup");
    let ours = bench.ours("x.lua --oltp-table-size=5 prepare");
    if let (Some(theirs), Some(dropped)) = (theirs, dropped) {
        assert_eq!(
            crate::beside::masked(&ours),
            crate::beside::masked(&theirs),
            "{ours:?}"
        );
        assert_eq!(dropped.code, Some(0), "{dropped:?}");
    }
    let run = bench.same("x.lua --oltp-table-size=5 --threads=2 --events=20 run");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(bench.ours("x.lua cleanup").code, Some(0));
}

/// sysbench loses values of options that only the script declares.
#[test]
fn options_come_from_a_file() {
    let bench = Bench::new();
    bench.script("options.cnf", "threads=3\nfoo=9\n");
    bench.script(
        "x.lua",
        "sysbench.cmdline.options = { foo = {'Foo', 5} }
         function prepare() print(sysbench.opt.threads, sysbench.opt.foo) end",
    );
    let run = bench.ours("x.lua --config-file=options.cnf prepare");
    assert!(run.stdout.ends_with("3\t9\n"), "{run:?}");
}

/// As sysbench's own modules do it, and with its names.
#[test]
fn the_database_is_reached_by_ffi() {
    let text = "
        local C = ffi.C
        local function query(con, text) return C.db_query(con, text, #text) end
        function thread_init()
          drv = C.db_create(nil)
          con = C.db_connection_create(drv)
          assert(con ~= nil)
        end
        function event()
          local rs = query(con, \"SELECT 7, NULL, 'text' UNION SELECT 8, 'x', ''\")
          print(rs.nrows, rs.nfields)
          local row = C.db_fetch_row(rs)
          local values = row.values
          print(ffi.string(values[0].ptr, values[0].len), values[1].ptr == nil,
                ffi.string(values[2].ptr, values[2].len))
          assert(C.db_fetch_row(rs) ~= nil and C.db_fetch_row(rs) == nil)
          assert(C.db_free_results(rs) == 0)
          assert(query(con, 'SELECT * FROM nowhere') == nil)
          print(con.sql_errno, ffi.string(con.sql_state))
          assert(query(con, 'CREATE TEMPORARY TABLE b (id INT)') == nil and con.sql_errno == 0)
          local function text(call, words) return call(con, words, #words) end
          assert(text(C.db_bulk_insert_init, 'INSERT INTO b VALUES') == 0)
          for row = 1, 3 do assert(text(C.db_bulk_insert_next, '(' .. row .. ')') == 0) end
          assert(C.db_bulk_insert_done(con) == 0)
          rs = query(con, 'SELECT COUNT(*) FROM b')
          print(ffi.string(C.db_fetch_row(rs).values[0].ptr, 1))
          query(con, 'DROP TEMPORARY TABLE b')
        end
        function thread_done()
          assert(C.db_connection_close(con) == 0)
          C.db_connection_free(con)
          assert(C.db_destroy(drv) == 0)
        end";
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
    let bench = Bench::on(&server.endpoint());
    bench.script("x.lua", text);
    for driving in ["os", "reactor"] {
        let words =
            format!("x.lua --events=1 --mysql-ignore-errors=1146 --lua-threads={driving} run");
        let run = bench.ours(&words);
        assert_eq!(run.code, Some(0), "{run:?}");
        for line in ["2\t3\n", "7\ttrue\ttext\n", "1146\t42S02\n", "3\n"] {
            assert!(run.stdout.contains(line), "{line} {run:?}");
        }
        assert_eq!(run.counts(), [2, 1, 2, 1], "{run:?}");
    }
}

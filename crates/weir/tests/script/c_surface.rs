//! The C surface that modules declare: prepared statements, histograms and the list of options, beside the
//! distribution's sysbench.

use weir_model::Flavor;

use crate::beside::Bench;

/// Declares values of all types; with a value that is no text, a text, and NULL.
const VALUES: &str = "
    local C = ffi.C
    local function text(call, con, words) return call(con, words, #words) end
    local all = {}
    local function values(...)
      local list = {...}
      local bound, kept = ffi.new('sql_bind[?]', #list), {}
      -- What is bound must not be collected.
      all[#all + 1] = { bound, kept }
      for at, value in ipairs(list) do
        local one, kind, ctype, data = bound[at - 1], unpack(value)
        one.type = C['SQL_TYPE_' .. kind]
        if ctype == 'text' then
          kept[at] = { ffi.new('char[?]', #data + 1, data), ffi.new('unsigned long[1]', #data) }
          one.buffer, one.data_len, one.max_len = kept[at][1], kept[at][2], #data
        else
          kept[at] = { ffi.new(ctype .. '[1]', data), ffi.new('char[1]', data == 99 and 1 or 0) }
          one.buffer, one.is_null = kept[at][1], kept[at][2]
        end
      end
      return bound, kept
    end
    function thread_init()
      drv = C.db_create(nil)
      con = C.db_connection_create(drv)
    end
";

#[test]
fn prepared_statements_are_used_by_ffi_as_under_sysbench() {
    let text = format!(
        "{VALUES}
        function event()
          local words = 'SELECT 1 FROM DUAL WHERE ? = -3 AND ? = -300 AND ? = 70000 AND ? = 5000000000 AND ? < 0.5 ' ..
            \"AND ? = 0.25 AND ? = 'ab' AND ? = 'cde' AND ? IS NULL\"
          local st = text(C.db_prepare, con, words)
          print(st ~= nil, st.connection == con, con.error == C.DB_ERROR_NONE)
          local bound, kept = values({{'TINYINT', 'int8_t', -3}}, {{'SMALLINT', 'int16_t', -300}}, {{'INT', 'int32_t', 70000}},
            {{'BIGINT', 'int64_t', 5000000000}}, {{'FLOAT', 'float', 0.1}}, {{'DOUBLE', 'double', 0.25}},
            {{'CHAR', 'text', 'ab'}}, {{'VARCHAR', 'text', 'cde'}}, {{'INT', 'int32_t', 99}})
          print('bind', C.db_bind_param(st, bound, 9))
          local function rows()
            local rs = C.db_execute(st)
            if rs == nil then return 'none', tonumber(con.error) end
            local rows = rs.nrows
            print(rs.statement == st)
            C.db_free_results(rs)
            return rows
          end
          print('rows', rows())
          kept[3][1][0] = 70001
          print('rows', rows())
          kept[3][1][0] = 70000
          kept[9][2][0] = 0
          print('rows', rows())
          print('few', C.db_bind_param(st, bound, 2))
          print('close', C.db_close(st))
          st = text(C.db_prepare, con, 'SELECT 7')
          local out, number = values({{'BIGINT', 'int64_t', -1}})
          print('result', C.db_bind_result(st, out, 1), rows(), tonumber(number[1][1][0]))
          C.db_close(st)
          st = text(C.db_prepare, con, 'DO ?')
          print('set', C.db_bind_param(st, values({{'INT', 'int32_t', 1}}), 1), rows())
          C.db_close(st)
          print('bad', text(C.db_prepare, con, 'SELEC') == nil, tonumber(con.error), con.sql_errno)
          print('where', text(C.db_prepare, con, 'DO (SELECT 1 FROM no_such_table)') == nil)
          local h = C.sb_histogram_new(1000, 0.1, 1000)
          for _, value in ipairs{{5, 5.1, 5.1, 300, 0.001, 1e6}} do C.sb_histogram_update(h, value) end
          C.sb_histogram_print(h)
          C.sb_histogram_delete(h)
          C.sb_print_test_options()
        end
        function thread_done()
          C.db_connection_close(con)
          C.db_connection_free(con)
        end
        sysbench.cmdline.options = {{ foo = {{'Foo', 5}}, another = {{'Text'}} }}"
    );
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        let (server, _directory) = weir_testing::start(flavor);
        let bench = Bench::on(&server.endpoint());
        bench.script("x.lua", &text);
        let run = bench.same("x.lua --events=1 run");
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(run.counts(), [4, 0, 1, 1], "{run:?}");
        for line in ["rows\t1\n", "rows\t0\n", "few\t1\n", "set\t0\tnone\t0\n"] {
            assert!(run.stdout.contains(line), "{line} {run:?}");
        }
    }
}

/// What sysbench crashes at, or leaves out.
#[test]
fn rows_of_prepared_statements_are_fetched_by_ffi() {
    let text = format!(
        "{VALUES}
        function event()
          local st = text(C.db_prepare, con, \"SELECT ?, NULL, 'x'\")
          assert(C.db_bind_param(st, values({{'INT', 'int32_t', 42}}), 1) == 0)
          local rs = C.db_execute(st)
          local value = C.db_fetch_row(rs).values
          print(rs.nfields, ffi.string(value[0].ptr, value[0].len), value[1].ptr == nil, ffi.string(value[2].ptr))
          assert(C.db_fetch_row(rs) == nil and C.db_free_results(rs) == 0 and C.db_close(st) == 0)
          print('time', C.db_bind_param(text(C.db_prepare, con, 'DO ?'), values({{'DATETIME', 'int64_t', 0}}), 1))
          print('nothing', C.db_prepare(nil, nil, 0) == nil, C.db_execute(nil) == nil, C.db_close(nil),
            C.db_bind_param(nil, nil, 0), C.db_bind_result(nil, nil, 0))
          local unbound = text(C.db_prepare, con, 'DO ?')
          print('unbound', C.db_execute(unbound) == nil, con.sql_errno)
        end"
    );
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
    let bench = Bench::on(&server.endpoint());
    bench.script("x.lua", &text);
    for driving in ["os", "reactor"] {
        for mode in ["auto", "disable"] {
            let words = format!("x.lua --events=1 --db-ps-mode={mode} --lua-threads={driving} run");
            let run = bench.ours(&words);
            assert_eq!(run.code, Some(0), "{run:?}");
            for line in [
                "3\t42\ttrue\tx\n",
                "FATAL: a parameter has a type that cannot be bound\ntime\t1\n",
                "nothing\ttrue\ttrue\t1\t1\t1\n",
                "unbound\ttrue\t2031\n",
            ] {
                assert!(run.stdout.contains(line), "{mode} {line} {run:?}");
            }
        }
    }
}

//! Scripts in a state whose host is a table of answers.

mod beside;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::lua::{
    CommandKind, Counter, Errors, Failure, Host, Identity, Level, OptionValue, Parameter,
    RandomKind, Refusal, Reply, Request, Rows, ScriptError, State, option_list,
};

/// Host of a test: its requests, and its answers.
#[derive(Default)]
struct TestHost {
    requests: Vec<String>,
    answers: VecDeque<Result<Reply, Failure>>,
    log: Vec<String>,
    counted: Vec<Counter>,
    events: u32,
    timed: Vec<&'static str>,
    disconnected: Vec<u32>,
    connections: u32,
}

#[derive(Clone, Default)]
struct Fake(Rc<RefCell<TestHost>>);

impl Host for Fake {
    fn connect(&mut self) -> Result<u32, Failure> {
        let mut seen = self.0.borrow_mut();
        seen.connections += 1;
        Ok(seen.connections)
    }
    fn disconnect(&mut self, connection: u32) {
        self.0.borrow_mut().disconnected.push(connection);
    }
    fn reconnect(&mut self, _: u32) -> Result<(), Failure> {
        Ok(())
    }
    fn request(&mut self, _: u32, request: Request<'_>) -> Result<Reply, Failure> {
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let asked = match request {
            Request::Query(text) => words(text),
            Request::Prepare(text) => format!("prepare {}", words(text)),
            Request::Execute {
                statement, values, ..
            } => format!("execute {statement} {values:?}"),
            Request::Close(statement) => format!("close {statement}"),
            Request::NextResult => "next".to_owned(),
        };
        let mut seen = self.0.borrow_mut();
        seen.requests.push(asked);
        seen.answers.pop_front().unwrap_or_else(|| Ok(done(0)))
    }
    fn log(&mut self, level: Level, line: &str) {
        self.0.borrow_mut().log.push(format!("{level:?}: {line}"));
    }
    fn uses_sql(&mut self) {}
    fn count(&mut self, counter: Counter) {
        self.0.borrow_mut().counted.push(counter);
    }
    fn has_more_events(&mut self) -> bool {
        let mut seen = self.0.borrow_mut();
        let has_more = seen.events > 0;
        seen.events = seen.events.saturating_sub(1);
        has_more
    }
    fn begin_event(&mut self) {
        self.0.borrow_mut().timed.push("begin");
    }
    fn end_event(&mut self) {
        self.0.borrow_mut().timed.push("end");
    }
    fn random(&mut self, _: RandomKind, low: u32, _: u32) -> u32 {
        low
    }
    fn random_bits(&mut self) -> u64 {
        u64::MAX
    }
    fn unique(&mut self) -> u32 {
        7
    }
}

fn done(affected_rows: u64) -> Reply {
    Reply::Done {
        affected_rows,
        has_more: false,
    }
}

fn rows(fields: usize, cells: &[Option<&str>]) -> Reply {
    let mut rows = Rows {
        fields,
        ..Rows::default()
    };
    for cell in cells {
        let start = rows.bytes.len();
        rows.bytes
            .extend_from_slice(cell.unwrap_or_default().as_bytes());
        rows.cells.push(cell.map(|_| start..rows.bytes.len()));
    }
    Reply::Rows(rows)
}

fn refused(code: u16, message: &str) -> Result<Reply, Failure> {
    Err(Failure::Refused(Refusal {
        code,
        state: "40001".to_owned(),
        message: message.to_owned(),
        place: String::new(),
    }))
}

fn state_of(fake: &Fake, identity: &Identity, text: &str) -> Result<State, ScriptError> {
    let state = State::new(identity, Box::new(fake.clone()))?;
    state.run_body(text.as_bytes(), "x.lua")?;
    Ok(state)
}

fn script(fake: &Fake, text: &str) -> State {
    state_of(fake, &Identity::default(), text).unwrap()
}

/// A script whose `check` asserts in Lua.
fn checks(fake: &Fake, text: &str) {
    script(fake, &format!("function check()\n{text}\nend"))
        .call("check", ())
        .unwrap();
}

#[test]
fn an_error_is_told_with_script_and_line() {
    let fake = Fake::default();
    let error = |text: &str| {
        state_of(&fake, &Identity::default(), text)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(error("\nfoo ("), "x.lua:2: unexpected symbol near '<eof>'");
    assert_eq!(error("error('hey')"), "x.lua:1: hey");
    assert_eq!(error("error({})"), "(not a string)");
    assert!(error("require 'nosuch'").starts_with("x.lua:1: module 'nosuch' not found:"));
    let state = script(
        &fake,
        "#!/usr/bin/env sysbench\nfunction event() local x; x.y = 1 end",
    );
    assert_eq!(
        state.call("event", 0).unwrap_err().to_string(),
        "`event' function failed: x.lua:2: attempt to index local 'x' (a nil value)"
    );
}

#[test]
fn declared_options_have_kinds_defaults_and_a_list() {
    let state = script(
        &Fake::default(),
        "sysbench.cmdline.options = { foo = {'Foo option', 5}, bar = {'Bar', 'x'}, baz = {'Baz'},
           lst = {'L', {'a', 'b'}}, bb = {'B', true}, ii = {'I', 3, sysbench.cmdline.ARG_INT} }
         function check()
           local o = sysbench.opt
           assert(o.foo == 1 and o.bar == 'x' and o.baz == '' and #o.lst == 2 and o.bb == true and o.ii == 3)
         end",
    );
    let options = state.options().unwrap();
    assert_eq!(
        option_list(&options),
        "  --bar=STRING     Bar [x]\n  --baz=STRING     Baz\n  --bb[=on|off]    B [on]\n  \
         --foo=N          Foo option [5]\n  --ii=N           I [3]\n  --lst=[LIST,...] L [a,b]\n\n"
    );
    let value = |option: &crate::lua::ScriptOption| match option.name.as_str() {
        "foo" => option.value(Some("1M")),
        _ => option.default_value(),
    };
    let values: Vec<_> = options
        .iter()
        .map(|option| (option.name.clone(), value(option).unwrap()))
        .collect();
    state.set_options(values).unwrap();
    state.call("check", ()).unwrap();
    let whole = options.iter().find(|option| option.name == "ii").unwrap();
    assert_eq!(
        whole.value(Some("7x")).unwrap_err().to_string(),
        "Invalid value for the 'ii' option: '7x'"
    );
    assert_eq!(whole.value(Some("-7")), Ok(OptionValue::Number(-7.0)));
    let wrong = script(&Fake::default(), "sysbench.cmdline.options = 5");
    let wrong = wrong.options().unwrap_err().to_string();
    assert!(
        wrong.starts_with("`sysbench.cmdline.read_cmdline_options' function failed: [string \"sysbench.cmdline.lua\"]:")
            && wrong.ends_with("wrong type for sysbench.cmdline.options: number"),
        "{wrong}"
    );
}

#[test]
fn a_command_of_the_script_wins_and_says_how_it_ended() {
    let state = script(
        &Fake::default(),
        "sysbench.cmdline.commands = {
           go = {function() return 5 end, sysbench.cmdline.PARALLEL_COMMAND}, one = {function() return false end} }
         function cleanup() end",
    );
    assert_eq!(state.command("go"), Some(CommandKind::Parallel));
    assert_eq!(state.command("one"), Some(CommandKind::Single));
    assert_eq!(state.command("cleanup"), None);
    assert_eq!(state.call_command("go"), Ok(true));
    assert_eq!(state.call_command("one"), Ok(false));
    assert!(state.has_function("cleanup") && !state.has_function("prepare"));
}

#[test]
fn an_event_is_tried_again_within_its_time_and_one_that_ends_the_loop_is_not_counted() {
    let fake = Fake::default();
    fake.0.borrow_mut().events = 5;
    let state = script(
        &fake,
        "local n = 0
         function sysbench.hooks.before_restart_event(err) assert(err.errcode == 1) hooked = true end
         function event()
           n = n + 1
           if n == 2 then error({ errcode = sysbench.error.RESTART_EVENT }) end
           if n == 4 then return 0 end
         end
         function check() assert(hooked and n == 4) end",
    );
    state.call("thread_run", 0).unwrap();
    assert_eq!(
        fake.0.borrow().timed,
        ["begin", "end", "begin", "end", "begin"]
    );
    state.call("check", ()).unwrap();
}

#[test]
fn the_c_surface_is_found_by_its_names() {
    let fake = Fake::default();
    checks(
        &fake,
        "ffi.cdef[[ void sb_counter_inc(int, sb_counter_type); int usleep(unsigned); ]]
         ffi.C.sb_counter_inc(0, ffi.C.SB_CNT_ERROR)
         assert(ffi.C.sb_rand_uniform(3, 9) == 3 and sysbench.rand.default(4.9, 5) == 4)
         assert(sysbench.rand.unique() == 7 and sysbench.rand.uniform_double() < 1)
         assert(not pcall(sysbench.rand.uniform, 'x', 2))
         assert(sysbench.rand.string('#-@') == '0-a')
         local out = ffi.new('char[4]')
         ffi.C.sb_rand_str('@#x', out)
         assert(ffi.string(out) == 'a0x')",
    );
    assert_eq!(fake.0.borrow().counted, [Counter::Error]);
}

#[test]
fn results_are_text_with_holes_and_end_with_the_next_call() {
    let fake = Fake::default();
    let answers = [
        Ok(rows(2, &[Some("1"), None, Some("2"), Some("b")])),
        Ok(done(3)),
        Ok(rows(1, &[])),
        Ok(rows(2, &[Some("x"), Some("y")])),
        Ok(done(0)),
    ];
    fake.0.borrow_mut().answers.extend(answers);
    checks(
        &fake,
        "local con = sysbench.sql.driver():connect()
         assert(tostring(con) == '<sql_connection>' and con.driver:name() == 'mysql')
         local rs = con:query('SELECT a')
         assert(rs.nrows == 2 and rs.nfields == 2 and tostring(rs) == '<sql_result>')
         local row = rs:fetch_row()
         assert(row[1] + 1 == 2 and row[2] == nil)
         local nothing = con:query('UPDATE a')
         assert(nothing == nil and rs:fetch_row() == nil)
         local ok, why = pcall(function() return nothing.nrows end)
         assert(not ok and why:find(\"x.lua:%d+: attempt to read 'nrows'\"), why)
         local empty = con:query('SELECT none')
         assert(empty.nrows == 0 and empty:fetch_row() == nil)
         empty:free()
         assert(select(2, pcall(empty.free, empty)):find('db_free_results%(%) failed'))
         local x, y = con:query_row('SELECT x')
         assert(x == 'x' and y == 'y' and select('#', con:query_row('BEGIN')) == 1)",
    );
    let seen = fake.0.borrow();
    assert_eq!(
        seen.counted,
        [
            Counter::Read,
            Counter::Write,
            Counter::Read,
            Counter::Read,
            Counter::Other
        ]
    );
    assert_eq!(
        seen.log,
        [
            "Alert: attempt to fetch row from an empty result set",
            "Alert: attempt to free an invalid result set"
        ]
    );
    assert_eq!(seen.disconnected, [1]);
}

#[test]
fn an_ignored_error_restarts_and_another_is_text_with_its_line() {
    let fake = Fake::default();
    let answers = [
        refused(1213, "Deadlock found"),
        refused(1064, "Syntax"),
        refused(1205, "Hooked"),
        refused(2013, "Lost connection"),
    ];
    fake.0.borrow_mut().answers.extend(answers);
    let identity = Identity {
        errors: Errors::Codes(vec![1213, 2013]),
        ..Identity::default()
    };
    let state = state_of(
        &fake,
        &identity,
        "function check()
           local con = sysbench.sql.driver():connect()
           local function ask() con:query('Q') end
           local _, err = pcall(ask)
           assert(err.sql_errno == 1213 and err.errcode == sysbench.error.RESTART_EVENT and err.query == 'Q')
           _, err = pcall(ask)
           assert(err == \"x.lua:3: SQL error, errno = 1064, state = '40001': Syntax\", err)
           function sysbench.hooks.sql_error_ignorable(e) return e.sql_errno == 1205 end
           _, err = pcall(ask)
           assert(err.sql_errno == 1205 and con.error == sysbench.sql.error.IGNORABLE)
           _, err = pcall(ask)
           assert(err.sql_errno == 2013)
           con:disconnect() con:disconnect()
           _, err = pcall(ask)
           assert(err == 'SQL API error', err)
         end",
    )
    .unwrap();
    state.call("check", ()).unwrap();
    let seen = fake.0.borrow();
    assert_eq!(
        seen.counted,
        [
            Counter::Error,
            Counter::Error,
            Counter::Error,
            Counter::Reconnect
        ]
    );
    assert_eq!(
        seen.log,
        [
            "Fatal: mysql_drv_query() returned error 1064 (Syntax) for query 'Q'",
            "Fatal: mysql_drv_query() returned error 1205 (Hooked) for query 'Q'",
            "Alert: attempt to close an already closed connection",
            "Alert: attempt to use an already closed connection",
        ]
    );
}

const STATEMENT: &str = "
    local con = sysbench.sql.driver():connect()
    local stmt = con:prepare(\"SELECT '?' WHERE a = ? AND b = ? AND c = ?\")
    local t = sysbench.sql.type
    local a, b, c = stmt:bind_create(t.INT), stmt:bind_create(t.CHAR, 3), stmt:bind_create(t.DOUBLE)
    assert(tostring(a) == '<sql_param>' and tostring(stmt) == '<sql_statement>')
    assert(select(2, pcall(stmt.execute, stmt)):find('errno = 2031'))
    assert(stmt:bind_param() == nil and stmt:bind_param(a) == 1)
    stmt:bind_param(a, b, c)
    stmt:execute()
    a:set(-7.9) b:set(\"it's\") c:set(1.5)
    stmt:execute()
    a:set(9007199254740993LL) b:set(nil)
    stmt:execute()
    stmt:close()
    assert(select(2, pcall(stmt.bind_create, stmt, t.DATE)):find('Unsupported argument type: 8'))";

#[test]
fn parameters_are_bound_by_reference() {
    let fake = Fake::default();
    let prepared = Reply::Prepared {
        statement: 4,
        parameters: 3,
    };
    fake.0.borrow_mut().answers.push_back(Ok(prepared));
    checks(&fake, STATEMENT);
    let executed = |values: [Parameter; 3]| format!("execute 4 {:?}", &values[..]);
    let text = |text: &str| Parameter::Text(text.into());
    assert_eq!(
        fake.0.borrow().requests[1..],
        [
            executed([Parameter::Integer(0), text(""), Parameter::Real(0.0)]),
            executed([Parameter::Integer(-7), text("it'"), Parameter::Real(1.5)]),
            executed([
                Parameter::Integer(9_007_199_254_740_993),
                Parameter::Null,
                Parameter::Real(1.5)
            ]),
            "close 4".to_owned(),
        ]
    );
}

#[test]
fn statements_that_are_not_prepared_carry_their_values() {
    let fake = Fake::default();
    let identity = Identity {
        sends_text: true,
        ..Identity::default()
    };
    let text = format!("function check() {STATEMENT} end");
    let state = state_of(&fake, &identity, &text).unwrap();
    state.call("check", ()).unwrap();
    assert_eq!(
        fake.0.borrow().requests[1],
        "SELECT '?' WHERE a = -7 AND b = 'it''' AND c = 1.5"
    );
}

#[test]
fn a_bulk_insert_is_sent_in_pieces_of_half_a_mebibyte() {
    let fake = Fake::default();
    checks(
        &fake,
        "local con = sysbench.sql.driver():connect()
         assert(not pcall(con.bulk_insert_next, con, '(0)'))
         con:bulk_insert_init('INSERT INTO t VALUES')
         con:bulk_insert_done()
         con:bulk_insert_init('INSERT INTO t VALUES')
         local row = '(' .. ('x'):rep(300 * 1024) .. ')'
         con:bulk_insert_next('(1)') con:bulk_insert_next('(2)')
         con:bulk_insert_next(row) con:bulk_insert_next(row)
         con:bulk_insert_done()",
    );
    let seen = fake.0.borrow();
    assert_eq!(seen.requests.len(), 2);
    assert!(seen.requests[0].starts_with("INSERT INTO t VALUES (1), (2), (xxx"));
    assert!(seen.requests[1].starts_with("INSERT INTO t VALUES (xxx"));
}

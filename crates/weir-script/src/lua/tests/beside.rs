//! The same script beside the distribution's sysbench, where it is installed; else these tests say so
//! and end.

use std::fs;
use std::process::Command;

use super::{Fake, script};
use crate::lua::{Identity, ScriptError, State, option_list};

/// Returns the output of sysbench below its version for a script; nothing where it is not
/// installed.
fn sysbench(text: &str, arguments: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.lua"), text).unwrap();
    let run = Command::new("sysbench")
        .arg("x.lua")
        .args(arguments)
        .current_dir(folder.path())
        .output();
    let Ok(output) = run else {
        println!("skipped: sysbench is not installed; scripts/setup.sh --bench installs it");
        return None;
    };
    let printed = String::from_utf8(output.stdout).unwrap();
    let (version, rest) = printed.split_once("\n\n").unwrap();
    assert!(version.starts_with("sysbench 1.0.20"), "{version}");
    Some(rest.to_owned())
}

/// The line with which sysbench gives a script up.
fn fatal(text: &str) -> Option<String> {
    let printed = sysbench(text, &["--time=1", "run"])?;
    let mut lines = printed.lines();
    let line = lines.find_map(|line| line.strip_prefix("FATAL: "));
    Some(line.expect("sysbench gives the script up").to_owned())
}

/// As `run` does with one thread and one event.
fn our_fatal(text: &str) -> String {
    let run = || -> Result<(), ScriptError> {
        let fake = Fake::default();
        fake.0.borrow_mut().events = 1;
        let identity = Identity {
            version: "1.0.20".to_owned(),
            ..Identity::default()
        };
        let state = State::new(&identity, Box::new(fake))?;
        state.run_body(text.as_bytes(), "x.lua")?;
        for name in ["thread_init", "thread_run", "thread_done"] {
            if state.has_function(name) {
                state.call(name, 0)?;
            }
        }
        Ok(())
    };
    run().map_or_else(|error| error.to_string(), |()| String::new())
}

#[test]
fn options_are_listed_alike() {
    let text = "sysbench.cmdline.options = {
        number = { 'A number', 5 }, text = { 'A text', 'x' }, none = { 'No default' }, list = { 'A list', { 'a', 'b' } },
        switch = { 'A switch', true }, off = { 'Off', false }, whole = { 'Whole', 3, sysbench.cmdline.ARG_INT },
        size = { 'A size', '1K', sysbench.cmdline.ARG_SIZE }, ['with-dash'] = { 'A dash', 0.5 } }";
    let Some(printed) = sysbench(text, &["help"]) else {
        return;
    };
    let options = script(&Fake::default(), text).options().unwrap();
    assert_eq!(
        format!("x.lua options:\n{}", option_list(&options)),
        printed
    );
}

#[test]
fn scripts_fail_with_the_same_line() {
    for text in [
        "function event()\n  foo (\nend",
        "local x\nfunction event() x.y = 1 end",
        "function event() error('hey') end",
        "function event() error('hey', 0) end",
        "function event() error({}) end",
        "function event() error(setmetatable({}, { __tostring = function() return 'x' end })) end",
        "function thread_init() error('not ready') end function event() end",
        "function event() sysbench.rand.nothing() end",
        "error('in the body')",
    ] {
        let Some(line) = fatal(text) else { return };
        assert_eq!(our_fatal(text), line, "{text}");
    }
}

/// The script raises what it sees.
#[test]
fn what_a_script_finds_is_alike() {
    for seen in [
        "type(ffi) .. type(bit) .. type(unpack) .. type(loadstring) .. type(setfenv) .. type(newproxy)",
        "tostring(sysbench.tid) .. sysbench.version .. sysbench.error.RESTART_EVENT",
        "sysbench.sql.type.NONE .. sysbench.sql.type.INT .. sysbench.sql.type.VARCHAR",
        "sysbench.sql.error.NONE .. sysbench.sql.error.IGNORABLE .. sysbench.sql.error.FATAL",
        "tostring(ffi.C.SB_CNT_OTHER) .. tostring(ffi.C.SB_CNT_ERROR) .. tostring(ffi.C.SB_CNT_RECONNECT)",
        "sysbench.cmdline.ARG_NULL .. sysbench.cmdline.ARG_FILE .. sysbench.cmdline.ARG_MAX",
        "type(sysbench.rand.uniform(1, 1.9)) .. sysbench.rand.uniform(1, 1.9)",
        "tostring(pcall(sysbench.rand.uniform, 'a', 1))",
        "tostring(sysbench.rand.string('ab')) .. type(sysbench.rand.uniform_uint64())",
        "type(sysbench.hooks) .. tostring(next(sysbench.hooks)) .. tostring(sysbench.cmdline.PARALLEL_COMMAND)",
    ] {
        let text = format!("function event() error({seen}, 0) end");
        let Some(line) = fatal(&text) else { return };
        let ours = our_fatal(&text);
        assert_eq!(ours, line, "{seen}");
    }
}

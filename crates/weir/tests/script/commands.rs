//! Commands, options and errors that need no server.

use crate::beside::Bench;

const COMMANDS: &str = r#"
sysbench.cmdline.options = { foo = {"Foo", 5}, list = {"A list", {"a", "b"}}, on = {"A switch", false},
  whole = {"Whole", 3, sysbench.cmdline.ARG_INT}, size = {"Size", "1K", sysbench.cmdline.ARG_SIZE} }
sysbench.cmdline.commands = {
  par = { function() end, sysbench.cmdline.PARALLEL_COMMAND },
  one = { function() return false end },
  two = { function() local o = sysbench.opt print(o.foo, #o.list, o.on, o.whole, o.size, o.threads, o.mysql_db) end },
}
function prepare() print("prepare", sysbench.tid, sysbench.cmdline.command, sysbench.cmdline.script_path) end
"#;

#[test]
fn commands_and_options_are_those_of_sysbench() {
    let bench = Bench::new();
    bench.script("x.lua", COMMANDS);
    for words in [
        "x.lua",
        "x.lua help",
        "x.lua prepare",
        "x.lua cleanup",
        "x.lua bogus",
        "x.lua run",
        "x.lua one",
        "x.lua --threads=3 par",
        "x.lua par",
        "x.lua two",
        "x.lua --foo=2.5z --list=x,y,z --on --whole=7 --size=3M --threads=2 --mysql-db=other two",
        "x.lua --foo --list --whole= two",
        "x.lua --whole=7x two",
        "x.lua --unknown=1 two",
        "x.lua --rtt=1ms two",
        "x.lua --unknown=1",
        "nosuch.lua run",
    ] {
        bench.same(words);
    }
    assert_eq!(bench.ours("x.lua bogus").stderr, "Unknown command: bogus\n");
}

#[test]
fn a_script_that_fails_says_where_and_ends_with_1() {
    let bench = Bench::new();
    for text in [
        "x = = 1",
        "error('in the body')",
        "error({})",
        "function event() local x x.y = 1 end",
        "function init() error('init') end function event() end",
        "function thread_init() error('thread_init') end function event() end",
        "function event() end function thread_done() error('thread_done') end",
        "function event() end function done() error('done') end",
        "function event() return 0 end",
        "function prepare() error('prepare') end function event() ffi.C.nosuch() end",
        "function event() error() end",
        "sysbench.cmdline.options = 5 function event() end",
        "os.exit(3)",
        "function event() os.exit(4) end",
    ] {
        bench.script("x.lua", text);
        for words in ["x.lua --events=2 run", "x.lua prepare"] {
            bench.same(words);
        }
    }
}

#[test]
fn one_of_many_threads_that_fails_ends_the_run_with_one_line() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "ffi.cdef('int usleep(unsigned);')
         function event()
           ffi.C.usleep(1000)
           if sysbench.tid == 40 then error('thread 40') end
         end
         function done() print('done') end",
    );
    let run = bench.same("x.lua --threads=64 run");
    assert_eq!(run.code, Some(1));
    assert!(
        run.stdout
            .contains("FATAL: `thread_run' function failed: x.lua:4: thread 40\n")
    );
    assert!(run.stdout.ends_with("done\n"), "{}", run.stdout);
}

/// Beside sysbench: the lines of a file stand in the place of its name.
#[test]
fn options_come_from_the_file_of_an_option() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "sysbench.cmdline.options = { foo = {'Foo', 5}, the_word = {'Word', 'w'},
           settings = {'A file', nil, sysbench.cmdline.ARG_FILE} }
         local function show() local o = sysbench.opt print(o.foo, o.the_word, o.settings) end
         prepare = show
         sysbench.cmdline.commands = { par = { show, sysbench.cmdline.PARALLEL_COMMAND } }",
    );
    bench.script("own.cnf", "# of the test\n\nfoo=9\nthe-word=other\n");
    for (words, shown) in [
        ("--settings=own.cnf prepare", "9\tother\tnil\n"),
        ("--settings=own.cnf --foo=1 prepare", "1\tother\tnil\n"),
        ("--foo=1 --settings=own.cnf prepare", "9\tother\tnil\n"),
        ("--settings= prepare", "5\tw\tnil\n"),
        // One thread: the words of two stand in any order, in either program.
        ("--settings=own.cnf --threads=1 par", "9\tother\tnil\n"),
        ("help", "--settings=FILENAME A file\n"),
    ] {
        let run = bench.same(&format!("x.lua {words}"));
        assert!(run.stdout.contains(shown), "{words} {run:?}");
    }
    // sysbench goes on without the file, and takes its own options from one.
    let run = bench.ours("x.lua --settings=no.cnf prepare");
    assert_eq!(run.code, Some(1), "{run:?}");
    let line = "Invalid value for the 'settings' option: ";
    assert!(
        run.stderr.starts_with(line) && run.stderr.contains("no.cnf"),
        "{run:?}"
    );
    bench.script("own.cnf", "threads=3\nfoo=9\n");
    let run = bench.ours("x.lua --settings=own.cnf prepare");
    assert!(run.stdout.contains("9\tw\tnil\n"), "{run:?}");
    assert!(
        run.stderr.contains("own.cnf") && run.stderr.contains("`threads` is no option"),
        "{run:?}"
    );
}

/// sysbench's exit code is 0 whatever a parallel command's threads did.
#[test]
fn a_parallel_command_fails_when_a_thread_does_and_says_which() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "sysbench.cmdline.commands = { prepare = { function()
           if sysbench.tid == 1 then error('no room') end
         end, sysbench.cmdline.PARALLEL_COMMAND } }",
    );
    let ours = bench.ours("x.lua --threads=3 prepare");
    if let Some(theirs) = bench.theirs("x.lua --threads=3 prepare") {
        assert_eq!(
            crate::beside::masked(&ours).stdout,
            crate::beside::masked(&theirs).stdout
        );
    }
    assert_eq!(ours.code, Some(1));
    assert_eq!(ours.stderr, "prepare failed in 1 of 3 threads: 1\n");
}

#[test]
fn a_module_that_is_missing_is_named() {
    let bench = Bench::new();
    bench.script("x.lua", "require('no_such_module')");
    let run = bench.ours("x.lua run");
    assert_eq!(run.code, Some(1));
    let line = "FATAL: x.lua:1: module 'no_such_module' not found:";
    assert!(run.stdout.contains(line), "{}", run.stdout);
}

#[test]
fn a_module_beside_the_script_is_found_from_another_folder() {
    let bench = Bench::new();
    std::fs::create_dir(bench.folder().join("suite")).unwrap();
    bench.script("suite/part.lua", "return { word = 'found' }");
    bench.script("suite/x.lua", "print(require('part').word)");
    let run = bench.ours("suite/x.lua");
    assert!(run.stdout.ends_with("found\n"), "{run:?}");
}

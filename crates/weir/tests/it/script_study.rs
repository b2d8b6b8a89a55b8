//! Studies whose workload is a Lua script: by content in the result, in a process of its own.

use serde_json::Value;

use crate::harness::{Weir, World};
use crate::run::{FLAVORS, result, run};

/// A table with rows, made by a parallel command; its module has what both scripts share.
const PART: &str = r#"
sysbench.cmdline.options = { rows = {"Rows", 100}, reads = {"Reads of an event", 1} }
sysbench.cmdline.commands = { prepare = { function()
  local con = sysbench.sql.driver():connect()
  local name = "t" .. sysbench.tid
  con:query("CREATE TABLE " .. name .. " (id INT PRIMARY KEY, n INT)")
  con:bulk_insert_init("INSERT INTO " .. name .. " VALUES")
  for row = 1, sysbench.opt.rows do con:bulk_insert_next(string.format("(%d, 0)", row)) end
  con:bulk_insert_done()
end, sysbench.cmdline.PARALLEL_COMMAND } }
function thread_init()
  con = sysbench.sql.driver():connect()
  update = con:prepare("UPDATE t0 SET n = n + 1 WHERE id = ?")
  id = update:bind_create(sysbench.sql.type.INT)
  update:bind_param(id)
end
"#;
const READS: &str = r#"
require("part")
function event()
  for _ = 1, sysbench.opt.reads do
    assert(con:query_row("SELECT COUNT(*) FROM t1") == "300")
  end
end
"#;
const WRITES: &str = r#"
require("part")
function event()
  con:query("BEGIN")
  id:set(sysbench.rand.uniform(1, sysbench.opt.rows))
  update:execute()
  con:query("COMMIT")
end
"#;

fn study(world: &World, flavor: &str, workloads: &str) -> std::path::PathBuf {
    world.write("part.lua", PART);
    world.write("reads.lua", READS);
    world.write("writes.lua", WRITES);
    let text = format!(
        r#"
        [study]
        title = "Scripts"
        question = "Do scripts work?"
        [server]
        flavor = "{flavor}"
        [server.config]
        innodb_buffer_pool_size = "32M"
        # A slow disk beside other tests is not to be the limit.
        innodb_flush_log_at_trx_commit = 0
        sync_binlog = 0
        [data]
        options = {{ rows = 300 }}
        [load]
        threads = 4
        warmup = "1s"
        measure = "2s"
        options = {{ reads = 2 }}
        [factors]
        workload = [{workloads}]
        [repeat]
        runs = 1
        seed = 1
        "#
    );
    world.write("study.toml", &text)
}

#[test]
fn two_scripts_are_compared_on_both_flavours() {
    for flavor in FLAVORS {
        let world = World::new();
        let study = study(&world, flavor, "\"reads.lua\", \"writes.lua\"");
        let plan = Weir::new().args(["plan", study.to_str().unwrap()]);
        let plan = plan.succeeds().stdout;
        assert!(plan.contains("what a Lua script's prepare makes"), "{plan}");
        let output = run(&world, &study).output();
        // One repetition says nothing, which is a rule's to tell.
        assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
        let result = result(&world);
        let runs = result["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 2);
        for run in runs {
            let cell = &result["plan"]["cells"][run["record"]["cell"].as_u64().unwrap() as usize];
            assert_script(run, &cell["spec"]["workload"]);
        }
        assert!(result["data_bytes"].as_u64().unwrap() > 100_000);
        world.assert_nothing_left();
    }
}

/// What a run must tell of its script.
fn assert_script(run: &Value, workload: &Value) {
    assert_eq!(workload["kind"], "lua");
    assert_eq!(workload["modules"][0]["name"], "part");
    assert_eq!(workload["modules"][0]["text"], PART);
    assert_eq!(workload["data_options"]["rows"], "300");
    let is_reads = workload["text"] == READS;
    assert!(is_reads || workload["text"] == WRITES);
    let record = &run["record"];
    assert!(record["queries_per_s"].as_f64().unwrap() > 10.0);
    assert!(record["latency"]["us_p99"].as_f64().unwrap() > 0.0);
    assert!(record["utilization"]["client_cores"].as_f64().unwrap() > 0.0);
    assert!(!run["histogram"].as_array().is_some_and(Vec::is_empty));
    let kinds = run["kinds"].as_array().unwrap().iter();
    let kinds: Vec<_> = kinds.map(|kind| kind["name"].as_str().unwrap()).collect();
    let expected = if is_reads {
        vec!["SELECT COUNT(*) FROM tN"]
    } else {
        vec!["BEGIN", "UPDATE tN SET n = n + ? WHERE id = ?", "COMMIT"]
    };
    for name in expected {
        assert!(kinds.contains(&name), "{kinds:?}");
    }
    let command = run["commands"].as_array().unwrap().last().unwrap();
    let command = command.as_str().unwrap();
    for part in [".lua --threads=4", "--rows=300", "--reads=2", " run"] {
        assert!(command.contains(part), "{command}");
    }
}

#[test]
fn options_of_a_script_are_factors() {
    let world = World::new();
    let text = std::fs::read_to_string(study(&world, "mysql", "\"reads.lua\"")).unwrap();
    let text = text.replace("[repeat]", "\"load.options.reads\" = [1, 3]\n[repeat]");
    let study = world.write("study.toml", &text);
    let plan = Weir::new().args(["plan", study.to_str().unwrap(), "--json"]);
    let plan: Value = serde_json::from_str(&plan.succeeds().stdout).unwrap();
    let reads = |cell: usize| &plan["cells"][cell]["spec"]["workload"]["options"]["reads"];
    assert_eq!((reads(0), reads(1)), (&"1".into(), &"3".into()));
}

#[test]
fn a_script_that_is_none_is_refused_by_the_plan_with_its_line() {
    let world = World::new();
    let study = study(&world, "mariadb", "\"reads.lua\", \"writes.lua\"");
    let plan = || Weir::new().args(["plan", study.to_str().unwrap()]);
    for (name, text, why) in [
        ("reads.lua", "local a = 1\nx = = 1", "reads.lua:2: "),
        (
            "reads.lua",
            "\nrequire('no_such')",
            "reads.lua:2: module 'no_such' not found",
        ),
        ("reads.lua", READS, ""),
        ("part.lua", "if then", "part.lua:1: "),
    ] {
        world.write(name, text);
        if why.is_empty() {
            plan().succeeds();
            continue;
        }
        let error = plan().fails();
        assert!(error.contains(why), "{error}");
    }
}

/// One of five scripts prints without end and is measured; the others cost their runs, each with a line that says why.
#[test]
fn a_script_that_fails_costs_its_run_and_leaves_nothing() {
    let world = World::new();
    let fails = [
        (
            "crash.lua",
            "ffi.cast('int *', 0)[0] = 1",
            [
                "its process crashed (signal 11: memory that is not its own); it said last: the script has crashed",
                "crash.lua:4",
            ],
        ),
        (
            "error.lua",
            "error('no stock')",
            ["`thread_run' function failed: ", "error.lua:4: no stock"],
        ),
        (
            "exit.lua",
            "os.exit(5)",
            ["its process left with exit code 5", "exit.lua"],
        ),
        (
            "loop.lua",
            "while true do end",
            [
                "still in an event 23 s after the end of the run; a thread of the script is still at ",
                "loop.lua:4",
            ],
        ),
    ];
    let script = |event: &str| {
        format!("require('part')\nfunction event()\nif os.clock() > 0.01 then\n{event} end end")
    };
    let mut names = "\"prints.lua\"".to_owned();
    for (name, event, _) in fails {
        world.write(name, &script(event));
        names.extend([", \"", name, "\""]);
    }
    world.write(
        "prints.lua",
        "require('part') function event() con:query('DO 0') print(('x'):rep(2^16)) end",
    );
    let study = study(&world, "mariadb", &names);
    let output = run(&world, &study).output();
    let told = &output.stderr;
    assert_eq!(output.code, Some(1), "{}{told}", output.stdout);
    for (name, _, why) in fails {
        let of_it = |line: &&str| line.starts_with("run ") && line.contains(&format!("{name}: "));
        let lines: Vec<_> = told.lines().filter(of_it).collect();
        assert_eq!(lines.len(), 1, "{name}: {told}");
        assert!(lines[0].contains(" of 5 failed: run of "), "{told}");
        assert!(why.iter().all(|part| lines[0].contains(part)), "{told}");
    }
    assert!(
        told.contains("4 runs failed and are not in the result (run of"),
        "{told}"
    );
    let result = result(&world);
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    assert!(runs[0]["record"]["queries_per_s"].as_f64().unwrap() > 1.0);
    world.assert_nothing_left();
}

/// Where no run can be made, the study ends with the reason.
#[test]
fn a_study_whose_script_always_fails_ends_with_its_words() {
    let world = World::new();
    let text = "require('part')\nfunction event()\nerror('no stock') end";
    let study = study(&world, "mariadb", "\"writes.lua\"");
    world.write("writes.lua", text);
    let error = run(&world, &study).fails();
    let why = "writes.lua:3: no stock";
    assert!(error.contains(why), "{error}");
    world.assert_nothing_left();
}

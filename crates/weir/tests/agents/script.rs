//! Lua scripts that several agents run: the threads of one run, with the numbers that they have in one process.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use weir_model::Flavor;
use weir_server::Session;
use weir_testing::{LAZY_COMMITS, make_account, start_on_tcp};

use super::hosts::{Process, World, wait_until};

/// What a thread writes of itself: its number, how many there are, a unique number, an option.
const MODULE: &str = r#"
function seen()
  return string.format("INSERT INTO seen VALUES (%d, %d, %.0f, '%s')",
    sysbench.tid, sysbench.opt.threads, sysbench.rand.unique(), sysbench.opt.word)
end
"#;
const OPTIONS: &str = r#"
sysbench.cmdline.options = { word = {"A word", "none"} }
require("module")
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE seen (tid INT, threads INT, number BIGINT, word TEXT)")
end
"#;
/// Its connections are driven by a few threads.
const DRIVEN: &str = r"
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query(seen()) end
";
/// Each connection has a thread.
const THREADED: &str = r"
function event()
  con = con or sysbench.sql.driver():connect()
  con:query(seen())
end
";
const ALLOWED: [&str; 2] = ["--allow", "load,script"];

/// A script and its server, with `agents` agents.
struct Scene {
    world: World,
    port: u16,
    root: Session,
}

impl Scene {
    fn script(&self, name: &str, text: &str) -> String {
        fs::write(self.world.path("module.lua"), MODULE).unwrap();
        let path = self.world.path(name);
        fs::write(&path, format!("{OPTIONS}{text}")).unwrap();
        path.display().to_string()
    }

    fn load(&self, script: &str, more: &[&str]) -> Process {
        let port = format!("--mysql-port={}", self.port);
        let mut command = self.world.conductor(&["load", script]);
        command
            .args(["--mysql-host=127.0.0.1", "--mysql-user=app", &port])
            .args(more);
        Process::start(command.env("WEIR_MYSQL_PASSWORD", "sesame-12"))
    }

    /// To an error with these words.
    fn fails(&self, script: &str, more: &[&str], why: &str) {
        let mut load = self.load(script, more);
        assert!(!load.ends(Duration::from_mins(1)), "{}", load.text());
        assert!(load.text().contains(why), "{why}: {}", load.text());
    }

    fn seen(&mut self, what: &str) -> u64 {
        let query = format!("SELECT CAST({what} AS UNSIGNED) FROM sbtest.seen");
        let rows: Vec<u64> = self.root.rows("numbers", &query).unwrap();
        rows[0]
    }

    fn are_idle(&self) -> bool {
        self.world
            .list()
            .iter()
            .all(|member| member["run"].is_null())
    }
}

/// The threads of all agents are those of one run, however each agent drives its own.
#[test]
fn agents_run_the_threads_of_one_script() {
    let (server, _directory, port) = start_on_tcp(Flavor::Mariadb, &LAZY_COMMITS);
    make_account(&server.endpoint(), "app", "sesame-12");
    let mut scene = Scene {
        world: World::on_loopback(2),
        port,
        root: server.session().unwrap(),
    };
    let agents: Vec<_> = (1..=2)
        .map(|number| scene.world.agent_here(number, &ALLOWED))
        .collect();
    scene.world.wait_for_agents(2);
    for (name, text) in [("driven.lua", DRIVEN), ("threaded.lua", THREADED)] {
        let script = scene.script(name, text);
        let mut prepare = scene.load(&script, &["prepare"]);
        assert!(prepare.ends(Duration::from_mins(1)), "{}", prepare.text());
        // Rows as events come, and not a rate's: the last of them are of the slower agent alone.
        let events = ["--threads=5", "--events=400", "--time=0", "--rand-seed=3"];
        let csv = scene.world.path("agents.csv");
        let rows = format!("--csv={}", csv.display());
        let agents = ["--word=ebb", "--agents=2", "--json", &rows, "run"];
        let mut load = scene.load(&script, &[&events[..], &agents].concat());
        assert!(load.ends(Duration::from_mins(1)), "{}", load.text());
        let result: Value = serde_json::from_str(&load.output()).unwrap();
        assert_eq!(result["counts_whole_run"]["transactions"], 400);
        let rows = std::fs::read_to_string(&csv).unwrap();
        let third = |line: &str| line.split(',').nth(2).unwrap().parse::<u64>().unwrap();
        let of_rows = rows.lines().skip(1).map(third).sum::<u64>();
        assert_eq!(result["counts"]["transactions"], of_rows, "{rows}");
        // Each agent counts a statement by its own position; its name is what they have in common.
        let kinds = result["kinds"].as_array().unwrap();
        assert_eq!(kinds.len(), 1, "{kinds:?}");
        assert_eq!(kinds[0]["count"], 400);
        assert!(
            kinds[0]["name"]
                .as_str()
                .unwrap()
                .contains("INSERT INTO seen")
        );
        let shares = load.text().matches(" on ").count();
        assert!(shares >= 2, "{}", load.text());
        let expected = [
            ("COUNT(*)", 400),
            ("COUNT(DISTINCT number)", 400),
            ("COUNT(DISTINCT tid)", 5),
            ("MAX(tid)", 4),
            ("MIN(threads)", 5),
            ("SUM(word = 'ebb')", 400),
        ];
        for (what, count) in expected {
            assert_eq!(scene.seen(what), count, "{what} of {name}");
        }
        scene.root.run("drop", "DROP TABLE sbtest.seen").unwrap();
    }
    for agent in &agents {
        assert!(agent.text().contains("done, 2"), "{}", agent.text());
    }
}

/// A script is a program: whose owner does not allow it gets none. What fails in one names its place.
#[test]
fn scripts_of_agents_are_refused_or_fail_in_one_line() {
    let (server, _directory, port) = start_on_tcp(Flavor::Mariadb, &LAZY_COMMITS);
    make_account(&server.endpoint(), "app", "sesame-12");
    let scene = Scene {
        world: World::on_loopback(2),
        port,
        root: server.session().unwrap(),
    };
    let one = scene.world.agent_here(1, &[]);
    scene.world.wait_for_agents(1);
    let run = ["--threads=2", "--time=20", "--agents=1", "run"];
    let driven = scene.script("driven.lua", DRIVEN);
    let why = "agents = 1: 0 are there whose owner allows scripts; start more with `weir agent --join FILE --allow \
               load,script`, or use fewer";
    scene.fails(&driven, &run, why);
    assert!(!one.text().contains("run "), "{}", one.text());
    drop(one);

    let _two = scene.world.agent_here(2, &ALLOWED);
    wait_until("the other agent", Duration::from_mins(1), || {
        let members = scene.world.list();
        members.len() == 1 && members[0]["name"] == "agent-2"
    });
    let cases = [
        (
            "function thread_init() error('no way') end\nfunction event() end",
            "no way",
        ),
        (
            "function event() if sysbench.tid == 1 then error('too deep') end end",
            "too deep",
        ),
        ("function event() os.exit(7) end", "exit code 7"),
        (
            "function thread_init() while true do end end\nfunction event() end",
            "it is not ready after 1 s",
        ),
    ];
    for (number, (text, why)) in cases.into_iter().enumerate() {
        let script = scene.script(&format!("bad-{number}.lua"), text);
        let limit = [&["--thread-init-timeout=1"], &run[..]].concat();
        scene.fails(&script, &limit, why);
        wait_until("an idle agent", Duration::from_mins(1), || scene.are_idle());
    }
    for (options, why) in [
        (
            &["--lua-threads=os"][..],
            "agents choose how they run a script",
        ),
        (&["--word"], "a script's option needs a value for agents"),
        (&["--words=2"], "invalid option: --words"),
    ] {
        scene.fails(&driven, &[options, &run].concat(), why);
    }
}

const STUDY: &str = r#"
[study]
title = "A script from one load host and from two"
question = "Is the client the limit?"

[server]
flavor = "mariadb"
config = { innodb_buffer_pool_size = "32M" }

[data]
workload = "driven.lua"
options = { word = "flood" }

[load]
threads = [4]
warmup = "1s"
measure = "2s"

[factors]
agents = [1, 2]

[repeat]
runs = 1
"#;

#[test]
fn a_study_of_a_script_has_agents_as_a_factor() {
    let world = World::on_loopback(2);
    let _agents: Vec<_> = (1..=2)
        .map(|number| world.agent_here(number, &ALLOWED))
        .collect();
    world.wait_for_agents(2);
    for (name, text) in [
        ("module.lua", MODULE),
        ("driven.lua", &format!("{OPTIONS}{DRIVEN}")),
    ] {
        fs::write(world.path(name), text).unwrap();
    }
    let study = world.path("study.toml");
    fs::write(&study, STUDY).unwrap();
    let out = world.path("result").display().to_string();
    let mut run =
        Process::start(&mut world.conductor(&["run", study.to_str().unwrap(), "--out", &out]));
    // One repetition says nothing, which is a rule's to tell.
    assert_eq!(run.code(), Some(3), "{}", run.text());
    let report = world.output(&["report", &out, "--format", "json"]);
    let result: Value = serde_json::from_slice(&report.stdout).unwrap();
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let hosts = run["hosts"].as_array().unwrap();
        let shared: u64 = hosts
            .iter()
            .map(|host| host["transactions"].as_u64().unwrap())
            .sum();
        assert!(shared > 100, "{hosts:?}");
        let kinds = run["kinds"].as_array().unwrap();
        assert!(
            kinds
                .iter()
                .any(|kind| kind["name"].as_str().unwrap().contains("seen")),
            "{kinds:?}"
        );
    }
}

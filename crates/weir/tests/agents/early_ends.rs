//! Less than what was asked for is no result: each front end under each cause of an early end.
//!
//! Those that a cause meets run side by side on one server, and the cause comes once for all of them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use weir_model::Flavor;
use weir_testing::{LAZY_COMMITS, PrivateServer, make_account, start_on_tcp};

use super::hosts::{Process, World, signal_process, wait_until};

/// Each connection is driven by a few threads.
const DRIVEN: &str = "function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('SELECT 1') end\n";
/// Each connection has a thread.
const THREADED: &str =
    "function event() con = con or sysbench.sql.driver():connect(); con:query('SELECT 1') end\n";
/// Fails in the middle of a run.
const FAILING: &str = "function thread_init() con = sysbench.sql.driver():connect(); n = 0 end
function event() con:query('SELECT 1'); n = n + 1; if n > 200 then error('low tide') end end\n";
/// Ends by itself after some 300 of its own rounds.
const SHORT: &str = "function event() end
function thread_run() local con = sysbench.sql.driver():connect()
for _ = 1, 300 do con:query('SELECT 1') end end\n";
const ALLOWED: [&str; 2] = ["--allow", "load,script"];
/// Longer than anything that ends in order.
const PATIENCE: Duration = Duration::from_mins(5);

/// Who leads a load.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    OneProcess,
    Agents,
}

struct Scene {
    world: World,
    server: Option<PrivateServer>,
    /// Of the server and its data.
    directory: tempfile::TempDir,
    port: u16,
}

/// Each front end has an account of its own, by whose statements its load is seen.
const ACCOUNTS: [&str; 8] = [
    "app",
    "agents",
    "native",
    "coroutines",
    "threads",
    "replay",
    "study",
    "script",
];

/// A front end under way, and how long its load was asked to be.
struct Running {
    name: String,
    by: By,
    seconds: f64,
    process: Process,
}

impl Scene {
    fn new() -> Self {
        let (server, directory, port) = start_on_tcp(Flavor::Mariadb, &LAZY_COMMITS);
        for account in ACCOUNTS {
            make_account(&server.endpoint(), account, "sesame-12");
        }
        let mut root = server.session().unwrap();
        root.run("count", "SET GLOBAL userstat = 1").unwrap();
        root.run("grant", "GRANT ALL ON many.* TO app@'%'").unwrap();
        let scene = Self {
            world: World::on_loopback(2),
            server: Some(server),
            directory,
            port,
        };
        let mut prepare = scene.start(&scene.load("oltp_point_select", &["prepare"]));
        assert!(prepare.ends(PATIENCE), "{}", prepare.text());
        scene
    }

    fn start(&self, words: &[String]) -> Process {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let mut command = self.world.conductor(&words);
        Process::start(command.env("WEIR_MYSQL_PASSWORD", "sesame-12"))
    }

    fn load(&self, what: &str, more: &[&str]) -> Vec<String> {
        self.load_as("app", what, more)
    }

    fn load_as(&self, account: &str, what: &str, more: &[&str]) -> Vec<String> {
        let port = format!("--mysql-port={}", self.port);
        let user = format!("--mysql-user={account}");
        let server = ["--mysql-host=127.0.0.1", &user, &port];
        let words = ["load", what].into_iter().chain(server);
        words
            .chain(more.iter().copied())
            .map(str::to_owned)
            .collect()
    }

    fn script(&self, name: &str, text: &str) -> String {
        let path = self.world.path(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// A capture of four sessions that look at rows for so many seconds.
    fn capture(&self, seconds: u64) -> String {
        let stamp = |ms: u64| {
            format!(
                "2026-01-01T00:{:02}:{:02}.{:03}000Z",
                ms / 60_000,
                ms / 1_000 % 60,
                ms % 1_000
            )
        };
        let mut log = String::new();
        for id in 10..14 {
            writeln!(
                log,
                "{}\t{id:5} Connect\tapp@localhost on sbtest using Socket",
                stamp(0)
            )
            .unwrap();
        }
        for ms in (100..seconds * 1_000).step_by(50) {
            let id = 10 + ms / 50 % 4;
            writeln!(
                log,
                "{}\t{id:5} Query\tSELECT c FROM sbtest1 WHERE id = {}",
                stamp(ms),
                ms / 50
            )
            .unwrap();
        }
        let (from, to) = (
            self.world.path("general.log"),
            self.world.path("day.weircap"),
        );
        fs::write(&from, log).unwrap();
        let (from, to) = (from.display().to_string(), to.display().to_string());
        let output = self.world.output(&["capture", "import", &from, "-o", &to]);
        assert!(output.status.success(), "{output:?}");
        to
    }

    /// The words of a study on the test's server, with one cell.
    fn study(&self, name: &str, workload: &str, seconds: u64) -> Vec<String> {
        self.study_as("app", name, workload, seconds)
    }

    fn study_as(&self, account: &str, name: &str, workload: &str, seconds: u64) -> Vec<String> {
        let rows = if Path::new(workload).extension().is_some() {
            ""
        } else {
            "tables = 1\nrows = 10_000\n"
        };
        let text = format!(
            "[study]\ntitle = \"Ends\"\nquestion = \"Which?\"\n\
             [server]\nflavor = \"mariadb://{account}@127.0.0.1:{}/sbtest\"\n\
             [data]\nworkload = \"{workload}\"\n{rows}\
             [load]\nwarmup = \"0s\"\nmeasure = \"{seconds}s\"\n\
             [factors]\nthreads = [2]\n[repeat]\nruns = 1\nseed = 1\n",
            self.port
        );
        let (file, out) = (
            self.world.path(&format!("{name}.toml")),
            self.world.path(name),
        );
        fs::write(&file, text).unwrap();
        let (file, out) = (file.display().to_string(), out.display().to_string());
        ["run", &file, "--out", &out, "--json"]
            .map(str::to_owned)
            .to_vec()
    }

    fn agents(&self) -> Vec<Process> {
        let agent = |number| self.world.agent_here(number, &ALLOWED);
        let agents = (1..=2).map(agent).collect();
        self.world.wait_for_agents(2);
        agents
    }

    /// Starts all front ends of `by` whose loads take so many seconds; waits until each has begun.
    fn front_ends(&self, by: By, seconds: u64) -> Vec<Running> {
        let time = format!("--time={seconds}");
        let driven = self.script("driven.lua", DRIVEN);
        let common = ["--threads=2", "--json", &time];
        let load = |account: &str, what: &str, more: &[&str]| {
            self.load_as(account, what, &[&common, more].concat())
        };
        let paced = ["--rate=200", "run"];
        let starts = if by == By::Agents {
            let more = ["--agents=2", "--rate=200", "run"];
            vec![("agents", load("agents", "oltp_point_select", &more))]
        } else {
            let threaded = self.script("threaded.lua", THREADED);
            let capture = self.capture(seconds);
            vec![
                ("native", load("native", "oltp_point_select", &paced)),
                ("coroutines", load("coroutines", &driven, &paced)),
                ("threads", load("threads", &threaded, &paced)),
                (
                    "replay",
                    self.load_as("replay", &capture, &["--json", "run"]),
                ),
                (
                    "study",
                    self.study_as("study", "study", "oltp_point_select", seconds),
                ),
                (
                    "script",
                    self.study_as("script", "script", &driven, seconds),
                ),
            ]
        };
        let starts = starts.into_iter().map(|(name, words)| Running {
            process: self.start(&words),
            name: name.to_owned(),
            by,
            seconds: seconds as f64,
        });
        let running: Vec<_> = starts.collect();
        for one in &running {
            self.wait_for_load(&one.name);
        }
        running
    }

    /// Waits until the load of this account is under way.
    fn wait_for_load(&self, account: &str) {
        let mut session = self.server.as_ref().unwrap().session().unwrap();
        let query = format!(
            "SELECT CAST(SUM(select_commands) AS UNSIGNED) FROM information_schema.user_statistics WHERE user = '{account}'"
        );
        let mut selects = || -> u64 {
            let rows: Vec<Option<u64>> = session.rows("selects", &query).unwrap();
            rows[0].unwrap_or(0)
        };
        let before = selects();
        wait_until(
            &format!("the load of {account}"),
            Duration::from_mins(1),
            || selects() >= before + 40,
        );
    }
}

impl Running {
    fn signal(&self, signal: &str) {
        self.process.signal(signal);
    }

    /// Waits for its end: an error that tells one of `causes` and leaves no result, or a result that is complete.
    fn ends_complete_or_tells(mut self, causes: &[&str]) -> bool {
        let is_good = self.process.ends(PATIENCE);
        let (name, text) = (&self.name, self.process.text());
        let result = self.process.output();
        if is_good {
            let result: Value = serde_json::from_str(&result)
                .unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
            let measured_s = measured_s(&result);
            // A capture ends with its last statement.
            assert!(
                measured_s.is_finite() && measured_s > self.seconds - 0.5,
                "{name}: {measured_s}: {text}"
            );
            return true;
        }
        assert!(!result.contains("measured_s"), "{name}: a result: {text}");
        assert!(
            causes.iter().any(|cause| text.contains(cause)),
            "{name}: {text}"
        );
        false
    }
}

/// The least time that a load or a run of this result measured, seconds; infinity if there is none.
fn measured_s(result: &Value) -> f64 {
    let least = |values: &mut dyn Iterator<Item = &Value>| {
        values.map(measured_s).fold(f64::INFINITY, f64::min)
    };
    match result {
        Value::Object(fields) => match fields.get("measured_s").and_then(Value::as_f64) {
            Some(seconds) => seconds,
            None => least(&mut fields.values()),
        },
        Value::Array(values) => least(&mut values.iter()),
        _ => f64::INFINITY,
    }
}

#[test]
fn a_server_that_goes_ends_all_with_an_error() {
    let mut scene = Scene::new();
    let _agents = scene.agents();
    let mut all = scene.front_ends(By::OneProcess, 60);
    // It waits for two minutes; tests of the replay shorten that.
    all.retain(|one| one.name != "replay");
    all.extend(scene.front_ends(By::Agents, 60));
    signal_process(scene.server.as_ref().unwrap().pid(), "KILL");
    drop(scene.server.take());
    for one in all {
        let name = one.name.clone();
        let causes = ["lost", "refused", "closed", "connect", "away"];
        assert!(!one.ends_complete_or_tells(&causes), "{name} has a result");
    }
}

/// Stands still: those that load the server themselves cannot have loaded it meanwhile; a conductor that is silent for longer
/// than its agents wait has no result, one that is back before has all of it.
fn stand_still(seconds: u64) {
    let scene = Scene::new();
    let _agents = scene.agents();
    let mut all = scene.front_ends(By::OneProcess, 20);
    all.extend(scene.front_ends(By::Agents, 20));
    for one in &all {
        one.signal("STOP");
    }
    std::thread::sleep(Duration::from_secs(seconds));
    for one in &all {
        one.signal("CONT");
    }
    for one in all {
        let (name, by) = (one.name.clone(), one.by);
        // The script of a study is in a process of its own, which went on.
        let goes_on = name == "script" || by == By::Agents && seconds < 10;
        let is_complete = one.ends_complete_or_tells(&["stood still", "was silent for"]);
        assert_eq!(is_complete, goes_on, "{name}, {seconds} s");
    }
}

#[test]
fn three_seconds_of_standstill_are_told() {
    stand_still(3);
}

#[test]
fn thirteen_seconds_of_standstill_are_told() {
    stand_still(13);
}

#[test]
fn a_minute_of_standstill_is_told() {
    stand_still(60);
}

/// An agent that stands still or dies is lost, one that its owner ends says so.
#[test]
fn an_agent_that_leaves_ends_the_load_with_an_error() {
    let scene = Scene::new();
    let mut agents = scene.agents();
    let causes = [
        ("KILL", "agent agent-2: lost"),
        ("STOP", "agent agent-2: lost"),
        ("INT", "agent agent-2: the agent was ended on its host"),
    ];
    for (signal, told) in causes {
        let mut all = scene.front_ends(By::Agents, 60);
        agents[1].signal(signal);
        for one in all.drain(..) {
            assert!(!one.ends_complete_or_tells(&[told]), "{signal}");
        }
        agents[1].signal("KILL");
        agents.truncate(1);
        agents.push(scene.world.agent_here(2, &ALLOWED));
        wait_until("two free agents", Duration::from_mins(1), || {
            let members = scene.world.list();
            members.len() == 2 && members.iter().all(|member| member["run"].is_null())
        });
    }
}

/// The bus with its supervisor: there is nobody who brings it back.
#[test]
fn a_bus_that_stays_away_ends_the_load_with_an_error() {
    let scene = Scene::new();
    let _agents = scene.agents();
    let all = scene.front_ends(By::Agents, 10);
    scene.world.bus.signal("KILL");
    for one in all {
        assert!(!one.ends_complete_or_tells(&["bus: away for 60 s"]));
    }
}

#[test]
fn two_conductors_take_no_agent_from_each_other() {
    let scene = Scene::new();
    let _agents = scene.agents();
    let words = |seconds: &str, agents: &str| {
        let more = [
            "--threads=2",
            "--rate=100",
            "--json",
            seconds,
            agents,
            "run",
        ];
        scene.load("oltp_point_select", &more)
    };
    let running = |seconds: f64, words: Vec<String>| Running {
        name: "agents".to_owned(),
        by: By::Agents,
        seconds,
        process: scene.start(&words),
    };
    let first = running(30.0, words("--time=30", "--agents=1"));
    scene.wait_for_load("app");
    // There is another one that is free.
    let second = running(3.0, words("--time=3", "--agents=1"));
    assert!(second.ends_complete_or_tells(&[]));
    let refused = running(3.0, words("--time=3", "--agents=2"));
    assert!(!refused.ends_complete_or_tells(&["busy with another run"]));
    assert!(first.ends_complete_or_tells(&[]));
    // Both are free again, and both conductors want both.
    let both = [4.0, 3.0]
        .map(|seconds| running(seconds, words(&format!("--time={seconds}"), "--agents=2")));
    for one in both {
        assert!(one.ends_complete_or_tells(&[]));
    }
}

#[test]
fn a_script_that_fails_or_ends_by_itself_has_no_result() {
    let scene = Scene::new();
    let _agents = scene.agents();
    let failing = scene.script("failing.lua", FAILING);
    let short = scene.script("short.lua", SHORT);
    let alone = ["--threads=2", "--json", "--time=20", "run"];
    let shared = ["--threads=2", "--json", "--time=20", "--agents=2", "run"];
    let study = |name: &str, script: &str| scene.study(name, script, 20);
    let cases = [
        (scene.load(&failing, &alone), "low tide"),
        (scene.load(&failing, &shared), "low tide"),
        (study("failing", &failing), "low tide"),
        (scene.load(&short, &alone), "of 20 seconds"),
        (scene.load(&short, &shared), "of 20 seconds"),
        (study("short", &short), "of 20 seconds"),
    ];
    for (words, cause) in cases {
        let one = Running {
            name: words.join(" "),
            by: By::OneProcess,
            seconds: 20.0,
            process: scene.start(&words),
        };
        assert!(!one.ends_complete_or_tells(&[cause]), "{cause}");
    }
    // Without a time the script decides.
    let mut free = scene.start(&scene.load(&short, &["--threads=2", "--json", "run"]));
    assert!(free.ends(PATIENCE), "{}", free.text());
}

/// The processes of scripts that a study and an agent have started.
#[test]
fn a_child_that_is_killed_ends_the_load_with_an_error() {
    let scene = Scene::new();
    let agents = scene.agents();
    let driven = scene.script("driven.lua", DRIVEN);
    let study = scene.study("killed", &driven, 60);
    let shared = scene.load(
        &driven,
        &["--threads=2", "--json", "--time=60", "--agents=1", "run"],
    );
    for words in [study, shared] {
        let one = Running {
            name: words.join(" "),
            by: By::OneProcess,
            seconds: 60.0,
            process: scene.start(&words),
        };
        scene.wait_for_load("app");
        let parents = agents.iter().chain([&one.process]).map(Process::id);
        let children: Vec<u32> = parents.flat_map(children_of).collect();
        assert_eq!(children.len(), 1, "{}", one.name);
        signal_process(children[0], "KILL");
        assert!(!one.ends_complete_or_tells(&["its process"]));
    }
}

fn children_of(parent: u32) -> Vec<u32> {
    let mut children = Vec::new();
    for task in fs::read_dir(format!("/proc/{parent}/task")).unwrap() {
        let list = fs::read_to_string(task.unwrap().path().join("children")).unwrap();
        children.extend(list.split_whitespace().map(|id| id.parse::<u32>().unwrap()));
    }
    children
}

/// Where the result goes there is no room for it.
#[test]
fn a_full_disk_is_an_error() {
    let scene = Scene::new();
    let _agents = scene.agents();
    let capture = scene.capture(2);
    let run = ["--time=2", "--report-interval=1", "run"];
    let cases = [
        scene.load("oltp_point_select", &run),
        scene.load("oltp_point_select", &[&run[..], &["--json"]].concat()),
        scene.load("oltp_point_select", &[&run[..], &["--agents=2"]].concat()),
        scene.load(&scene.script("driven.lua", DRIVEN), &run),
        scene.load(&capture, &["run"]),
    ];
    for words in cases {
        let line = "exec \"$@\" > /dev/full";
        let told = scene.fails_by_shell(line, &words);
        assert!(told.contains("no space left"), "{words:?}: {told}");
    }
    let full = scene.directory.path().join("full");
    fs::create_dir(&full).unwrap();
    let mut study = scene.study("study", "oltp_point_select", 2);
    study[3] = full.join("out").display().to_string();
    let line = format!(
        "mount -t tmpfs -o size=16k tmpfs {} && exec \"$@\"",
        full.display()
    );
    let told = scene.fails_by_shell(
        &format!("exec unshare --mount sh -c '{line}' sh \"$@\""),
        &study,
    );
    assert!(
        told.contains("full") || told.contains("no space left"),
        "{told}"
    );
}

impl Scene {
    /// Runs the program from this line of a shell to an error; its words, in small letters.
    fn fails_by_shell(&self, line: &str, words: &[String]) -> String {
        let program = self.world.conductor(&[]);
        let mut command = Command::new("sh");
        command
            .args(["-c", line, "sh"])
            .arg(program.get_program())
            .args(words);
        for (name, value) in program.get_envs() {
            command.env(name, value.unwrap());
        }
        let output = command
            .env("WEIR_MYSQL_PASSWORD", "sesame-12")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).to_lowercase();
        assert_eq!(output.status.code(), Some(1), "{words:?}: {told}");
        told
    }
}

/// Tables that are being made, in one process and from agents.
#[test]
fn tables_are_made_whole_or_the_command_fails() {
    let scene = Scene::new();
    let agents = scene.agents();
    let rows = |words: &[&str]| {
        let tables = [
            "--mysql-db=many",
            "--tables=2",
            "--table-size=400000",
            "--threads=2",
        ];
        scene.load("oltp_point_select", &[&tables, words].concat())
    };
    let both: [&[&str]; 2] = [&[], &["--agents=2"]];
    for shared in both {
        // Whatever stops it, the same command goes on to the end.
        for (signal, seconds) in [("STOP", 3), ("KILL", 0)] {
            let words = rows(&[shared, &["prepare"]].concat());
            let mut prepare = scene.start(&words);
            scene.wait_for_rows();
            prepare.signal(signal);
            std::thread::sleep(Duration::from_secs(seconds));
            prepare.signal("CONT");
            assert_eq!(
                prepare.ends(PATIENCE),
                signal == "STOP",
                "{}",
                prepare.text()
            );
            let mut again = scene.start(&words);
            assert!(again.ends(PATIENCE), "{}", again.text());
            assert_eq!(scene.rows_made(), 800_000);
            let mut cleanup = scene.start(&rows(&["cleanup"]));
            assert!(cleanup.ends(PATIENCE), "{}", cleanup.text());
        }
    }
    let mut lost = scene.start(&rows(&["--agents=2", "prepare"]));
    scene.wait_for_rows();
    agents[1].signal("KILL");
    assert!(!lost.ends(PATIENCE), "{}", lost.text());
    assert!(lost.text().contains("agent agent-2"), "{}", lost.text());
    let mut cleanup = scene.start(&rows(&["cleanup"]));
    assert!(cleanup.ends(PATIENCE), "{}", cleanup.text());
    let mut gone = scene.start(&rows(&["prepare"]));
    scene.wait_for_rows();
    signal_process(scene.server.as_ref().unwrap().pid(), "KILL");
    assert!(!gone.ends(PATIENCE), "{}", gone.text());
}

impl Scene {
    /// Rows of the tables that are being made, as a reader of what is not committed sees them.
    fn rows_made(&self) -> u64 {
        let mut session = self.server.as_ref().unwrap().session().unwrap();
        session
            .run(
                "read all",
                "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
            )
            .unwrap();
        (1..=2)
            .filter_map(|table| {
                let query = format!("SELECT COUNT(*) FROM many.sbtest{table}");
                let rows: Vec<u64> = session.rows("rows", &query).ok()?;
                rows.first().copied()
            })
            .sum()
    }

    fn wait_for_rows(&self) {
        let before = self.rows_made();
        wait_until("rows", Duration::from_mins(1), || self.rows_made() > before);
    }
}

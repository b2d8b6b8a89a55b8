//! A server, a bus, and the front ends of loads under way.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use weir_model::Flavor;
use weir_testing::{LAZY_COMMITS, PrivateServer, make_account, start_on_tcp};

use crate::hosts::{Process, World, wait_until};

/// Each connection is driven by a few threads.
pub(super) const DRIVEN: &str = "function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('SELECT 1') end\n";
/// Each connection has a thread.
pub(super) const THREADED: &str =
    "function event() con = con or sysbench.sql.driver():connect(); con:query('SELECT 1') end\n";
pub(super) const ALLOWED: [&str; 2] = ["--allow", "load,script"];
/// Longer than anything that ends in order.
pub(super) const PATIENCE: Duration = Duration::from_mins(5);

/// Who leads a load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    OneProcess,
    Agents,
}

pub(super) struct Scene {
    pub(super) world: World,
    pub(super) server: Option<PrivateServer>,
    /// Of the server and its data.
    pub(super) directory: tempfile::TempDir,
    pub(super) port: u16,
}

/// Each front end has an account of its own, by whose statements its load is seen.
pub(super) const ACCOUNTS: [&str; 8] = [
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
pub(super) struct RunningLoad {
    pub(super) name: String,
    pub(super) by: By,
    pub(super) seconds: f64,
    pub(super) process: Process,
}

/// Room for all rows of a scene. With a log of 16 MB MariaDB 10.11.19 locked itself up in 5 of 17 turns: two `LOAD DATA`
/// wait for latches of InnoDB (`handler::ha_write_row`), and nothing in the server runs.
const ROOM: [(&str, &str); 2] = [
    ("innodb_redo_log_capacity", "268435456"),
    ("innodb_buffer_pool_size", "268435456"),
];

impl Scene {
    pub(super) fn new() -> Self {
        let variables = [LAZY_COMMITS, ROOM].concat();
        let (server, directory, port) = start_on_tcp(Flavor::Mariadb, &variables);
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

    pub(super) fn start(&self, words: &[String]) -> Process {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let mut command = self.world.conductor(&words);
        Process::start(command.env("WEIR_MYSQL_PASSWORD", "sesame-12"))
    }

    pub(super) fn load(&self, what: &str, more: &[&str]) -> Vec<String> {
        self.load_as("app", what, more)
    }

    pub(super) fn load_as(&self, account: &str, what: &str, more: &[&str]) -> Vec<String> {
        let port = format!("--mysql-port={}", self.port);
        let user = format!("--mysql-user={account}");
        let server = ["--mysql-host=127.0.0.1", &user, &port];
        let words = ["load", what].into_iter().chain(server);
        words
            .chain(more.iter().copied())
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn script(&self, name: &str, text: &str) -> String {
        let path = self.world.path(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// A capture of four sessions that look at rows for so many seconds.
    pub(super) fn capture(&self, seconds: u64) -> String {
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
    pub(super) fn study(&self, name: &str, workload: &str, seconds: u64) -> Vec<String> {
        self.study_as("app", name, workload, seconds)
    }

    pub(super) fn study_as(
        &self,
        account: &str,
        name: &str,
        workload: &str,
        seconds: u64,
    ) -> Vec<String> {
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

    pub(super) fn agents(&self) -> Vec<Process> {
        let agent = |number| self.world.agent_here(number, &ALLOWED);
        let agents = (1..=2).map(agent).collect();
        self.world.wait_for_agents(2);
        agents
    }

    /// Starts all front ends of `by` whose loads take so many seconds; waits until each has begun.
    pub(super) fn front_ends(&self, by: By, seconds: u64) -> Vec<RunningLoad> {
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
        let starts = starts.into_iter().map(|(name, words)| RunningLoad {
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
    pub(super) fn wait_for_load(&self, account: &str) {
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

impl RunningLoad {
    pub(super) fn signal(&self, signal: &str) {
        self.process.signal(signal);
    }

    /// Waits for its end: an error that tells one of `causes` and leaves no result, or a result that is complete.
    pub(super) fn ends_complete_or_tells(mut self, causes: &[&str]) -> bool {
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

impl Scene {
    /// Runs the program from this line of a shell to an error; its words, in small letters.
    pub(super) fn fails_by_shell(&self, line: &str, words: &[String]) -> String {
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

impl Scene {
    /// Rows of the tables that were made.
    pub(super) fn rows_made(&self) -> u64 {
        let mut session = self.server.as_ref().unwrap().session().unwrap();
        let rows_of = |table| {
            let query = format!("SELECT COUNT(*) FROM many.sbtest{table}");
            let rows: Vec<u64> = session.rows("rows", &query).unwrap();
            rows[0]
        };
        (1..=2).map(rows_of).sum()
    }

    /// Waits until `prepare` has made rows. A counter says so: while rows are loaded, a COUNT(*) of MariaDB 10.11 and the
    /// insert can wait for each other's page for ever.
    pub(super) fn wait_for_rows(&self, prepare: &mut Process) {
        let before = self.rows_inserted();
        wait_until("rows inserted", Duration::from_mins(1), || {
            assert!(!prepare.has_ended(), "{before} rows: {}", prepare.text());
            self.rows_inserted() > before + 1_000
        });
    }

    fn rows_inserted(&self) -> u64 {
        let mut session = self.server.as_ref().unwrap().session().unwrap();
        let query = "SELECT CAST(variable_value AS UNSIGNED) FROM information_schema.global_status WHERE variable_name = 'Handler_write'";
        let rows: Vec<u64> = session.rows("rows inserted", query).unwrap();
        rows[0]
    }
}

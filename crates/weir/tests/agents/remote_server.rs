//! A study whose server, drive and data are on another host, where an agent starts them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use weir_model::Flavor;

use super::hosts::{Host, Process, World, network, wait_until};

const WEIR: &str = env!("CARGO_BIN_EXE_weir");
/// The hosts of servers have names of their own: that of the first.
const HOST: &str = "db1";

const STUDY: &str = r#"
[study]
title = "A server elsewhere"
question = "What does doublewrite cost there, on either drive?"

[server]
flavor = "FLAVOR"
agent = "AGENT"
config = { innodb_buffer_pool_size = "16M", innodb_flush_method = "O_DIRECT" }

[data]
workload = "oltp_write_only"
tables = 2
rows = 2_000

[load]
threads = [4]
agents = LOADERS
warmup = "1s"
measure = "SECONDSs"

[factors]
drive = ["intel-p4610", "scaleflux-csd2000"]
innodb_doublewrite = ["ON", "OFF"]

[[exclude]]
drive = "intel-p4610"
innodb_doublewrite = "OFF"

[[events]]
name = "count"
at = "500ms"
kind = "statement"
statement = "SELECT COUNT(*) FROM sbtest1"

[repeat]
runs = 1
"#;

struct Scene {
    world: World,
    /// Of servers: `db1` and so on.
    hosts: Vec<Host>,
    flavor: Flavor,
}

impl Scene {
    fn new(flavor: Flavor, hosts: u32) -> Option<Self> {
        network("a server on another host")?;
        Some(Self {
            world: World::new(2),
            hosts: (2..2 + hosts).map(Host::new).collect(),
            flavor,
        })
    }

    /// The folder of what the servers' hosts keep.
    fn work(&self) -> PathBuf {
        self.world.path("server-hosts/work")
    }

    /// Agent `number` on a server's host, which shares no folder with the conductor.
    fn server_agent(&self, number: u32) -> Process {
        let script = format!("hostname db{number} && exec \"$0\" \"$@\"");
        let (file, work) = (self.world.join_file(number), self.work());
        let work = work.join(format!("db{number}")).display().to_string();
        let host = &self.hosts[number as usize - 1];
        let address = host.address.clone();
        let words = [
            "--uts", "sh", "-c", &script, WEIR, "agent", "--join", &file, "--allow", "server",
            "--work", &work, "--listen", &address,
        ];
        let mut command = host.command(0, "unshare", &words);
        let own = self.world.path(&format!("server-hosts/db{number}"));
        for (variable, folder) in [
            ("XDG_RUNTIME_DIR", "runtime"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(variable, own.join(folder));
        }
        Process::start(&mut command)
    }

    fn load_agent(&self) -> Process {
        let mut command = Command::new(WEIR);
        command.args(["agent", "--join", &self.world.join_file(2)]);
        command.env("XDG_STATE_HOME", self.world.path("state"));
        Process::start(&mut command)
    }

    /// The load comes from an agent on one flavour, from the conductor on the other.
    fn loaders(&self) -> usize {
        usize::from(self.flavor == Flavor::Mariadb)
    }

    /// Runs the study; `changed`: texts of it and what stands there instead.
    fn run(&self, agent: &str, seconds: u32, out: &str, changed: &[(&str, &str)]) -> Process {
        let study = self.world.path("study.toml");
        let mut text = STUDY
            .replace("FLAVOR", &self.flavor.to_string())
            .replace("AGENT", agent)
            .replace("LOADERS", &self.loaders().to_string())
            .replace("SECONDS", &seconds.to_string());
        for (from, to) in changed {
            text = text.replace(from, to);
        }
        fs::write(&study, text).unwrap();
        let out = self.world.path(out).display().to_string();
        let mut command = self
            .world
            .conductor(&["run", study.to_str().unwrap(), "--out", &out]);
        // Neither programs of servers nor snapshots are there.
        command.env("XDG_CACHE_HOME", self.world.path("conductor-cache"));
        Process::start(&mut command)
    }

    /// Server processes and mounts of the host's work folder, and what lies there.
    fn leftovers(&self) -> Vec<String> {
        let work = self.work().display().to_string();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            // The agent itself, and the shell around it, name the folder, too.
            if line.contains(&work) && !line.contains(" agent ") {
                found.push(line);
            }
        }
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        found.extend(
            mounts
                .lines()
                .filter(|line| line.contains(&work))
                .map(str::to_owned),
        );
        let entries = |folder| fs::read_dir(folder).into_iter().flatten().flatten();
        let of_hosts = entries(self.work()).flat_map(|host| entries(host.path()));
        found.extend(of_hosts.map(|entry| entry.path().display().to_string()));
        found
    }

    /// Whether a file of the work folder has this text, a log of the server for instance.
    fn has_in_a_file(&self, text: &str) -> bool {
        let mut grep = Command::new("grep");
        grep.args(["-raqs", "--devices=skip", text])
            .arg(self.work());
        grep.status().unwrap().success()
    }

    fn wait_for_server(&self) {
        wait_until("a server on the host", Duration::from_mins(2), || {
            let found = self.leftovers();
            found.iter().any(|one| one.contains("--defaults-file"))
        });
    }

    /// The result in folder `result`, once `run` has ended and left nothing on the hosts.
    fn result_of(&self, run: &mut Process) -> Value {
        run.ends(Duration::from_mins(4));
        // Beside other tests a rule may find a verdict invalid.
        assert!(matches!(run.code(), Some(0 | 3)), "{}", run.text());
        self.wait_for_nothing();
        serde_json::from_str(&self.report("json")).unwrap()
    }

    fn report(&self, format: &str) -> String {
        let out = self.world.path("result").display().to_string();
        let report = self.world.output(&["report", &out, "--format", format]);
        String::from_utf8(report.stdout).unwrap()
    }

    fn wait_for_nothing(&self) {
        wait_until("nothing left on the host", Duration::from_mins(2), || {
            self.leftovers().is_empty()
        });
    }
}

fn a_study_has_its_server_there(scene: &Scene) {
    let mut run = scene.run(HOST, 2, "result", &[]);
    let result = scene.result_of(&mut run);
    assert_eq!(result["flavor"], scene.flavor.to_string());
    assert_eq!(result["drives"].as_array().unwrap().len(), 2);
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3, "{}", run.text());
    for run in runs {
        assert!(run["record"]["queries_per_s"].as_f64().unwrap() > 0.0);
        assert_eq!(run["server_host"]["host"], HOST);
        assert_eq!(run["server_host"]["agent"], "agent-1");
        assert!(run["drive"].is_object(), "counters of the drive");
        let event = &run["events"][0];
        assert_eq!(event["ending"], "done", "{event}");
        let loaders = run["hosts"].as_array().map_or(0, Vec::len);
        assert_eq!(loaders, scene.loaders());
        let series = run["series"].to_string();
        for metric in [
            "host.core_cpu_user_s",
            "server.memory_bytes",
            "client.cpu_s",
            "drive.",
            "status.",
        ] {
            assert!(series.contains(metric), "{metric}: {}", run["gaps"]);
        }
        let used = &run["record"]["utilization"];
        assert!(used["server_cores"].as_f64().unwrap() > 0.0, "{used}");
        let commands = run["commands"].to_string();
        assert!(commands.contains("weir drive mount"), "{commands}");
        let work = scene.work().display().to_string();
        assert!(!commands.contains(&work), "{commands}");
        assert!(
            run["server_log"]
                .as_str()
                .unwrap()
                .contains("ready for connections")
        );
    }
    let text = scene.report("md");
    assert!(text.contains("agent-1 on db1"), "{text}");
}

fn what_cannot_be_there_is_refused(scene: &Scene) {
    for (agent, changed, why) in [
        ("agent-2", ("", ""), "does not allow `server`"),
        ("agent-7", ("", ""), "no such agent is there"),
        (
            "auto",
            ("innodb_flush_method =", "plugin_load_add ="),
            "decides on files, code and access",
        ),
        (
            "auto",
            ("[factors]", "[factors]\nreplicas = [0, 1]"),
            "has no replicas yet",
        ),
        (
            "auto",
            (
                "kind = \"statement\"\nstatement =",
                "kind = \"set\"\nvariable = \"read_only\"\nvalue =",
            ),
            "has events of the kinds",
        ),
        (
            "auto",
            ("innodb_flush_method =", "innodb_flush_methud ="),
            "innodb_flush_method",
        ),
    ] {
        let mut run = scene.run(agent, 1, "refused", &[changed]);
        assert!(!run.ends(Duration::from_mins(1)), "{why}");
        assert!(run.text().contains(why), "{why}: {}", run.text());
        assert!(scene.leftovers().is_empty());
    }
}

/// With the logs that could have the password of the load's account.
const LOGS: (&str, &str) = (
    "innodb_flush_method =",
    "general_log = \"ON\", log_bin = \"binlog\", innodb_flush_method =",
);

fn a_conductor_that_dies_leaves_nothing(scene: &Scene, agent: &Process) {
    let ends = || agent.text().matches("gone from this host").count();
    let before = ends();
    let run = scene.run("agent-1", 100, "killed", &[LOGS]);
    scene.wait_for_server();
    wait_until("a load", Duration::from_mins(2), || {
        scene.has_in_a_file("weir_load")
    });
    assert!(!scene.has_in_a_file("CREATE USER 'weir_load'"));
    run.signal("KILL");
    scene.wait_for_nothing();
    wait_until("the agent says so", Duration::from_mins(1), || {
        ends() > before
    });
}

fn an_agent_that_is_ended_leaves_nothing(scene: &Scene, mut agent: Process) {
    let mut run = scene.run("agent-1", 100, "ended", &[]);
    scene.wait_for_server();
    agent.signal("TERM");
    agent.ends(Duration::from_mins(1));
    assert_eq!(scene.leftovers(), [""; 0]);
    assert!(!run.ends(Duration::from_mins(2)));
    assert!(
        run.text().contains("agent-1") || run.text().contains("10.77.0.2"),
        "{}",
        run.text()
    );
}

fn a_server_on_another_host(flavor: Flavor) {
    let Some(scene) = Scene::new(flavor, 1) else {
        return;
    };
    let agent = scene.server_agent(1);
    let _load = scene.load_agent();
    scene.world.wait_for_agents(2);
    a_study_has_its_server_there(&scene);
    if flavor == Flavor::Mysql {
        return;
    }
    what_cannot_be_there_is_refused(&scene);
    a_conductor_that_dies_leaves_nothing(&scene, &agent);
    an_agent_that_is_ended_leaves_nothing(&scene, agent);
}

#[test]
fn a_mysql_server_is_on_another_host() {
    a_server_on_another_host(Flavor::Mysql);
}

#[test]
fn a_mariadb_server_is_on_another_host() {
    a_server_on_another_host(Flavor::Mariadb);
}

/// All runs of a repetition are on one host, and the next repetition is on the other.
#[test]
fn repetitions_are_on_two_hosts_in_turn() {
    let Some(scene) = Scene::new(Flavor::Mariadb, 2) else {
        return;
    };
    let _agents = [scene.server_agent(1), scene.server_agent(2)];
    scene.world.wait_for_agents(2);
    let hosts = |names| {
        [
            ("agent = \"db1\"", names),
            ("agents = 1", "agents = 0"),
            ("runs = 1", "runs = 2"),
        ]
    };
    for (names, why) in [
        (
            "agent = [\"db1\", \"agent-1\"]",
            "`db1` and `agent-1` are both agent-1",
        ),
        ("agent = [\"db1\", \"db3\"]", "no such agent is there"),
        (
            "agent = [\"db1\", \"db2\", \"db3\"]",
            "each host needs a repetition",
        ),
    ] {
        let mut run = scene.run("db1", 1, "refused", &hosts(names));
        assert!(!run.ends(Duration::from_mins(1)), "{why}");
        assert!(run.text().contains(why), "{why}: {}", run.text());
    }
    let mut run = scene.run("db1", 2, "result", &hosts("agent = [\"db1\", \"db2\"]"));
    let result = scene.result_of(&mut run);
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6, "{}", run.text());
    for run in runs {
        let host = format!("db{}", run["record"]["repetition"]);
        assert_eq!(run["server_host"]["host"], host);
    }
    let study = scene.world.path("study.toml").display().to_string();
    let plan = scene.world.output(&["plan", &study]);
    let plan = String::from_utf8_lossy(&plan.stdout).into_owned();
    assert!(plan.contains("repetition 2, on db2  drive"), "{plan}");
    let findings = result["findings"].to_string();
    assert!(
        findings.contains("2 repetitions on 2 hosts do not show"),
        "{findings}"
    );
}

//! A server on one host, the conductor on another, and an agent beside the server that samples its host.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use weir_model::Flavor;
use weir_server::{PrivateServer, Session};

use super::hosts::{HOME, Host, Process, World, network, signal_process, wait_until};

const WEIR: &str = env!("CARGO_BIN_EXE_weir");
const PASSWORD: &str = "the-owners-own-password";
/// A program that takes a core of the server's host.
const BACKUP: &str = "backup-job";

const STUDY: &str = r#"
[study]
title = "A server elsewhere"
question = "What did its host do?"

[server]
flavor = "URL"
agent = "AGENT"

[data]
workload = "oltp_point_select"
tables = 1
rows = 1_000

[load]
threads = [2]
warmup = "1s"
measure = "SECONDSs"

[repeat]
runs = 1
"#;

struct Scene {
    world: World,
    conductor: Host,
    url: String,
    /// Before its directory.
    _server: PrivateServer,
    _directory: tempfile::TempDir,
}

impl Scene {
    /// The server is on the test's own host, HOME; the conductor's has another name.
    fn new(flavor: Flavor) -> Self {
        let port = weir_server::free_port().unwrap();
        let variables = [
            ("skip_networking", "OFF"),
            ("bind_address", HOME),
            ("port", &port.to_string()),
        ];
        let (server, directory) = weir_testing::start_with(flavor, &variables);
        let mut session: Session = server.session().unwrap();
        for statement in [
            &format!("CREATE USER app@'10.77.0.%' IDENTIFIED BY '{PASSWORD}'"),
            "GRANT ALL ON *.* TO app@'10.77.0.%'",
        ] {
            session.run("make an account", statement).unwrap();
        }
        Self {
            world: World::new(2),
            conductor: Host::new(2),
            url: format!("{flavor}://app@{HOME}:{port}/sbtest"),
            _server: server,
            _directory: directory,
        }
    }

    /// An agent beside the server.
    fn agent(&self, number: u32, allow: &str) -> Process {
        let mut command = Command::new(WEIR);
        command.args([
            "agent",
            "--join",
            &self.world.join_file(number),
            "--allow",
            allow,
        ]);
        command.env("XDG_STATE_HOME", self.world.path("state"));
        Process::start(&mut command)
    }

    /// `weir` on the conductor's host, which has another name.
    fn conduct(&self, args: &[&str]) -> Command {
        let script = "hostname conductor && exec \"$0\" \"$@\"";
        let mut words = vec!["--uts", "sh", "-c", script, WEIR];
        words.extend(args);
        let mut command = self.conductor.command(0, "unshare", &words);
        command
            .env("XDG_RUNTIME_DIR", self.world.path(""))
            .env("XDG_STATE_HOME", self.world.path(""))
            .env("WEIR_BUS", self.world.path("bus/conductor.join"))
            .env("WEIR_MYSQL_PASSWORD", PASSWORD);
        command
    }

    fn run(&self, agent: &str, seconds: u32, out: &str) -> Process {
        let study = self.world.path("study.toml");
        let text = STUDY.replace("URL", &self.url).replace("AGENT", agent);
        fs::write(&study, text.replace("SECONDS", &seconds.to_string())).unwrap();
        let out = self.world.path(out).display().to_string();
        let args = ["run", study.to_str().unwrap(), "--out", &out];
        Process::start(&mut self.conduct(&args))
    }

    fn result(&self, out: &str) -> Value {
        let out = self.world.path(out).display().to_string();
        let report = self.world.output(&["report", &out, "--format", "json"]);
        serde_json::from_slice(&report.stdout).unwrap()
    }
}

fn its_host_is_in_the_result(flavor: Flavor) {
    if network("an agent on the server's host").is_none() {
        return;
    }
    let scene = Scene::new(flavor);
    let probe = scene.agent(1, "probe");
    let _load_only = scene.agent(2, "load");
    scene.world.wait_for_agents(2);
    others_and_the_server_are_seen(&scene);
    if flavor == Flavor::Mariadb {
        return;
    }
    what_its_owner_does_not_allow_is_refused(&scene);
    a_load_tells_the_host(&scene);
    a_dead_agent_is_a_gap(&scene, &probe);
    drop(probe);
    let probe = scene.agent(1, "probe");
    scene.world.wait_for_agents(2);
    a_dead_conductor_is_forgotten(&scene, &probe);
}

#[test]
fn the_host_of_a_mysql_server_is_in_the_result() {
    its_host_is_in_the_result(Flavor::Mysql);
}

#[test]
fn the_host_of_a_mariadb_server_is_in_the_result() {
    its_host_is_in_the_result(Flavor::Mariadb);
}

fn others_and_the_server_are_seen(scene: &Scene) {
    // A program of this name, as the kernel has it.
    let program = scene.world.path(BACKUP);
    fs::copy("/bin/sh", &program).unwrap();
    let mut backup = Command::new(program);
    let backup = Process::start(backup.args(["-c", "while :; do :; done"]));
    let mut run = scene.run("auto", 4, "seen");
    run.ends(Duration::from_mins(3));
    assert!(matches!(run.code(), Some(0 | 3)), "{}", run.text());
    drop(backup);
    let result = scene.result("seen");
    let run = &result["runs"][0];
    assert_eq!(
        run["server_host"]["agent"], "agent-1",
        "{}",
        run["server_host"]
    );
    let used = &run["record"]["utilization"];
    for number in ["host_cpu", "host_cores", "server_cores", "other_cores"] {
        assert!(used[number].as_f64().unwrap() > 0.0, "{number}: {used}");
    }
    let series = run["series"].to_string();
    for metric in [
        "host.core_cpu_user_s",
        BACKUP,
        "server.memory_bytes",
        "client.cpu_s",
    ] {
        assert!(series.contains(metric), "{metric}");
    }
    let out = scene.world.path("seen").display().to_string();
    let text = scene.world.output(&["report", &out, "--format", "md"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        text.contains("## Server hosts") && text.contains("agent-1 on "),
        "{text}"
    );
}

fn what_its_owner_does_not_allow_is_refused(scene: &Scene) {
    for (agent, why) in [
        ("agent-2", "its owner does not allow `probe`"),
        ("no-such-agent", "no such agent is there"),
    ] {
        let mut run = scene.run(agent, 1, "refused");
        assert!(!run.ends(Duration::from_mins(1)));
        assert!(run.text().contains(why), "{}", run.text());
    }
    // Nor does an agent for the host's figures take a share of a load.
    let load = scene.world.output(&[
        "load",
        "oltp_point_select",
        "--agents=2",
        "--mysql-host=10.77.0.1",
        "run",
    ]);
    let words = String::from_utf8_lossy(&load.stderr);
    assert!(words.contains("agents = 2: 1 are there"), "{words}");
}

fn a_load_tells_the_host(scene: &Scene) {
    let port = scene.url.rsplit(':').next().unwrap();
    let port = format!("--mysql-port={}", port.split('/').next().unwrap());
    let host = format!("--mysql-host={HOME}");
    let load = |command: &str| {
        let args = [
            "load",
            "oltp_point_select",
            &host,
            &port,
            "--mysql-user=app",
            "--table_size=1000",
            "--time=3",
            "--server-agent=auto",
            command,
        ];
        let output = scene.conduct(&args).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words}");
        words
    };
    let words = load("run");
    assert!(words.contains("server's host agent-1 on "), "{words}");
    // Several conductors at once: none ends what another one reads.
    std::thread::scope(|scope| {
        let loads: Vec<_> = (0..5).map(|_| scope.spawn(|| load("run"))).collect();
        for words in loads.into_iter().map(|load| load.join().unwrap()) {
            assert!(words.contains("server's host agent-1 on "), "{words}");
            assert!(!words.contains("not sampled"), "{words}");
        }
    });
}

fn a_dead_agent_is_a_gap(scene: &Scene, probe: &Process) {
    let watches = || probe.text().matches("reads this host's figures").count();
    let before = watches();
    let mut run = scene.run("agent-1", 6, "gap");
    wait_until("a watch", Duration::from_mins(1), || watches() > before);
    std::thread::sleep(Duration::from_secs(2));
    signal_process(probe.id(), "KILL");
    run.ends(Duration::from_mins(3));
    assert!(matches!(run.code(), Some(0 | 3)), "{}", run.text());
    let result = scene.result("gap");
    let run = &result["runs"][0];
    assert!(run["record"]["queries_per_s"].as_f64().unwrap() > 0.0);
    let gaps = run["gaps"].to_string();
    assert!(
        gaps.contains("server's host") && gaps.contains("agent-1"),
        "{gaps}"
    );
}

/// The watch of a conductor that was killed ends by itself.
fn a_dead_conductor_is_forgotten(scene: &Scene, probe: &Process) {
    let run = scene.run("agent-1", 60, "killed");
    wait_until("a watch", Duration::from_mins(1), || {
        probe.text().contains("reads this host's figures")
    });
    drop(run);
    wait_until("no watch", Duration::from_mins(1), || {
        probe
            .text()
            .contains("no conductor reads this host's figures any more")
    });
}

//! Less than what was asked for is no result: each front end under each cause of an early end.
//!
//! Those that a cause meets run side by side on one server, and the cause comes once for all of them.

mod scene;

use std::fs;
use std::time::Duration;

use self::scene::{ALLOWED, By, DRIVEN, PATIENCE, RunningLoad, Scene};
use super::hosts::{Process, signal_process, wait_until};

/// Fails in the middle of a run.
const FAILING: &str = "function thread_init() con = sysbench.sql.driver():connect(); n = 0 end
function event() con:query('SELECT 1'); n = n + 1; if n > 200 then error('low tide') end end\n";
/// Ends by itself after some 300 of its own rounds.
const SHORT: &str = "function event() end
function thread_run() local con = sysbench.sql.driver():connect()
for _ = 1, 300 do con:query('SELECT 1') end end\n";

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

/// The bus with its supervisor: there is nothing that brings it back.
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
    let running = |seconds: f64, words: Vec<String>| RunningLoad {
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
        let one = RunningLoad {
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
        let one = RunningLoad {
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

/// Tables that are being made, in one process and from agents.
#[test]
fn tables_are_made_whole_or_the_command_fails() {
    let scene = Scene::new();
    let agents = scene.agents();
    let rows = |words: &[&str]| {
        let tables = [
            "--mysql-db=many",
            "--tables=2",
            "--table-size=150000",
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
            scene.wait_for_rows(&mut prepare);
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
            assert_eq!(scene.rows_made(), 300_000);
            let mut cleanup = scene.start(&rows(&["cleanup"]));
            assert!(cleanup.ends(PATIENCE), "{}", cleanup.text());
        }
    }
    let mut lost = scene.start(&rows(&["--agents=2", "prepare"]));
    scene.wait_for_rows(&mut lost);
    agents[1].signal("KILL");
    assert!(!lost.ends(PATIENCE), "{}", lost.text());
    assert!(lost.text().contains("agent agent-2"), "{}", lost.text());
    let mut cleanup = scene.start(&rows(&["cleanup"]));
    assert!(cleanup.ends(PATIENCE), "{}", cleanup.text());
    let mut gone = scene.start(&rows(&["prepare"]));
    scene.wait_for_rows(&mut gone);
    signal_process(scene.server.as_ref().unwrap().pid(), "KILL");
    assert!(!gone.ends(PATIENCE), "{}", gone.text());
}

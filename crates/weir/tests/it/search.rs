//! What `weir run` does beyond fixed blocks: searches, warm-ups until steady, several runs on one
//! server, settings of drives.

use std::fs;

use serde_json::Value;
use weir_model::Flavor;

use crate::harness::{Output, Weir, World, small_study, wait_until};
use crate::run::name;
use crate::users::Users;

fn run(world: &World, study: &str) -> Weir {
    fs::create_dir_all(world.path("work")).unwrap();
    let study = world.write("study.toml", study);
    Weir::in_world(world)
        .args(["run", study.to_str().unwrap(), "--resume"])
        .args(["--out", world.path("out").to_str().unwrap()])
        .args(["--work", world.path("work").to_str().unwrap()])
}

weir_testing::on_both_flavors! {
    a_search_is_killed_resumed_and_answered
    runs_share_a_server_and_warm_up_until_steady
    ctrl_c_ends_a_study_while_it_connects
}

fn result(world: &World) -> Value {
    let out = world.path("out");
    let report = ["report", out.to_str().unwrap(), "--format", "json"];
    serde_json::from_str(&Weir::new().args(report).succeeds().stdout).unwrap()
}

/// `small_study` with quick runs and other factors and repetitions.
fn quick_study(flavor: &str, rest: &str) -> String {
    let head = small_study(flavor);
    let head = head.split("[factors]").next().unwrap();
    let head = head.replace("\"2s\"", "\"1s\"").replace("8\n", "2\n");
    format!("{head}\n{rest}")
}

/// Everything up to 80 transactions per second has a latency below ten seconds: 20, 40 and 80 are
/// tried, and 80 is measured again.
fn a_search_is_killed_resumed_and_answered(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let study = quick_study(
        flavor,
        "[factors]\ndrive = [\"intel-p4610\"]\n[search]\nfind = \"rate\"\n\
         objective = \"p99 <= 10s\"\nrange = \"20..80\"\nconfirm = 2",
    );
    let mut child = run(&world, &study).spawn();
    wait_until("two places are measured", || world.runs_stored() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let output = run(&world, &study).completes();
    let answer = "highest rate with p99 <= 10s: 80 transactions/s or more";
    for part in [answer, "measured again at 80 transactions/s in 2 runs"] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    let result = result(&world);
    assert_eq!(result["runs"].as_array().unwrap().len(), 5);
    assert_eq!(result["searches"][0]["found"][0]["place"], 80);
    world.assert_nothing_left();
}

/// On a server that the user gives, as on one of Weir's own: every number of connections keeps ten seconds, so 1, 2 and 4
/// are tried, and 4 is measured again. None keeps a microsecond.
#[test]
fn the_most_connections_are_searched_on_a_users_server() {
    let users = Users::new(Flavor::Mariadb);
    let url = users.url("app.cnf");
    let head = quick_study("mariadb", "").replace("scale = { drive = \"1/25\" }", "");
    let head = head
        .replace("\"mariadb\"", &format!("\"{url}\""))
        .replace("40_000", "1_000");
    let (before, after) = head.split_once("[server.config]").unwrap();
    let head = before.to_owned() + &after[after.find("[data]").unwrap()..];
    let head = head.replace("threads = 2\n", "");
    for (objective, answer) in [
        (
            "p99 <= 10s",
            "most connections with p99 <= 10s: 4 connections or more",
        ),
        (
            "p50 <= 1us",
            "most connections with p50 <= 0.001ms: none, it was missed already at 1 connection",
        ),
    ] {
        let search = format!(
            "[search]\nfind = \"threads\"\nobjective = \"{objective}\"\nrange = \"1..4\"\nconfirm = 1"
        );
        let study = users
            .world
            .write("study.toml", &format!("{head}\n{search}"));
        let out = users.world.path(&objective.replace(' ', ""));
        let run = [
            "run",
            study.to_str().unwrap(),
            "--out",
            out.to_str().unwrap(),
        ];
        let output = users.weir(&run).output();
        assert!(
            output.stdout.contains(answer),
            "{}{}",
            output.stdout,
            output.stderr
        );
    }
}

fn runs_share_a_server_and_warm_up_until_steady(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let study = quick_study(
        flavor,
        "[factors]\ndrive = [\"intel-p4610\"]\n\"drive.read.latency_us\" = [300]\n\
         threads = [1, 2]\n[repeat]\nruns = 1\nwithin_server = [\"threads\"]",
    );
    let study = study.replace("threads = 2\n", "threads = 1\n").replace(
        "warmup = \"1s\"",
        "warmup = { at_least = \"1s\", at_most = \"2s\" }",
    );
    let output = run(&world, &study).output();
    assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
    assert!(
        output.stdout.contains("went on with a server"),
        "{}",
        output.stdout
    );
    let result = result(&world);
    let approach = |run: &Value, key: &str| run["record"]["approach"][key].clone();
    let runs = result["runs"].as_array().unwrap();
    let before: Vec<_> = runs
        .iter()
        .map(|run| approach(run, "runs_before"))
        .collect();
    assert_eq!(before, [0, 1]);
    for run in runs {
        assert!(approach(run, "steady").is_boolean());
        let warmup_s = approach(run, "warmup_s").as_f64().unwrap();
        // As long as it may be, and until the next second is complete, which a busy machine makes late.
        assert!((2.0..=10.0).contains(&warmup_s), "{warmup_s}");
        let first = run["intervals"][0]["time_s"].as_f64().unwrap();
        assert!(first < -0.9 && first >= -warmup_s, "{first}");
    }
    assert_eq!(
        result["drives"][0]["name"],
        "intel-p4610+read.latency_us=300"
    );
    assert_eq!(result["drives"][0]["read"]["latency_us"], 300.0);
    world.assert_nothing_left();
}

#[test]
fn ctrl_c_ends_a_warm_up_until_steady() {
    let world = World::new();
    let study = quick_study("mariadb", "[factors]\ndrive = [\"intel-p4610\"]").replace(
        "warmup = \"1s\"",
        "warmup = { at_least = \"60s\", at_most = \"60s\" }",
    );
    let child = run(&world, &study).spawn();
    wait_until("the server is up", || !world.live_pids("server").is_empty());
    crate::harness::signal(child.id(), "INT");
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(130), "{}{}", output.stdout, output.stderr);
    world.assert_nothing_left();
}

/// Connections to sockets of this test's.
fn connections(world: &World) -> usize {
    let table = fs::read_to_string("/proc/net/unix").unwrap();
    let connected = |line: &&str| line.split_ascii_whitespace().nth(5) == Some("03");
    let runtime = world.runtime.path().to_str().unwrap();
    let home = world.home.path().to_str().unwrap();
    table
        .lines()
        .filter(connected)
        .filter(|line| line.contains(runtime) || line.contains(home))
        .count()
}

fn ctrl_c_ends_a_study_while_it_connects(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let study = quick_study(flavor, "[factors]\ndrive = [\"intel-p4610\"]").replace(
        "warmup = \"1s\"",
        "warmup = { at_least = \"60s\", at_most = \"60s\" }",
    );
    let many = study.replace("threads = 2\n", "threads = 900\n");
    assert_ne!(study, many);
    let child = run(&world, &many).spawn();
    wait_until("it connects", || connections(&world) > 20);
    crate::harness::signal(child.id(), "INT");
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(130), "{}{}", output.stdout, output.stderr);
    world.assert_nothing_left();
}

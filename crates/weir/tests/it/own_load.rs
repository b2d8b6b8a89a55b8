//! Studies of loads of one's own: a workload's file, mixes, paces, and how connections are made.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Weir, World};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the study of this text, and returns its result.
fn run(world: &World, text: &str, more: &[&str]) -> Value {
    let study = world.write("study.toml", text);
    let out = world.path("out");
    let output = Weir::in_world(world)
        .args(["run", study.to_str().unwrap()])
        .args(["--out", out.to_str().unwrap()])
        .args(more)
        .output();
    // 3: one repetition decides nothing.
    assert!(
        matches!(output.code, Some(0 | 3)),
        "{}{}",
        output.stdout,
        output.stderr
    );
    let report = ["report", out.to_str().unwrap(), "--format", "json"];
    let json = Weir::new().args(report).succeeds().stdout;
    serde_json::from_str(&json).unwrap()
}

/// The command of the load of each cell, which was run once.
fn loads(result: &Value) -> Vec<&str> {
    let runs = result["runs"].as_array().unwrap();
    let mut loads: Vec<_> = runs
        .iter()
        .map(|run| {
            let commands = run["commands"].as_array().unwrap();
            let load = commands.last().and_then(Value::as_str).unwrap();
            (run["record"]["cell"].as_u64(), load)
        })
        .collect();
    loads.sort_unstable();
    loads.into_iter().map(|(_, load)| load).collect()
}

fn study(data: &str, load: &str, factors: &str) -> String {
    format!(
        "[study]\ntitle = \"Own\"\nquestion = \"?\"\n[server]\n[data]\n{data}\n[load]\nthreads = 2\n\
         warmup = \"1s\"\nmeasure = \"1s\"\n{load}\n[factors]\n{factors}\n[repeat]\nruns = 1\n"
    )
}

/// The study that comes with Weir, shorter still.
#[test]
fn two_servers_are_compared_on_a_workload_of_ones_own() {
    let world = World::new();
    let shop = repository().join("workloads/shop.toml");
    let text = std::fs::read_to_string(repository().join("studies/own-workload.toml")).unwrap();
    let text = text.replace("../workloads/shop.toml", shop.to_str().unwrap());
    let text = text
        .replace("runs = 3", "runs = 1")
        .replace("\"5s\"", "\"2s\"");
    let result = run(&world, &text, &["--reduced"]);
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert!(run["record"]["queries_per_s"].as_f64().unwrap() > 0.0);
        // Each kind of transaction has latencies of its own.
        let kinds = run["kinds"].as_array().unwrap();
        let looks = kinds.iter().find(|kind| kind["name"] == "look").unwrap();
        assert_eq!(looks["is_statement"], false);
        assert!(looks["latency"]["us_p99"].as_f64().unwrap() > 0.0);
    }
    let servers = result["plan"]["cells"].as_array().unwrap().iter();
    let servers = servers.map(|cell| cell["levels"]["server"].as_str().unwrap());
    assert_eq!(servers.collect::<Vec<_>>(), ["mysql", "mariadb"]);
    let workload = &result["plan"]["cells"][0]["spec"]["workload"];
    assert!(workload["text"].as_str().unwrap().contains("A web shop"));
}

#[test]
fn mixes_paces_and_idle_connections_reach_the_server() {
    let world = World::new();
    let data = "workload = \"oltp_point_select:80,oltp_update_index:20\"\nrows = 1000";
    let load = "idle_connections = 3\nthreads_ramp = \"100ms\"";
    let factors = "think_time = [\"0s\", \"20ms\"]";
    let result = run(&world, &study(data, load, factors), &[]);
    let commands = loads(&result);
    for command in &commands {
        for part in [
            "weir load oltp_point_select:80,oltp_update_index:20 ",
            "--idle-connections=3",
            "--threads-ramp=100ms",
        ] {
            assert!(command.contains(part), "{command}");
        }
    }
    assert!(!commands[0].contains("think"), "{}", commands[0]);
    assert!(commands[1].contains("--think-time=20ms"), "{}", commands[1]);
}

#[test]
fn packed_and_encrypted_connections_are_levels() {
    let world = World::new();
    let data = "workload = \"oltp_text_read_only\"\nrows = 1000\ntext_file = \"book.txt\"";
    world.write(
        "book.txt",
        &"It was a dark and stormy night.\nThe rain fell.\n".repeat(9),
    );
    let load = "rate_ramp = \"5..20:2s\"";
    let factors = "arm = [\n  { name = \"plain\", compression = \"uncompressed\" },\n  \
                   { name = \"packed\", compression = \"zlib\", tls = \"required\" },\n]";
    let result = run(&world, &study(data, load, factors), &[]);
    let commands = loads(&result);
    for command in &commands {
        assert!(command.contains("--rate-ramp=5..20:2s"), "{command}");
        assert!(command.contains("book.txt"), "{command}");
    }
    assert!(!commands[0].contains("mysql-"), "{}", commands[0]);
    for part in ["--mysql-compression=on", "--mysql-ssl=required"] {
        assert!(commands[1].contains(part), "{}", commands[1]);
    }
}

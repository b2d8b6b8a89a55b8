//! A study whose load comes from one and from two load hosts, on a private server of this host.

use std::fs;
use std::time::Duration;

use super::hosts::{Process, World, wait_until};

const STUDY: &str = r#"
[study]
title = "One load host or two"
question = "Is the client the limit?"

[server]
flavor = "mysql"
config = { innodb_buffer_pool_size = "32M" }

[data]
workload = "oltp_point_select"
tables = 2
rows = 2_000

[load]
threads = [8]
warmup = "1s"
measure = "2s"

[factors]
agents = [1, 2]

[repeat]
runs = 1
"#;

#[test]
fn agents_are_a_factor_and_the_result_has_what_each_did() {
    let world = World::on_loopback(2);
    let start = |number: u32| world.agent_here(number, &[]);
    let agents: Vec<_> = (1..=2).map(start).collect();
    world.wait_for_agents(2);
    let study = world.path("study.toml");
    fs::write(&study, STUDY).unwrap();
    let out = world.path("result").display().to_string();
    let mut run = world.conductor(&["run", study.to_str().unwrap(), "--out", &out]);
    let mut run = Process::start(&mut run);
    // Beside other tests a rule may find the verdict invalid.
    let done = run.ends(Duration::from_mins(4));
    assert!(done || run.code() == Some(3), "{}", run.text());
    let report = world.output(&["report", &out, "--format", "json"]);
    let result: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    let text = world.output(&["report", &out, "--format", "md"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("## Load hosts"), "{text}");
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    let mut shapes = Vec::new();
    for run in runs {
        assert!(run["record"]["queries_per_s"].as_f64().unwrap() > 0.0);
        let hosts = run["hosts"].as_array().unwrap();
        shapes.push(
            hosts
                .iter()
                .map(|host| host["connections"].as_u64().unwrap())
                .collect::<Vec<_>>(),
        );
        for host in hosts {
            assert!(host["clock_error_us"].as_f64().unwrap() < 1e6, "{host}");
        }
    }
    shapes.sort();
    assert_eq!(shapes, [vec![4, 4], vec![8]]);

    // One agent fewer than the study needs: the study ends, and names what is missing.
    drop(agents);
    wait_until("no agents", Duration::from_secs(20), || {
        world.list().is_empty()
    });
    let _one = start(1);
    world.wait_for_agents(1);
    let out = world.path("second").display().to_string();
    let refused = world.output(&["run", study.to_str().unwrap(), "--out", &out]);
    let words = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(words.contains("agents = 2: 1 are there"), "{words}");
}

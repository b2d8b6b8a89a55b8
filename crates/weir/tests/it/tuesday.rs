//! The whole way from "my Tuesday" to a verdict: the four commands of docs/replay.md and the study below them are run as
//! they stand there, with names of this test's own servers and a smaller question.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Child;

use serde_json::Value;

use crate::harness::{Weir, signal};
use crate::server::Servers;

const PAGE: &str = include_str!("../../../../docs/replay.md");
const SHOP: &str = include_str!("../../../../workloads/shop.toml");
const HEADING: &str = "## From my Tuesday to a verdict\n";
/// The statement that the shop's customers send most.
const LOOK: &str = "select name, price_cents, stock from product where id = ?";

/// The section's commands and its study.
fn documented() -> (Vec<&'static str>, &'static str) {
    let section = PAGE.split_once(HEADING).unwrap().1;
    let mut parts = section.split("```").skip(1).step_by(2);
    let commands = parts.next().unwrap().trim().lines().collect();
    let study = parts.next().unwrap().strip_prefix("toml\n").unwrap();
    (commands, study)
}

/// With names of this test in place of the page's.
fn replaced(text: &str, by: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (from, to) in by {
        assert!(text.contains(from), "{from} is not in: {text}");
        text = text.replace(from, to);
    }
    text
}

/// `weir`, as the reader types it in the test's folder.
fn typed(servers: &Servers, line: &str) -> Weir {
    let words = shlex::split(line).unwrap();
    let [program, command, arguments @ ..] = words.as_slice() else {
        panic!("{line}");
    };
    assert_eq!(program, "weir");
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    servers
        .command(command, &arguments)
        .at(servers.world.home.path())
}

/// Production: a server with the shop's tables, its port, its password, and a copy of its data from before the capture.
struct Production {
    port: u64,
    password: String,
    backup: PathBuf,
    shop: PathBuf,
}

impl Production {
    fn start(servers: &Servers) -> Self {
        let up = ["up", "production", "--server", "mysql", "--port", "0"];
        let info = servers.json(&up);
        let shop = SHOP.replace("00_000\n", "_000\n");
        let mut production = Self {
            port: info["port"].as_u64().unwrap(),
            password: servers.endpoint("production").password.reveal().to_owned(),
            backup: servers.path("backup"),
            shop: servers.world.write("shop.toml", &shop),
        };
        production.load(servers, production.port, &["prepare"]);
        servers.weir(&["down", "production"]).succeeds();
        let data = servers.path("state/weir/instances/production/data");
        weir_server::copy_directory(&data, &production.backup).unwrap();
        production.port = servers.json(&["up", "production"])["port"]
            .as_u64()
            .unwrap();
        production
    }

    /// `weir load` of the shop on this port.
    fn load(&self, servers: &Servers, port: u64, words: &[&str]) {
        let port = format!("--mysql-port={port}");
        let shop = self.shop.to_str().unwrap();
        let options = [shop, "--mysql-host=127.0.0.1", &port, "--mysql-user=weir"];
        servers
            .command("load", &options)
            .args(words)
            .env("WEIR_MYSQL_PASSWORD", &self.password)
            .succeeds();
    }
}

/// The proxy says its port first.
fn port(proxy: &mut Child) -> u64 {
    let mut lines = BufReader::new(proxy.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let port = first.split([':', ' ']).find_map(|word| word.parse().ok());
    port.unwrap_or_else(|| panic!("{first}"))
}

#[test]
fn the_four_documented_commands_lead_to_a_verdict() {
    let servers = Servers::new();
    let (commands, study) = documented();
    let [capture, up, snapshot, run] = commands.as_slice() else {
        panic!("{commands:?}");
    };
    let production = Production::start(&servers);

    let to = format!("mysql://127.0.0.1:{}", production.port);
    let here = [("127.0.0.1:3307", "127.0.0.1:0"), ("mysql://db1:3306", &to)];
    let mut proxy = typed(&servers, &replaced(capture, &here)).spawn();
    let listening = port(&mut proxy);
    let busy = ["--threads=4", "--rate=100", "--time=2", "run"];
    production.load(&servers, listening, &busy);
    signal(proxy.id(), "INT");
    assert!(proxy.wait().unwrap().success());
    servers.weir(&["down", "production"]).succeeds();

    let backup = [("/backup/shop", production.backup.to_str().unwrap())];
    typed(&servers, &replaced(up, &backup)).succeeds();
    typed(&servers, snapshot).succeeds();
    servers.weir(&["down", "tuesday"]).succeeds();
    let smaller = [
        (r#"["1G", "2G"]"#, r#"["32M", "64M"]"#),
        ("runs = 5", "runs = 3"),
    ];
    servers
        .world
        .write("tuesday-question.toml", &replaced(study, &smaller));
    let work = servers.world.path("work");
    let run = replaced(run, &[("/mnt/nvme/weir", work.to_str().unwrap())]);
    let told = typed(&servers, &run).completes().stdout;
    assert!(
        told.contains("innodb_buffer_pool_size 64M") && told.contains("95 % interval"),
        "{told}"
    );
    assert_faithful(&servers);
    servers.world.assert_nothing_left();
}

/// Each run sent the same statements to the same data, and both arms are compared by kind of statement.
fn assert_faithful(servers: &Servers) {
    let results = servers.path("results");
    let mut folders = std::fs::read_dir(results).unwrap();
    let folder = folders.next().unwrap().unwrap().path();
    let report = ["report", folder.to_str().unwrap(), "--format", "json"];
    let result: Value = serde_json::from_str(&Weir::new().args(report).succeeds().stdout).unwrap();
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        let fidelity = &run["replay"]["fidelity"];
        let of = |key: &str| fidelity[key].as_u64().unwrap();
        assert!(of("sent") > 300, "{fidelity}");
        assert_eq!(of("sessions_joined"), of("sessions"), "{fidelity}");
        // A lock error comes by chance; rows differ where buyers of one product met in another order.
        assert!(
            of("errors_differ") <= of("errors_captured") + of("lock_errors_new"),
            "{fidelity}"
        );
        // What the server refused to prepare in the capture, it refuses again: no failed transaction.
        let failed = run["record"]["errors"].as_u64().unwrap();
        assert!(failed <= of("errors"), "{failed}: {fidelity}");
        assert!(of("rows_differ") * 100 <= of("rows_compared"), "{fidelity}");
    }
    let kinds = result["comparisons"][0]["replay"]["fingerprints"].clone();
    let mut kinds = kinds.as_array().unwrap().iter();
    let look = kinds.find(|kind| kind["fingerprint"] == LOOK);
    assert!(
        look.is_some_and(|kind| kind["verdict"].is_string()),
        "{result:#}"
    );
}

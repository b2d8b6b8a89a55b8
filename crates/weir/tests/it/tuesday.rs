//! The whole way from "my Tuesday" to a verdict, as docs/replay.md tells it: a log of production, a backup of its data, a
//! study of both. And the way without the data: a workload that is fitted to the log, and what is predicted of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use weir_load::{LoadPlan, PreparePlan, TableOptions, Workload};
use weir_model::LoadSpec;
use weir_mysql::Gate;

use crate::harness::Weir;
use crate::server::Servers;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/shop.toml");
const TRANSACTIONS: u64 = 3_000;
/// Pools that are predicted: from a part of the shop's pages to nearly all of them.
const POOLS: &str = "8M,12M,16M";
/// How far a fit's miss ratio may be from the shop's own, both predicted.
const MISSES_APART_MAX: f64 = 0.02;

/// Production: the shop's tables, its load, and the general log of that.
fn production(servers: &Servers) -> PathBuf {
    servers.json(&["up", "production", "--server", "mysql"]);
    let workload = Workload::read(SHOP).unwrap();
    let endpoint = servers.endpoint("production");
    let stop = AtomicBool::new(false);
    let filling = PreparePlan {
        threads: 2,
        tables: TableOptions::default(),
        ..PreparePlan::new(endpoint.clone(), workload.clone())
    };
    weir_load::prepare(&filling, &Gate::own(), &stop, &mut |_, _| {}).unwrap();
    let log = servers.path("general.log");
    let mut session = weir_testing::connect(&endpoint);
    for sql in [
        format!("SET GLOBAL general_log_file = '{}'", log.display()),
        "SET GLOBAL general_log = ON".to_owned(),
    ] {
        session.run(sql).unwrap();
    }
    let load = LoadPlan {
        max_events: Some(TRANSACTIONS),
        load: LoadSpec {
            connections: 4,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint, workload)
    };
    weir_load::run(&load, &Gate::own(), &stop, &mut |_| {}).unwrap();
    session.run("SET GLOBAL general_log = OFF").unwrap();
    log
}

/// A study of the shop's tables, or of those of a file that stands for it.
fn study_of_workload(servers: &Servers, name: &str, workload: &Path) -> PathBuf {
    let text = format!(
        "[study]\ntitle = \"Pools\"\nquestion = \"?\"\n[server]\nflavor = \"mysql\"\n[data]\nworkload = \"{}\"\n\
         [load]\nmeasure = \"5s\"\n[factors]\ninnodb_buffer_pool_size = [\"8M\"]\n",
        workload.display()
    );
    servers.world.write(name, &text)
}

/// What the pools miss, by a prediction.
fn misses(servers: &Servers, study: &Path) -> Vec<f64> {
    let told = Weir::in_world(&servers.world)
        .args(["predict", "study", study.to_str().unwrap()])
        .args(["--pool", POOLS, "--json"])
        .succeeds();
    let rows: Value = serde_json::from_str(&told.stdout).unwrap();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["miss_ratio"].as_f64().unwrap())
        .collect()
}

#[test]
fn a_tuesday_becomes_a_verdict_and_a_workload() {
    let servers = Servers::new();
    let log = production(&servers);
    let capture = servers.path("tuesday.weircap");
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    servers
        .command("capture", &["import", &path(&log), "-o", &path(&capture)])
        .succeeds();

    fitted_and_predicted(&servers, &capture);

    // The other three commands.
    servers.weir(&["down", "production"]).succeeds();
    let data = servers.path("state/weir/instances/production/data");
    let backup = servers.path("backup");
    weir_server::copy_directory(&data, &backup).unwrap();
    servers
        .weir(&["up", "tuesday", "--from-backup", &path(&backup)])
        .succeeds();
    servers
        .weir(&["snapshot", "take", "tuesday", "--as", "shop-at-capture"])
        .succeeds();
    let study = servers.world.write(
        "tuesday-question.toml",
        &format!(
            "[study]\ntitle = \"My Tuesday\"\nquestion = \"?\"\n[server]\nflavor = \"mysql\"\n[data]\n\
             snapshot = \"shop-at-capture\"\n[load]\nreplay = \"{}\"\npace = \"fast\"\n[factors]\n\
             innodb_buffer_pool_size = [\"8M\", \"64M\"]\n[repeat]\nruns = 1\n",
            capture.display()
        ),
    );
    let (out, work) = (servers.path("out"), servers.path("work"));
    std::fs::create_dir_all(&work).unwrap();
    let ran = servers
        .command("run", &[&path(&study), "--out", &path(&out)])
        .args(["--work", &path(&work)])
        .output();
    // 3: one repetition decides nothing.
    assert!(
        matches!(ran.code, Some(0 | 3)),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let report = ["report", &path(&out), "--format", "json"];
    let result = Weir::new().args(report).succeeds().stdout;
    let result: Value = serde_json::from_str(&result).unwrap();
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let fidelity = &run["replay"]["fidelity"];
        let of = |key: &str| fidelity[key].as_u64().unwrap();
        // The backup has what the log's statements ask for.
        assert!(of("sent") > TRANSACTIONS, "{fidelity}");
        assert_eq!(of("errors_differ"), 0, "{fidelity}");
    }
    let kinds = &result["comparisons"][0]["replay"]["fingerprints"];
    assert!(
        kinds
            .to_string()
            .contains("select name, price_cents, stock"),
        "{kinds}"
    );
}

/// The fit has the shop's tables and asks for their pages as the shop does, which a prediction says to be no measurement.
fn fitted_and_predicted(servers: &Servers, capture: &Path) {
    let endpoint = servers.endpoint("production");
    let weir_model::Address::Socket(socket) = &endpoint.address else {
        panic!("{endpoint:?}");
    };
    let url = format!(
        "mysql://{}@localhost/{}?socket={}",
        endpoint.user,
        endpoint.database,
        socket.display()
    );
    let fitted = servers.path("tuesday.toml");
    servers
        .command("workload", &["fit", capture.to_str().unwrap(), &url, "-o"])
        .args([&fitted])
        .env("WEIR_MYSQL_PASSWORD", endpoint.password.reveal())
        .succeeds();
    let text = std::fs::read_to_string(&fitted).unwrap();
    for table in ["product", "purchase"] {
        assert!(text.contains(&format!("[tables.\"{table}\"]")), "{text}");
    }
    servers
        .command("workload", &["check", capture.to_str().unwrap()])
        .args([&fitted])
        .succeeds();

    let of_fit = study_of_workload(servers, "fit-pools.toml", &fitted);
    let of_shop = study_of_workload(servers, "shop-pools.toml", Path::new(SHOP));
    let told = Weir::in_world(&servers.world)
        .args(["predict", "study", of_fit.to_str().unwrap()])
        .succeeds();
    assert!(
        told.stdout
            .contains("not validated: how often a workload file"),
        "{}",
        told.stdout
    );
    let (fit, own) = (misses(servers, &of_fit), misses(servers, &of_shop));
    assert_eq!(own.len(), 3);
    assert!(own[0] > own[2] && own[0] > 0.01, "{own:?}");
    for (fit, own) in fit.iter().zip(&own) {
        assert!((fit - own).abs() <= MISSES_APART_MAX, "{fit} {own}\n{text}");
    }
}

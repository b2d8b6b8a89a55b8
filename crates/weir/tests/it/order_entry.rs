//! Order entry: as a load, checked, and as the workload of a study.

use std::fs;

use weir_model::{Address, Flavor};
use weir_mysql::Connection;

use crate::harness::{Weir, World, signal, wait_until};
use crate::run;

const SMALL: [&str; 4] = [
    "--warehouses=2",
    "--items=200",
    "--customers=30",
    "--threads=3",
];

fn load(endpoint: &weir_model::Endpoint, arguments: &[&str]) -> Weir {
    let Address::Socket(socket) = &endpoint.address else {
        panic!("a private server")
    };
    Weir::new()
        .args(["load", "order_entry"])
        .args(SMALL)
        .args([format!("--mysql-socket={}", socket.display())])
        .args([format!("--mysql-user={}", endpoint.user)])
        .args([format!("--mysql-db={}", endpoint.database)])
        .args(arguments)
        .env("WEIR_MYSQL_PASSWORD", endpoint.password.reveal())
}

#[test]
fn its_tables_are_made_loaded_checked_and_dropped() {
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        let (server, _directory) = weir_testing::start(flavor);
        let endpoint = server.endpoint();
        let missing = load(&endpoint, &["check"]).fails();
        assert!(missing.contains("run `prepare`"), "{missing}");
        load(&endpoint, &["prepare"]).succeeds();
        let report = load(&endpoint, &["--time=2", "run"]).succeeds().stdout;
        for part in [
            "New orders per minute: ",
            "not comparable with audited results",
            "Transactions by kind",
            "    payment: ",
        ] {
            assert!(report.contains(part), "{flavor}: no `{part}` in {report}");
        }
        let json = load(&endpoint, &["--time=1", "--json", "run"]).succeeds();
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        assert!(json["new_orders_per_minute"].as_f64().unwrap() > 0.0);
        let checked = load(&endpoint, &["check"]).succeeds().stdout;
        let holds = checked
            .lines()
            .filter(|line| line.contains(" holds "))
            .count();
        assert_eq!(holds, 12, "{checked}");
        let mut oracle: Connection = weir_testing::connect(&endpoint);
        oracle
            .run("UPDATE warehouse SET w_ytd = 0 WHERE w_id = 2")
            .unwrap();
        let output = load(&endpoint, &["check"]).output();
        assert_eq!(output.code, Some(1), "{}", output.stderr);
        assert!(output.stdout.contains(" 1 BROKEN  "), "{}", output.stdout);
        assert!(
            output.stdout.contains("warehouse 2: 0.00 and "),
            "{}",
            output.stdout
        );
        assert!(
            output.stderr.contains("2 of 12 conditions"),
            "{}",
            output.stderr
        );
        load(&endpoint, &["cleanup"]).succeeds();
    }
}

/// `kill -9` while stocks are loaded: a run refuses the tables, and loading again makes them as if nothing had happened.
/// The server lets no more be written from the first stocks on until the client is gone, so that no kill comes too late.
#[test]
fn a_killed_loading_is_gone_on_with() {
    const STOCKS: u64 = 60_000;
    const SIZES: [&str; 4] = [
        "--warehouses=12",
        "--items=5000",
        "--customers=20",
        "--threads=3",
    ];
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        let (server, directory) = weir_testing::start_with(flavor, &weir_testing::LAZY_COMMITS);
        let endpoint = server.endpoint();
        let load = |words: &[&str]| load(&endpoint, &[&SIZES, words].concat());
        let mut loading = load(&["prepare"]).spawn();
        let mut oracle = weir_testing::connect(&endpoint);
        let mut stocks = || {
            let found = oracle.first::<u64>("SELECT COUNT(*) FROM stock");
            found.ok().flatten().unwrap_or(0)
        };
        // Not asked of the server: a query that meets the first rows of MariaDB's bulk insert may wait for ever.
        let file = directory
            .path()
            .join("data")
            .join(&endpoint.database)
            .join("stock.ibd");
        let file_bytes = || fs::metadata(&file).map_or(0, |metadata| metadata.len());
        wait_until("stocks loaded", || file_bytes() > 400_000);
        let mut gate = weir_testing::connect(&endpoint);
        gate.run("FLUSH TABLES WITH READ LOCK").unwrap();
        signal(loading.id(), "KILL");
        loading.wait().unwrap();
        gate.run("UNLOCK TABLES").unwrap();
        assert!(stocks() < STOCKS, "{flavor}: it was done already");
        let refused = load(&["--time=1", "run"]).fails();
        // Half loaded, or what was not yet committed is missing: by what the kill met.
        assert!(refused.contains("`prepare`"), "{flavor}: {refused}");
        load(&["prepare"]).succeeds();
        assert_eq!(stocks(), STOCKS);
        load(&["check"]).succeeds();
        load(&["--events=50", "run"]).succeeds();
        load(&["check"]).succeeds();
    }
}

/// Under sysbench's name there is no such workload: a script of a user's may be called so.
#[cfg(feature = "lua")]
#[test]
fn under_the_name_of_sysbench_it_is_no_workload() {
    let world = World::new();
    let sysbench = world.path("sysbench");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_weir"), &sysbench).unwrap();
    let call = || {
        let output = std::process::Command::new(&sysbench)
            .args(["order_entry", "--time=1", "--events=1", "run"])
            .current_dir(world.home.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let missing = call();
    assert!(
        missing.contains("FATAL: Cannot find benchmark 'order_entry'"),
        "{missing}"
    );
    world.write(
        "order_entry.lua",
        "function event() print('of the script') end",
    );
    let own = call();
    assert!(own.contains("of the script"), "{own}");
}

#[test]
fn it_is_the_workload_of_a_study() {
    let world = World::new();
    let study = world.write(
        "study.toml",
        "[study]\ntitle = \"T\"\nquestion = \"Q?\"\n\
         [server.config]\ninnodb_buffer_pool_size = \"64M\"\n\
         [data]\nworkload = \"order_entry\"\nitems = 200\ncustomers = 30\n\
         [load]\nthreads = 2\nwarmup = \"1s\"\nmeasure = \"2s\"\n\
         [factors]\nwarehouses = [1, 2]\n[repeat]\nruns = 1\n",
    );
    // One repetition is quick, and invalid by rule R4.
    let output = run::run(&world, &study).output();
    assert_eq!(output.code, Some(3), "{}", output.stderr);
    let result = run::result(&world);
    run::assert_published_form(&result);
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let kinds = run["kinds"].as_array().unwrap();
        assert!(
            kinds.iter().any(|kind| kind["name"] == "new_order"),
            "{run}"
        );
    }
    let page = std::fs::read_to_string(world.path("out/report.html")).unwrap();
    assert!(page.contains("9 tables of "));
    let predicted = Weir::in_world(&world)
        .args(["predict", "study", study.to_str().unwrap(), "--pool=8M,64M"])
        .args(["--where", "warehouses=2"])
        .succeeds()
        .stdout;
    let words = "assumed: not validated: how often order entry asks for its pages";
    assert!(predicted.contains(words), "{predicted}");
    world.assert_nothing_left();
}

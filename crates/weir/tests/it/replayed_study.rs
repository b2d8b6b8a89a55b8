//! The whole way of a user's own load: a shop behind the proxy, its capture as the load of a study, an index that is
//! dropped on one arm, and the report that names the query.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;

use serde_json::Value;
use weir_model::Flavor;

use crate::harness::{Weir, World, signal};
use crate::run::{assert_published_form, name, result, run};

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/shop.toml");
const USER: &str = "shop";
const PASSWORD: &str = "of-the-test";
/// The statement that the dropped index served.
const HISTORY: &str = "select p.name, b.pieces from purchase b straight_join product p";

weir_testing::on_both_flavors! {
    the_query_whose_index_is_dropped_is_named_first
}

/// The shop with fewer rows, whose customers look at their purchases more often: so that reading all of these in place
/// of the index takes much longer than whatever else this machine does, and often enough.
fn shop(world: &World) -> PathBuf {
    let text = std::fs::read_to_string(SHOP).unwrap();
    let mut shop = text;
    for (from, to) in [
        ("rows = 100_000\n", "rows = 10_000\n"),
        ("rows = 200_000\n", "rows = 50_000\n"),
        ("weight = 80\n", "weight = 60\n"),
        ("weight = 10\n", "weight = 30\n"),
        // Without the index the optimizer has two ways, and takes one or the other: their times differ too much for a
        // verdict on a few runs.
        ("JOIN product", "STRAIGHT_JOIN product"),
    ] {
        assert!(shop.contains(from), "{from}");
        shop = shop.replace(from, to);
    }
    world.write("shop.toml", &shop)
}

/// Three seconds of the shop behind the proxy.
fn capture(world: &World, shop: &Path, flavor: Flavor) -> PathBuf {
    let (server, _directory, port) = weir_testing::start_on_tcp(flavor, &[]);
    weir_testing::make_account(&server.endpoint(), USER, PASSWORD);
    let path = world.path("shop.weircap");
    let load = |port: u16, words: &[&str]| {
        let shop = shop.to_str().unwrap();
        let port = format!("--mysql-port={port}");
        let schema = format!("--mysql-db={}", server.endpoint().database);
        let user = format!("--mysql-user={USER}");
        let arguments = [
            "load",
            shop,
            "--mysql-host=127.0.0.1",
            &port,
            &schema,
            &user,
            "--rand-seed=1",
        ];
        Weir::in_world(world)
            .args(arguments)
            .args(words)
            .env("WEIR_MYSQL_PASSWORD", PASSWORD)
            .succeeds()
    };
    load(port, &["--threads=2", "prepare"]);
    let url = format!(
        "{}://{USER}@127.0.0.1:{port}/{}",
        name(flavor),
        server.endpoint().database
    );
    let arguments = [
        "capture",
        "proxy",
        "--listen",
        "127.0.0.1:0",
        "--to",
        &url,
        "-o",
    ];
    let proxy = Weir::in_world(world).args(arguments).args([&path]).spawn();
    let (mut proxy, port) = listening(proxy);
    load(port, &["--threads=4", "--rate=80", "--time=3", "run"]);
    // Its terminal is gone by now; what it says at its end must not end it otherwise.
    signal(proxy.id(), "INT");
    assert!(proxy.wait().unwrap().success());
    path
}

/// The proxy, with nobody at its standard error any more, and its port.
fn listening(mut proxy: Child) -> (Child, u16) {
    let mut lines = BufReader::new(proxy.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let port = first
        .split(':')
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let port = port.unwrap().parse().unwrap();
    (proxy, port)
}

fn study(flavor: Flavor, shop: &Path, capture: &Path) -> String {
    format!(
        r#"
        [study]
        title = "An index less"
        question = "Which statements of the shop need the index on customers?"
        [server]
        flavor = "{}"
        [server.config]
        innodb_buffer_pool_size = "64M"
        [data]
        workload = "{}"
        [load]
        replay = "{}"
        warmup = "1s"
        [[events]]
        name = "nothing"
        at = "0s"
        kind = "mark"
        [[events]]
        name = "drop"
        at = "0s"
        kind = "ddl"
        statement = "ALTER TABLE purchase DROP INDEX customer"
        [factors]
        event = ["none", "nothing", "drop"]
        [repeat]
        runs = 6
        seed = 1
        "#,
        name(flavor),
        shop.display(),
        capture.display()
    )
}

/// The comparison of `none` with a level.
fn of_level<'a>(result: &'a Value, level: &str) -> &'a Value {
    let comparisons = result["comparisons"].as_array().unwrap();
    let found = comparisons.iter().find(|found| found["level"] == level);
    found.unwrap_or_else(|| panic!("no {level} in {comparisons:#?}"))
}

fn kinds<'a>(comparison: &'a Value, verdict: &str) -> Vec<&'a Value> {
    let kinds = comparison["replay"]["fingerprints"].as_array().unwrap();
    kinds
        .iter()
        .filter(|kind| kind["verdict"] == verdict)
        .collect()
}

fn the_query_whose_index_is_dropped_is_named_first(flavor: Flavor) {
    let world = World::new();
    let shop = shop(&world);
    let capture = capture(&world, &shop, flavor);
    let file = world.write("study.toml", &study(flavor, &shop, &capture));
    let output = run(&world, &file).output();
    assert!(
        matches!(output.code, Some(0 | 3)),
        "{}{}",
        output.stdout,
        output.stderr
    );
    let result = result(&world);
    assert_published_form(&result);

    // Each run sent all of it, to the capture's own data.
    for run in result["runs"].as_array().unwrap() {
        let fidelity = &run["replay"]["fidelity"];
        assert_eq!(
            fidelity["sessions_joined"], fidelity["sessions"],
            "{fidelity}"
        );
        let of = |key: &str| fidelity[key].as_u64().unwrap();
        assert!(
            of("sent") * 100
                >= (of("captured") - fidelity["not_sent"]["other_schema"].as_u64().unwrap()) * 99,
            "{fidelity}"
        );
        // A lock error comes by chance: what had one captured may have none now, or the other way round.
        let by_chance = of("errors_captured") + of("lock_errors_new");
        assert!(of("errors_differ") <= by_chance, "{fidelity}");
        assert!(
            of("rows_compared") > 200 && of("rows_differ") * 100 <= of("rows_compared"),
            "{fidelity}"
        );
        assert!(
            of("affected_differ") * 100 <= of("affected_compared"),
            "{fidelity}"
        );
    }
    let replay = &result["plan"]["cells"][0]["spec"]["load"]["replay"];
    assert_eq!(replay["digest"].as_str().unwrap().len(), 64);

    // The query is first.
    let dropped = of_level(&result, "drop");
    let all = &dropped["replay"]["fingerprints"];
    let worst = &all[0];
    assert!(
        worst["fingerprint"].as_str().unwrap().starts_with(HISTORY),
        "{all:#}"
    );
    assert_eq!(worst["verdict"], "surely_worse", "{worst:#}");
    assert!(worst["ratio_low"].as_f64().unwrap() > 1.5, "{worst:#}");
    its_plan_changes(&world, worst, &output.stdout);
    its_row_is_first(&output.stdout);

    // Equal arms name nothing. At a false share of 5 % one kind may be named by chance, but not with such a ratio.
    let same = of_level(&result, "nothing");
    let mut named = kinds(same, "surely_worse");
    named.retain(|kind| kind["ratio_low"].as_f64().unwrap() > 1.2);
    assert_eq!(named, Vec::<&Value>::new());
    assert!(has_kinds_without_a_difference(same), "{same:#}");
    world.assert_nothing_left();

    two_results(&world, &file);
    another_file_is_refused(&world, &file, &capture);
}

fn has_kinds_without_a_difference(comparison: &Value) -> bool {
    let mut verdicts = ["equal", "not_shown"].into_iter();
    verdicts.any(|verdict| !kinds(comparison, verdict).is_empty())
}

/// In the table of the level whose index is dropped, and not only in the answer above it.
fn its_row_is_first(terminal: &str) {
    let table = terminal.split("statements: event drop / none\n").nth(1);
    let table = table.unwrap_or_else(|| panic!("no table of the level: {terminal}"));
    let mut lines = table.lines();
    assert!(
        lines.any(|line| line.ends_with("  statement")),
        "no head: {table}"
    );
    let row = lines.next().unwrap_or_default();
    assert!(
        row.starts_with("surely worse") && row.contains(HISTORY),
        "{row}"
    );
}

/// The rows of a prepared statement are found by the index on one arm, and by reading the table on the other.
fn its_plan_changes(world: &World, worst: &Value, terminal: &str) {
    let plan = |key: &str| worst[key].as_str().unwrap_or_else(|| panic!("{worst:#}"));
    let (before, after) = (plan("baseline_plan"), plan("level_plan"));
    assert!(before.contains("b: ref by customer"), "{before}");
    // Which of both tables is read whole is the optimizer's choice.
    assert!(
        after.contains(": ALL") && !after.contains("by customer"),
        "{after}"
    );
    let page = std::fs::read_to_string(world.path("out/report.html")).unwrap();
    for report in [terminal, &page] {
        assert!(report.contains("plan: b: ref by customer"), "{terminal}");
    }
    let values = |text: &str| text.contains("customer_id =");
    assert!(!values(before) && !values(after), "{before}, {after}");
}

/// The result beside itself: `weir compare` looks at statements, too.
fn two_results(world: &World, _study: &Path) {
    let out = world.path("out");
    let out = out.to_str().unwrap();
    let compared = Weir::in_world(world)
        .args(["compare", out, out, "--json"])
        .output();
    assert!(
        matches!(compared.code, Some(0 | 3)),
        "{}{}",
        compared.stdout,
        compared.stderr
    );
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    let comparisons = compared["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 3);
    for comparison in comparisons {
        assert_eq!(kinds(comparison, "surely_worse"), Vec::<&Value>::new());
        assert!(has_kinds_without_a_difference(comparison), "{comparison:#}");
    }
}

/// A study goes on only with the capture that it began with.
fn another_file_is_refused(world: &World, study: &Path, capture: &Path) {
    let whole = std::fs::read(capture).unwrap();
    std::fs::write(capture, &whole[..whole.len() - 200]).unwrap();
    let error = run(world, study).args(["--resume"]).fails();
    assert!(error.contains("other settings"), "{error}");
    std::fs::write(capture, b"no capture").unwrap();
    let error = run(world, study).fails();
    assert!(error.contains("it does not begin as one"), "{error}");
}

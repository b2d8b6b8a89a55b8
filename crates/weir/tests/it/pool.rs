//! `weir server pool compare` and `ship`: a replica that follows a primary gets what its pool holds.

use std::path::{Path, PathBuf};

use serde_json::Value;
use weir_model::Flavor;
use weir_server::Session;
use weir_testing::on_both_flavors;

use crate::harness::{Weir, signal, wait_until};
use crate::server::Servers;

const FILENAME: &str = "innodb_buffer_pool_filename";

fn load(servers: &Servers, arguments: &[&str]) -> Weir {
    let socket = match servers.endpoint("shop").address {
        weir_model::Address::Socket(path) => path.display().to_string(),
        other @ weir_model::Address::Tcp(..) => panic!("{other}"),
    };
    let account = servers.path("state/weir/instances/shop/client.cnf");
    Weir::in_world(&servers.world)
        .env("XDG_STATE_HOME", servers.path("state"))
        .args(["load", "oltp_insert", "--tables=2", "--table-size=20000"])
        .args(["--mysql-db=sbtest", "--threads=4"])
        .args([
            format!("--defaults-file={}", account.display()),
            format!("--mysql-socket={socket}"),
        ])
        .args(arguments)
}

/// Until the replica has all rows, and both servers have written all pages.
fn settle(servers: &Servers) {
    let rows = |name: &str| -> Option<u64> {
        let query =
            "SELECT (SELECT COUNT(*) FROM sbtest.sbtest1) + (SELECT COUNT(*) FROM sbtest.sbtest2)";
        servers.session(name).value("count", query).unwrap()
    };
    wait_until("the replica has all rows", || rows("shop") == rows("copy"));
    for name in ["shop", "copy"] {
        let mut session = servers.session(name);
        for variable in [
            "innodb_max_dirty_pages_pct_lwm",
            "innodb_max_dirty_pages_pct",
        ] {
            session
                .run("set", &format!("SET GLOBAL {variable} = 0"))
                .unwrap();
        }
        wait_until("all pages are written", || {
            session.pool().unwrap().pages_dirty == 0
        });
    }
}

fn variable(servers: &Servers, server: &str, name: &str) -> String {
    let mut session: Session = servers.session(server);
    session.variable(name).unwrap().unwrap()
}

fn number(value: &Value, name: &str) -> f64 {
    value[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name} in {value}"))
}

/// What the replica has of a list of Weir's own now: another file name on MySQL, a list set aside on MariaDB.
fn is_loading(servers: &Servers) -> bool {
    let data = variable(servers, "copy", "datadir");
    let is_aside = Path::new(&data).join("ib_buffer_pool.weir-kept").exists();
    is_aside || variable(servers, "copy", FILENAME).contains(".weir")
}

/// Killed while the replica loads slowly: a note says what is changed, and `weir clean` puts it back. The server's own
/// list of pages is as before.
fn a_killed_shipment_leaves_a_way_back(servers: &Servers, flavor: Flavor) {
    servers.weir(&["pool", "copy", "--dump"]).succeeds();
    let data = PathBuf::from(variable(servers, "copy", "datadir"));
    let own = || std::fs::read_to_string(data.join("ib_buffer_pool")).unwrap();
    let before = own();
    let slow = ["pool", "ship", "shop", "--to", "copy", "--limit", "100K"];
    let mut shipping = servers.weir(&slow).spawn();
    wait_until("the replica loads Weir's list", || is_loading(servers));
    signal(shipping.id(), "KILL");
    shipping.wait().unwrap();
    let cleaned = servers.command("clean", &["--put-back"]).succeeds();
    if flavor == Flavor::Mysql {
        assert!(cleaned.stdout.contains("put back on"), "{}", cleaned.stdout);
        assert_eq!(variable(servers, "copy", FILENAME), "ib_buffer_pool");
    }

    // The next look at the pool finds the list that was set aside.
    servers.json(&["pool", "compare", "shop", "copy"]);
    assert!(!is_loading(servers));
    assert_eq!(own(), before);

    // Ended in order, all is as before, and no list is left.
    let shipping = servers.weir(&slow).spawn();
    wait_until("the replica loads again", || {
        let told = servers
            .session("copy")
            .variable_of_status("Innodb_buffer_pool_load_status");
        is_loading(servers) && told.unwrap().contains("completed")
    });
    signal(shipping.id(), "INT");
    let output = shipping.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("interrupted; variables are as before"),
        "{error}"
    );
    assert!(!is_loading(servers));
    assert_eq!(own(), before);
    let names = std::fs::read_dir(&data).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<_> = names
        .filter(|name| name.contains("weir") && name.contains("pool"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

fn bad_input_is_one_line(servers: &Servers) {
    let fails = |arguments: &[&str]| servers.weir(&[&["pool"], arguments].concat()).fails();
    let both = fails(&["ship", "shop", "--to", "shop"]);
    assert!(both.contains("`shop` is both servers"), "{both}");
    let unknown = fails(&["compare", "shop", "cop"]);
    assert!(unknown.contains("did you mean `copy`"), "{unknown}");
    servers.weir(&["down", "copy"]).succeeds();
    let stopped = fails(&["ship", "shop", "--to", "copy"]);
    assert!(stopped.contains("cannot log in"), "{stopped}");
}

/// After a `kill -9` of the primary it takes writes, and still does so after it was started again.
fn a_replica_takes_the_place_of_its_primary(servers: &Servers) {
    let down = servers.weir(&["promote", "copy"]).fails();
    assert!(down.contains("`shop` runs"), "{down}");
    servers.weir(&["up", "copy"]).succeeds();
    let rows = "SELECT COUNT(*) FROM sbtest.sbtest1";
    let rows = |name: &str| -> Option<u64> { servers.session(name).value("count", rows).unwrap() };
    let before = rows("shop");
    servers.weir(&["down", "shop", "--now"]).succeeds();
    let promoted = servers.json(&["promote", "copy"]);
    assert!(number(&promoted, "applied_s") < 60.0, "{promoted}");
    assert_eq!(rows("copy"), before);
    assert_eq!(variable(servers, "copy", "read_only"), "OFF");
    let again = servers.weir(&["promote", "copy"]).fails();
    assert!(again.contains("it follows no server"), "{again}");
    servers.weir(&["down", "copy"]).succeeds();
    servers.weir(&["up", "copy"]).succeeds();
    let mut session = servers.session("copy");
    let insert = "INSERT INTO sbtest.sbtest1 (k, c, pad) VALUES (1, 'x', 'y')";
    session.run("insert", insert).unwrap();
    assert_eq!(rows("copy"), before.map(|rows| rows + 1));
}

fn a_replica_gets_the_pool_of_its_primary(flavor: Flavor) {
    let servers = Servers::new();
    let up = ["up", "shop", "--server", &flavor.to_string()];
    let sized = ["--set", "innodb_buffer_pool_size=64M"];
    servers.weir(&[&up[..], &sized].concat()).succeeds();
    load(&servers, &["prepare"]).succeeds();
    servers
        .weir(&["up", "copy", "--replica-of", "shop"])
        .succeeds();
    load(&servers, &["--time=1", "run"]).succeeds();
    settle(&servers);
    let compared = servers.json(&["pool", "compare", "shop", "copy"]);
    let indexes = compared["indexes"].as_array().unwrap();
    assert_eq!(indexes.len(), 4, "{compared}");
    assert_eq!(indexes[0]["table"], "sbtest.sbtest1");
    let warm = number(&compared, "warm_share");

    let ship = ["pool", "ship", "shop", "--to", "copy", "--pct", "100"];
    let planned = servers.json(&[&ship[..], &["--plan"]].concat());
    assert!(planned["load_s"].is_null(), "{planned}");
    assert!(
        (number(
            &servers.json(&["pool", "compare", "shop", "copy"]),
            "warm_share"
        ) - warm)
            .abs()
            < 0.02
    );
    let shipped = servers.json(&ship);
    assert!(number(&shipped, "coverage") >= 0.98, "{shipped}");
    assert_eq!(shipped["mode"], "translate");
    let compared = servers.json(&["pool", "compare", "shop", "copy"]);
    assert!(number(&compared, "warm_share") >= 0.98, "{compared}");
    let text = servers
        .weir(&["pool", "compare", "shop", "copy"])
        .succeeds();
    assert!(
        text.stdout.contains("copy has the keys of"),
        "{}",
        text.stdout
    );
    servers
        .weir(&["pool", "ship", "--abort", "--to", "copy"])
        .succeeds();
    a_killed_shipment_leaves_a_way_back(&servers, flavor);
    bad_input_is_one_line(&servers);
    a_replica_takes_the_place_of_its_primary(&servers);
}

on_both_flavors!(a_replica_gets_the_pool_of_its_primary);

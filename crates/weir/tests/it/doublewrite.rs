//! `weir server doublewrite`: off needs a proof that holds for this server on this storage.

use std::fs;

use serde_json::Value;
use weir_crash::{DECISIVE_SETTINGS, FORMAT};
use weir_model::{Flavor, ServerVersion};
use weir_server::{Session, cache_directory};

use crate::harness::Weir;
use crate::server::Servers;

/// The drive whose rules the tests assume: pages of 16 KiB untorn, power-loss protection.
const DRIVE: &str = "scaleflux-csd2000";
const SMALL: &str = "innodb_buffer_pool_size=64M";

/// What `weir crash-test run --json` prints of a test that held, of a server that was as this one is.
pub(crate) fn held_test(session: &mut Session, flavor: Flavor, doublewrite: &str) -> String {
    let mut said = session.variables().unwrap();
    let version: ServerVersion = said["version"].parse().unwrap();
    said.retain(|name, _| DECISIVE_SETTINGS.contains(&name.as_str()));
    said.insert("innodb_doublewrite".to_owned(), doublewrite.to_owned());
    let rate = serde_json::json!({ "states": 0, "of": 300, "at_most": 0.01 });
    serde_json::json!({
        "format": FORMAT,
        "setting": {
            "server": "/x/mysqld", "flavor": flavor, "version": version.to_string(), "drive": DRIVE,
            "cut": "power", "variables": {}, "said": said, "states": 300, "seed": 1, "recording": "recording",
            "rules": { "cache": "power-protected", "cache_size": 0, "atomicity": { "unit": 16384 } },
        },
        "control_setting": null,
        "tally": {
            "damaged": rate, "commits_lost": rate, "torn": 0, "recovery": {}, "by_moment": {}, "places": 100,
            "places_exhausted": 0
        },
        "control": null,
        "verdict": { "verdict": "held", "states": 300, "at_most": 0.01 },
        "commits": 1, "events": 1, "judging_s": 1.0, "states": [], "control_states": []
    })
    .to_string()
}

fn flavor_of(flavor: &str) -> Flavor {
    flavor.parse().unwrap()
}

impl Servers {
    /// The path of a test that held of a server like the one called `name`.
    fn verdict(&self, name: &str, flavor: &str, doublewrite: &str) -> String {
        let test = held_test(&mut self.session(name), flavor_of(flavor), doublewrite);
        let path = self.world.write(&format!("{doublewrite}.json"), &test);
        path.to_str().unwrap().to_owned()
    }

    fn off(&self, name: &str, verdict: &str) -> Weir {
        self.weir(&["doublewrite", "off", name, "--verdict", verdict])
    }

    fn value(&self, name: &str) -> String {
        let value = self.session(name).variable("innodb_doublewrite").unwrap();
        value.unwrap()
    }
}

/// A replica inherits; off needs a proof; a replica is never less safe than its primary; each change
/// is logged.
fn is_a_managed_switch(flavor: &str) {
    let servers = Servers::on_drive(DRIVE, &[]);
    servers.json(&["up", "shop", "--server", flavor, "--set", SMALL]);
    let status = servers.json(&["doublewrite", "status", "shop"]);
    assert_eq!(status["status"]["value"], "ON");
    assert_eq!(status["storage"]["kind"], "emulated");
    let error = servers.weir(&["doublewrite", "off", "shop"]).fails();
    assert!(
        error.contains("nothing proves") && error.contains("--verdict FILE"),
        "{error}"
    );
    assert_eq!(format!("weir: {}", status["off"].as_str().unwrap()), error);

    let verdict = servers.verdict("shop", flavor, "OFF");
    let planned = [
        "doublewrite",
        "off",
        "shop",
        "--verdict",
        &verdict,
        "--plan",
    ];
    let planned = servers.weir(&planned).succeeds().stdout;
    for words in [
        "nothing was done",
        "connections that end",
        "counts for the emulated drive",
    ] {
        assert!(planned.contains(words), "{planned}");
    }
    servers
        .weir(&["up", "copy", "--replica-of", "shop"])
        .succeeds();
    let error = servers.off("copy", &verdict).fails();
    assert!(error.contains("its primary `shop` has it on"), "{error}");

    servers.off("shop", &verdict).succeeds();
    servers.off("copy", &verdict).succeeds();
    assert_eq!(servers.value("copy"), "OFF");
    // A clone inherits, and a restored server keeps its own; a proof is not inherited.
    let taken = servers.json(&["snapshot", "take", "shop"]);
    let snapshot = taken["name"].as_str().unwrap();
    let cloned = servers
        .weir(&["up", "clone", "--snapshot", snapshot])
        .succeeds();
    assert!(
        cloned
            .stderr
            .contains("a proof made elsewhere does not count here"),
        "{}",
        cloned.stderr
    );
    servers.weir(&["restore", "shop", snapshot]).succeeds();
    for name in ["clone", "shop"] {
        assert_eq!(servers.value(name), "OFF", "{name}");
    }
    servers.weir(&["down", "clone", "--remove"]).succeeds();
    let error = servers.weir(&["doublewrite", "on", "shop"]).fails();
    assert!(error.contains("its replica `copy` has it off"), "{error}");
    let log = fs::read_to_string(servers.path("state/weir/doublewrite.log")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");

    servers.weir(&["doublewrite", "on", "copy"]).succeeds();
    let on = servers.verdict("shop", flavor, "ON");
    let error = servers.off("copy", &on).fails();
    assert!(
        error.contains("made with the doublewrite buffer on"),
        "{error}"
    );
}

#[test]
fn doublewrite_of_mysql_is_a_managed_switch() {
    is_a_managed_switch("mysql");
}

#[test]
fn doublewrite_of_mariadb_is_a_managed_switch() {
    is_a_managed_switch("mariadb");
}

/// The server goes on saying `O_DIRECT`; its open files say what it does.
#[test]
fn a_file_system_without_o_direct_is_told_and_left_as_it_was() {
    let servers = Servers::new();
    fs::create_dir(servers.path("state")).unwrap();
    let Some(_mount) = weir_testing::RamFs::mount(&servers.path("state")) else {
        return;
    };
    let direct = "innodb_flush_method=O_DIRECT";
    servers.json(&["up", "shop", "--server", "mariadb", "--set", direct]);
    let data = servers.path("state/weir/instances/shop/data");
    let files = || {
        let entries = fs::read_dir(&data).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let before = files();
    let status = servers.weir(&["doublewrite", "status", "shop"]).succeeds();
    let told = "data files: through the page cache (O_DIRECT was refused for ibdata1 (ramfs))";
    assert!(status.stdout.contains(told), "{}", status.stdout);
    let json = servers.json(&["doublewrite", "status", "shop"]);
    assert_eq!(json["status"]["writes_directly"], false);
    let error = servers.weir(&["doublewrite", "off", "shop"]).fails();
    assert!(error.contains("nothing proves that the storage"), "{error}");
    assert_eq!(files(), before);
    servers.weir(&["down", "shop", "--remove"]).succeeds();
}

/// A test that held on an emulated drive, of the server with `more` options.
fn crash_test(servers: &Servers, flavor: &str, name: &str, more: &[&str]) -> String {
    let out = servers.path(name).to_str().unwrap().to_owned();
    let test = [
        "--server",
        flavor,
        "--drive",
        DRIVE,
        "--doublewrite=off",
        "--states=6",
        "--rows=3000",
        "--seconds=3",
        "--clients=4",
        "--seed=7",
        "--set=innodb_buffer_pool_size=6M",
        "--json",
        "--out",
        &out,
    ];
    // The data set is that of this machine's other tests, made once.
    let cache = cache_directory();
    let printed = servers
        .command("crash-test", &[&["run"], &test[..], more].concat())
        .env("XDG_CACHE_HOME", cache.ancestors().nth(2).unwrap())
        .succeeds();
    let verdict = servers
        .world
        .write(&format!("{name}.json"), &printed.stdout);
    verdict.to_str().unwrap().to_owned()
}

/// The disk below this test promises nothing: an emulated drive's verdict does not make it.
fn a_verdict_of_an_emulated_drive_says_nothing_of_this_host(flavor: &str, verdict: &str) {
    let servers = Servers::new();
    servers.json(&["up", "shop", "--server", flavor, "--set", SMALL]);
    let status = servers.json(&["doublewrite", "status", "shop"]);
    assert!(
        status["off"].as_str().unwrap().contains("refused"),
        "{status}"
    );
    for plan in [&[][..], &["--plan"]] {
        let off = ["doublewrite", "off", "shop", "--verdict", verdict];
        let error = servers.weir(&[&off[..], plan].concat()).fails();
        for words in [
            "does not count here",
            "the storage promises writes of 512 untorn, the test assumed 16K",
        ] {
            assert!(error.contains(words), "{error}");
        }
        // The test's redo log was smaller, too.
        assert!(error.contains("the test had 10485760"), "{error}");
    }
    let mut old: Value = serde_json::from_str(&fs::read_to_string(verdict).unwrap()).unwrap();
    old.as_object_mut().unwrap().remove("format");
    let old = servers.world.write("old.json", &old.to_string());
    let error = servers.off("shop", old.to_str().unwrap()).fails();
    assert!(
        error.contains("its format is 0") && error.contains("make it again"),
        "{error}"
    );
    assert_eq!(servers.value("shop"), "ON");
}

/// The same server on a mount of the tested drive: a test of another redo log does not count, the one that the
/// refusal asks for does, and a server of the user's there is judged in the same way. On this host neither counts.
fn a_verdict_counts_on_a_mount_of_the_tested_drive_only(flavor: &str) {
    let servers = Servers::on_drive(DRIVE, &[]);
    servers.json(&["up", "shop", "--server", flavor, "--set", SMALL]);
    let other = crash_test(&servers, flavor, "other", &[]);
    let error = servers.off("shop", &other).fails();
    let (_, option) = error.split_once("--doublewrite off ").unwrap();
    let (option, _) = option.split_once(" --json").unwrap();
    let option: Vec<_> = option.split(' ').collect();
    let verdict = crash_test(&servers, flavor, "same", &option);

    let (socket, client) = (
        servers.path("state/weir/instances/shop/run/mysql.sock"),
        servers.path("state/weir/instances/shop/client.cnf"),
    );
    let url = format!(
        "{flavor}:///?socket={}&option-file={}",
        socket.display(),
        client.display()
    );
    let told = servers.off(&url, &verdict).succeeds().stdout;
    assert!(told.contains("write `innodb_doublewrite = OFF`"), "{told}");
    assert!(
        told.contains(&format!("counts for the emulated drive {DRIVE} at")),
        "{told}"
    );
    assert_eq!(servers.value("shop"), "ON");
    let told = servers.off("shop", &verdict).succeeds().stdout;
    assert!(told.contains("ON -> OFF: done"), "{told}");
    assert_eq!(servers.value("shop"), "OFF");
    a_verdict_of_an_emulated_drive_says_nothing_of_this_host(flavor, &other);
}

#[test]
fn a_verdict_counts_on_a_mount_of_the_tested_drive_only_on_mysql() {
    a_verdict_counts_on_a_mount_of_the_tested_drive_only("mysql");
}

#[test]
fn a_verdict_counts_on_a_mount_of_the_tested_drive_only_on_mariadb() {
    a_verdict_counts_on_a_mount_of_the_tested_drive_only("mariadb");
}

/// A mount with weaker rules than those of the profile that was tested.
#[test]
fn a_mount_with_a_volatile_cache_does_not_keep_the_tested_rules() {
    let servers = Servers::on_drive(DRIVE, &["--set", "write.cache=volatile"]);
    servers.json(&["up", "shop", "--server", "mariadb", "--set", SMALL]);
    let verdict = servers.verdict("shop", "mariadb", "OFF");
    let error = servers.off("shop", &verdict).fails();
    let missing = "(the storage has a volatile cache, the test assumed power-loss protection)";
    assert!(error.contains(missing), "{error}");
}

/// Written as `FALSE`, MySQL says `FALSE`; a switch on takes the place of the other spelling.
#[test]
fn a_switch_sees_through_spellings() {
    let servers = Servers::new();
    let off = ["--set", "skip-innodb-doublewrite=1", "--set", SMALL];
    let up = servers
        .weir(&[&["up", "shop", "--server", "mysql"], &off[..]].concat())
        .succeeds();
    assert!(
        up.stderr
            .contains("note: `shop` runs with innodb_doublewrite = OFF"),
        "{}",
        up.stderr
    );
    let already = servers.weir(&["doublewrite", "off", "shop"]).succeeds();
    assert!(
        already.stdout.contains("it is already"),
        "{}",
        already.stdout
    );
    servers.weir(&["doublewrite", "on", "shop"]).succeeds();
    assert_eq!(servers.value("shop"), "ON");
    let spelled = [
        "up",
        "other",
        "--server",
        "mysql",
        "--set",
        "innodb_doublewrite=FALSE",
        "--set",
        SMALL,
    ];
    servers.weir(&spelled).succeeds();
    assert_eq!(servers.value("other"), "FALSE");
    let already = servers.weir(&["doublewrite", "off", "other"]).succeeds();
    assert!(
        already.stdout.contains("it is already"),
        "{}",
        already.stdout
    );
}

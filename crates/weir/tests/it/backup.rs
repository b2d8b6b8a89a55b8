//! `weir server up --from-backup`: what people have of their server becomes a private one, and is not changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::SystemTime;

use weir_model::Flavor;

use crate::server::Servers;

weir_testing::on_both_flavors! {
    a_copied_data_directory_becomes_a_server
}

/// Each file of a folder with its size and its last change.
fn files(folder: &Path) -> BTreeMap<String, (u64, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.path().display().to_string();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            let about = entry.metadata().unwrap();
            found.insert(name, (about.len(), about.modified().unwrap()));
        }
    }
    found
}

fn a_copied_data_directory_becomes_a_server(flavor: Flavor) {
    let servers = Servers::new();
    let flavor = flavor.to_string();
    servers.json(&["up", "production", "--server", &flavor]);
    let mut session = weir_testing::connect(&servers.endpoint("production"));
    for sql in [
        "CREATE TABLE sbtest.item (id INT PRIMARY KEY, name VARCHAR(20))",
        "INSERT INTO sbtest.item VALUES (1, 'nail'), (2, 'screw')",
    ] {
        session.run(sql).unwrap();
    }
    drop(session);
    let data = servers.path("state/weir/instances/production/data");
    let copy = servers.path("backup");
    // A server that runs is no backup.
    let refused = servers
        .weir(&["up", "x", "--from-backup", data.to_str().unwrap()])
        .output();
    assert!(
        refused.code == Some(1) && refused.stderr.contains("in use by process"),
        "{}",
        refused.stderr
    );
    servers.weir(&["down", "production"]).succeeds();
    weir_server::copy_directory(&data, &copy).unwrap();
    // What a replica would be told at its start, and a note of Weir's own: neither belongs to the new server.
    fs::write(copy.join("mysqld-auto.cnf"), "{ \"Version\" : 2 }").unwrap();
    let before = files(&copy);
    let path = copy.to_str().unwrap();

    let info = servers.json(&["up", "tuesday", "--from-backup", path]);
    assert_eq!(info["flavor"], flavor, "{info}");
    let mut session = weir_testing::connect(&servers.endpoint("tuesday"));
    let rows: Vec<(i64, String)> = session
        .rows("SELECT id, name FROM sbtest.item ORDER BY id")
        .unwrap();
    assert_eq!(rows, [(1, "nail".to_owned()), (2, "screw".to_owned())]);
    let events: Vec<(String,)> = session.rows("SELECT @@event_scheduler").unwrap();
    assert_eq!(events, [("OFF".to_owned(),)]);
    session.run("DELETE FROM sbtest.item").unwrap();
    drop(session);
    // It is one of Weir's like all others: it stops and starts.
    servers.weir(&["down", "tuesday"]).succeeds();
    servers.json(&["up", "tuesday"]);
    assert_eq!(files(&copy), before);

    // A server of another flavour is refused.
    let other = if flavor == "mysql" {
        "mariadb"
    } else {
        "mysql"
    };
    let refused = servers
        .weir(&["up", "y", "--server", other, "--from-backup", path])
        .output();
    assert!(
        refused.code == Some(1) && refused.stderr.contains(&format!("made by {flavor}")),
        "{}",
        refused.stderr
    );
    let refused = servers
        .weir(&[
            "up",
            "z",
            "--from-backup",
            servers.path("state").to_str().unwrap(),
        ])
        .output();
    assert!(refused.stderr.contains("no ibdata1"), "{}", refused.stderr);
    let listed = servers.json(&["list"]);
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
}

const DUMP: &str = "-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB\n--\n\
    /*M!999999\\- enable the sandbox mode */ \n/*!40101 SET NAMES utf8mb4 */;\n\
    CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop`;\nUSE `shop`;\nDROP TABLE IF EXISTS `item`;\n\
    CREATE TABLE `item` (`id` int NOT NULL, `name` varchar(40), PRIMARY KEY (`id`)) ENGINE=InnoDB;\n\
    LOCK TABLES `item` WRITE;\nINSERT INTO `item` VALUES (1,'it\\'s; a nail'),\n(2,'scr\u{f6}w');\nUNLOCK TABLES;\n\
    CHANGE MASTER TO MASTER_HOST='db1';\nDELIMITER ;;\n\
    CREATE TRIGGER `t` BEFORE INSERT ON `item` FOR EACH ROW BEGIN SET NEW.name = UPPER(NEW.name); END ;;\n\
    DELIMITER ;\nUSE `mysql`;\nDROP TABLE IF EXISTS `global_priv`;\n";

#[test]
fn a_dump_becomes_a_server_packed_or_not() {
    let servers = Servers::new();
    let plain = servers.path("shop.sql");
    fs::write(&plain, DUMP).unwrap();
    let packed = servers.path("shop.sql.gz");
    let mut gzip = flate2::write::GzEncoder::new(
        fs::File::create(&packed).unwrap(),
        flate2::Compression::default(),
    );
    gzip.write_all(DUMP.as_bytes()).unwrap();
    gzip.finish().unwrap();
    let zstd = servers.path("shop.sql.zst");
    fs::write(&zstd, zstd::encode_all(DUMP.as_bytes(), 3).unwrap()).unwrap();
    for (name, path, server) in [
        ("plain", &plain, None),
        ("gzip", &packed, Some("mysql")),
        ("zstd", &zstd, Some("mariadb")),
    ] {
        let mut arguments = vec!["up", name, "--from-backup", path.to_str().unwrap()];
        arguments.extend(server.iter().flat_map(|server| ["--server", server]));
        let made = servers.weir(&arguments).succeeds();
        assert!(
            made.stderr.contains("3 statements about replication"),
            "{}",
            made.stderr
        );
        let mut session = weir_testing::connect(&servers.endpoint(name));
        session
            .run("INSERT INTO shop.item VALUES (3, 'bolt')")
            .unwrap();
        let rows: Vec<(i64, String)> = session
            .rows("SELECT id, name FROM shop.item ORDER BY id")
            .unwrap();
        let expected = [(1, "it's; a nail"), (2, "scr\u{f6}w"), (3, "BOLT")];
        assert_eq!(rows, expected.map(|(id, name)| (id, name.to_owned())));
    }
    // The first line says whose it is.
    let listed = servers.json(&["list"]).to_string();
    assert!(
        listed.contains("\"plain\"") && listed.contains("mariadb"),
        "{listed}"
    );

    // Half of a dump leaves no server.
    fs::write(
        &plain,
        format!("{DUMP}SELECT nonsense;\n").replace("USE `mysql`;\n", ""),
    )
    .unwrap();
    let failed = servers
        .weir(&["up", "half", "--from-backup", plain.to_str().unwrap()])
        .output();
    assert!(
        failed.code == Some(1) && failed.stderr.contains("line "),
        "{}",
        failed.stderr
    );
    assert!(!servers.json(&["list"]).to_string().contains("\"half\""));
}

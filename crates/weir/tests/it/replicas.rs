//! What Weir writes on a primary reaches every replica: connected, stopped or delayed, with global
//! transaction identifiers and without.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use weir_model::{Address, Endpoint, Flavor, Replication};
use weir_server::{PrivateServer, wait_until_caught_up};
use weir_testing::ReplicaMode;
use weir_testing::on_both_flavors;

use crate::harness::{Weir, World};

const SCHEMA: &str = "shop";

/// Whoever loads the servers: their account and their directories.
struct Site {
    world: World,
    flavor: Flavor,
}

impl Site {
    /// With the account of `server`, which its replicas have, too.
    fn new(flavor: Flavor, server: &PrivateServer) -> Self {
        let site = Self {
            world: World::new(),
            flavor,
        };
        let endpoint = server.endpoint();
        site.account("app.cnf", &endpoint.user, endpoint.password.reveal());
        site
    }

    fn account(&self, file: &str, user: &str, password: &str) {
        let text = format!("[client]\nuser = {user}\npassword = {password}\n");
        let path = self.world.write(file, &text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn weir(&self) -> Weir {
        Weir::in_world(&self.world)
            .env("HOME", self.world.home.path())
            .env("XDG_STATE_HOME", self.world.path("state"))
    }

    fn workload(&self, name: &str, server: &PrivateServer, tables: u32, more: &[&str]) -> Weir {
        let account = self.world.path("app.cnf");
        self.weir()
            .args(["load", name])
            .args([
                format!("--defaults-file={}", account.display()),
                format!("--mysql-socket={}", socket(server).display()),
                format!("--mysql-db={SCHEMA}"),
                format!("--tables={tables}"),
            ])
            .args(["--table-size=500", "--threads=2", "--time=1"])
            .args(more)
    }

    /// A load that only reads, of two tables.
    fn read(&self, server: &PrivateServer) -> Weir {
        self.workload("oltp_read_only", server, 2, &["run"])
    }

    /// `weir load oltp_read_write` on `tables` tables at `server`.
    fn load(&self, server: &PrivateServer, tables: u32, more: &[&str]) -> Weir {
        self.workload("oltp_read_write", server, tables, more)
    }

    /// `weir run` of a short study that writes, on `server`.
    fn study(&self, server: &PrivateServer, out: &str, more: &[&str]) -> Weir {
        let study = r#"
            [study]
            title = "Replicated"
            question = "Does it reach the replicas?"
            [server]
            flavor = "mysql"
            [data]
            workload = "oltp_write_only"
            tables = 3
            rows = 400
            [load]
            threads = 2
            warmup = "0s"
            measure = "1s"
            [factors]
            rate = [50]
            [repeat]
            runs = 1
            seed = 1
        "#;
        let study = self.world.write("study.toml", study);
        let url = format!(
            "{}:///{SCHEMA}?option-file={}&socket={}",
            self.flavor,
            self.world.path("app.cnf").display(),
            socket(server).display()
        );
        self.weir()
            .args(["run", study.to_str().unwrap(), "--server", &url])
            .args(["--out", self.world.path(out).to_str().unwrap()])
            .args(more)
    }
}

fn socket(server: &PrivateServer) -> PathBuf {
    match server.endpoint().address {
        Address::Socket(path) => path,
        other @ Address::Tcp(..) => panic!("{other}"),
    }
}

/// Tables of the schema and their checksums.
fn checksums(server: &PrivateServer) -> BTreeMap<String, Option<u64>> {
    let mut connection = weir_testing::connect(&Endpoint {
        database: "mysql".to_owned(),
        ..server.endpoint()
    });
    let tables: Vec<String> = connection
        .rows(format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = '{SCHEMA}'"
        ))
        .unwrap();
    let checksum = |table: String| {
        let sql = format!("CHECKSUM TABLE {SCHEMA}.{table}");
        let row: Option<(String, Option<u64>)> = connection.first(sql).unwrap();
        (table, row.and_then(|(_, sum)| sum))
    };
    tables.into_iter().map(checksum).collect()
}

fn every_replica_follows(flavor: Flavor, has_gtid: bool, kinds: &[ReplicaMode]) {
    let followed = weir_testing::start_followed(flavor, has_gtid, kinds);
    let primary = &followed.primary;
    let site = Site::new(flavor, primary);
    site.load(primary, 2, &["prepare"]).succeeds();
    site.load(primary, 2, &["run"]).succeeds();
    site.load(primary, 1, &["cleanup"]).succeeds();
    site.load(primary, 2, &["prepare"]).succeeds();
    site.load(primary, 2, &["cleanup"]).succeeds();
    let study = site.study(primary, "out", &[]).output();
    assert!(matches!(study.code, Some(0 | 3)), "{}", study.stderr);
    let rows = ["prepare", "--table-size=400"];
    site.load(primary, 4, &rows).succeeds();

    let expected = checksums(primary);
    assert_eq!(expected.len(), 4, "{expected:?}");
    assert!(expected.values().all(Option::is_some), "{expected:?}");
    // Otherwise they would say nothing.
    for (kind, replica) in &followed.replicas {
        let is_behind = *kind == ReplicaMode::Connected || checksums(replica).is_empty();
        assert!(is_behind, "{kind:?} has followed already");
    }
    followed.follow_to_the_end();
    for (kind, replica) in &followed.replicas {
        assert_eq!(checksums(replica), expected, "{kind:?}");
    }
}

const RECEIVING: [ReplicaMode; 2] = [ReplicaMode::Connected, ReplicaMode::Delayed];
/// Nobody reads the primary's binary log while it is written.
const STOPPED: [ReplicaMode; 1] = [ReplicaMode::Stopped];

fn receiving_replicas_by_gtid_follow(flavor: Flavor) {
    every_replica_follows(flavor, true, &RECEIVING);
}

fn receiving_replicas_by_position_follow(flavor: Flavor) {
    every_replica_follows(flavor, false, &RECEIVING);
}

fn a_stopped_replica_by_gtid_follows(flavor: Flavor) {
    every_replica_follows(flavor, true, &STOPPED);
}

fn a_stopped_replica_by_position_follows(flavor: Flavor) {
    every_replica_follows(flavor, false, &STOPPED);
}

fn a_replica_is_not_written_unless_that_is_allowed(flavor: Flavor) {
    let servers = weir_testing::start_replicated(flavor, Replication::Async, 1);
    let (primary, replica) = (&servers.primary, &servers.replicas[0]);
    let site = Site::new(flavor, primary);
    site.load(primary, 2, &["prepare"]).succeeds();
    let patience = Duration::from_mins(1);
    wait_until_caught_up(flavor, &primary.endpoint(), &replica.endpoint(), patience).unwrap();
    let refused = |server: &PrivateServer, why: &str| {
        for command in [
            &["prepare", "--tables=3"][..],
            &["cleanup"],
            &["run"],
            &["prepare", "--tables=3", "--dry-run"],
        ] {
            let error = site.load(server, 2, command).fails();
            let is_told = error.contains(why) && error.contains("--allow-replica");
            assert!(is_told, "{command:?}: {error}");
        }
        let error = site.study(server, "refused", &[]).fails();
        assert!(error.contains(why), "{error}");
    };
    let set = |server: &PrivateServer, statement: &str| {
        server.session().unwrap().run("set", statement).unwrap();
    };
    // The server's own switch does not hold this account back.
    set(replica, "SET GLOBAL read_only = 0");
    refused(replica, "it is a replica of 127.0.0.1:");
    // What only reads is not held back, and changes nothing: not even a schema that is there.
    let position = binary_log(flavor, replica);
    site.load(replica, 2, &["prepare"]).succeeds();
    site.read(replica).succeeds();
    assert_eq!(binary_log(flavor, replica), position);
    set(replica, "STOP REPLICA");
    refused(replica, "it is a replica of 127.0.0.1:");
    let allowed = ["prepare", "--tables=3", "--allow-replica"];
    site.load(replica, 2, &allowed).succeeds();
    assert_eq!(checksums(replica).len(), 3);

    // A server that nobody should write to, whoever it follows.
    set(primary, "SET GLOBAL read_only = 1");
    refused(primary, "read_only = ON");
    set(primary, "SET GLOBAL read_only = 0");
    what_cannot_be_seen_is_told(&site, primary);
}

/// An account without the privilege to look whether the server is a replica.
fn what_cannot_be_seen_is_told(site: &Site, server: &PrivateServer) {
    let mut session = server.session().unwrap();
    for statement in [
        "CREATE USER limited@localhost IDENTIFIED BY 'x'".to_owned(),
        format!("GRANT ALL ON {SCHEMA}.* TO limited@localhost"),
    ] {
        session.run("make the account", &statement).unwrap();
    }
    site.account("app.cnf", "limited", "x");
    let output = site.load(server, 2, &["run"]).succeeds();
    let privilege = match site.flavor {
        Flavor::Mysql => "REPLICATION CLIENT",
        Flavor::Mariadb => "SLAVE MONITOR",
    };
    let notes: Vec<_> = output
        .stderr
        .lines()
        .filter(|line| line.contains(privilege))
        .collect();
    assert_eq!(notes.len(), 1, "{}", output.stderr);
}

/// Where the server's binary log ends.
fn binary_log(flavor: Flavor, server: &PrivateServer) -> String {
    let query = match flavor {
        Flavor::Mysql => "SHOW BINARY LOG STATUS",
        Flavor::Mariadb => "SHOW MASTER STATUS",
    };
    let row = server
        .session()
        .unwrap()
        .row("look", query)
        .unwrap()
        .unwrap();
    format!("{} {}", row["File"], row["Position"])
}

on_both_flavors!(
    receiving_replicas_by_gtid_follow
    receiving_replicas_by_position_follow
    a_stopped_replica_by_gtid_follows
    a_stopped_replica_by_position_follows
    a_replica_is_not_written_unless_that_is_allowed
);

//! `weir upgrade` and `[[data.before]]`: the same statements on two servers with the same data, and on data before and after
//! a change.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use weir_model::Flavor;
use weir_server::ServerBinary;

use crate::harness::{Weir, World, wait_until};
use crate::server::Servers;

weir_testing::on_both_flavors! {
    a_server_with_another_default_answers_differently
    data_are_changed_once_and_the_index_is_judged
    servers_of_killed_commands_go_and_those_of_living_ones_stay
}

/// Tables of the user's with 2,000 rows, as a dump.
pub(crate) fn dump(world: &World) -> PathBuf {
    let mut sql = "CREATE DATABASE shop;\nUSE shop;\nCREATE TABLE item (id INT PRIMARY KEY, kind INT, name VARCHAR(20));\n\
                   INSERT INTO item VALUES (0,0,'item 0')"
        .to_owned();
    for id in 1..2_000 {
        write!(sql, ",({id},{},'item {id}')", id % 100).unwrap();
    }
    world.write("shop.sql", &(sql + ";\n"))
}

/// A general log of four kinds of statements, 40 of each in two seconds.
pub(crate) fn general_log(world: &World) -> PathBuf {
    let mut log =
        "2026-01-01T00:00:00.000000Z\t 8 Connect\tapp@localhost on shop using Socket\n".to_owned();
    for number in 0..40 {
        let statements = [
            format!("SELECT name FROM item WHERE id = {number}"),
            format!("SELECT COUNT(*) FROM item WHERE kind = {number}"),
            format!(
                "SELECT GROUP_CONCAT(name) FROM item WHERE id < {}",
                10 + number
            ),
            // The first is too long for its column.
            format!(
                "UPDATE item SET name = '{}' WHERE id = {number}",
                if number == 0 {
                    "a name that is longer than twenty"
                } else {
                    "short"
                }
            ),
        ];
        for (place, statement) in statements.iter().enumerate() {
            let at_ms = number * 50 + place * 10;
            let (s, ms) = (at_ms / 1_000, at_ms % 1_000);
            writeln!(
                log,
                "2026-01-01T00:00:{s:02}.{ms:03}000Z\t 8 Query\t{statement}"
            )
            .unwrap();
        }
    }
    log.push_str("2026-01-01T00:00:03.000000Z\t 8 Quit\t\n");
    world.write("general.log", &log)
}

/// The same as a capture.
fn capture(servers: &Servers) -> PathBuf {
    let from = general_log(&servers.world);
    let to = servers.path("shop.weircap");
    let words = ["import", from.to_str().unwrap(), "-o", to.to_str().unwrap()];
    servers.command("capture", &words).succeeds();
    to
}

/// A program of its own that starts the same server with another option.
fn with_option(servers: &Servers, server: &ServerBinary, option: &str) -> PathBuf {
    let other = servers.path("other");
    let folder = other.join("bin");
    fs::create_dir_all(&folder).unwrap();
    // The files of its package.
    let prefix = server.path.parent().and_then(Path::parent).unwrap();
    for part in ["share", "lib", "usr", "scripts"] {
        std::os::unix::fs::symlink(prefix.join(part), other.join(part)).unwrap();
    }
    let program = folder.join(server.path.file_name().unwrap());
    let script = format!(
        "#!/bin/sh\nexec {} \"$@\" {option}\n",
        server.path.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

fn upgrade(servers: &Servers, flavor: &str, to: &Path, more: &[&str]) -> Weir {
    let [capture, dump] = ["shop.weircap", "shop.sql"].map(|name| servers.path(name));
    servers
        .command("upgrade", &[flavor, to.to_str().unwrap()])
        .args(["--warmup", "0s", "--runs", "3"])
        .args([
            "--capture",
            capture.to_str().unwrap(),
            "--data",
            dump.to_str().unwrap(),
        ])
        .args(more)
        .at(servers.world.home.path())
}

fn a_server_with_another_default_answers_differently(flavor: Flavor) {
    let servers = Servers::new();
    let server = weir_testing::binary(flavor);
    dump(&servers.world);
    capture(&servers);
    let to = with_option(&servers, &server, "--group-concat-max-len=8 --sql-mode=");
    let told = upgrade(&servers, &flavor.to_string(), &to, &["--out", "first"]).completes();
    for part in [
        "other answer: 1",
        "contents of the rows",
        "select group_concat(name) from item where id < ?",
        "other error: 1",
        "errors: 0 instead of 1",
        "group_concat_max_len: ",
        " -> 8",
        "settings with another default",
    ] {
        assert!(told.stdout.contains(part), "{part}: {}", told.stdout);
    }
    assert!(told.stderr.contains("space: "), "{}", told.stderr);

    // The backup is known by now; the same server has no differences.
    fs::remove_dir_all(servers.path("other")).unwrap();
    let same = with_option(&servers, &server, "");
    let again = upgrade(&servers, &flavor.to_string(), &same, &["--out", "second"]).completes();
    assert!(
        again.stderr.contains("is there already"),
        "{}",
        again.stderr
    );
    for part in ["other answer", "other error", "another default"] {
        assert!(!again.stdout.contains(part), "{part}: {}", again.stdout);
    }
    let taken = upgrade(&servers, &flavor.to_string(), &same, &["--out", "second"]).fails();
    assert!(
        taken.contains("it exists") && taken.contains("--out"),
        "{taken}"
    );
    the_binary_log_is_that_of_both(&servers, &server);
    servers.world.assert_nothing_left();
}

/// Both servers get the binary log that both have by default. The report names one that a single server has, and neither
/// gets it.
fn the_binary_log_is_that_of_both(servers: &Servers, server: &ServerBinary) {
    let flavor = server.flavor.to_string();
    let study = fs::read_to_string(servers.path("first/upgrade.toml")).unwrap();
    let is_mysql = server.flavor == Flavor::Mysql;
    assert_eq!(study.contains("log_bin = \"ON\""), is_mysql, "{study}");
    fs::remove_dir_all(servers.path("other")).unwrap();
    let log = if is_mysql {
        "--skip-log-bin"
    } else {
        "--log-bin=binlog"
    };
    let other = with_option(servers, server, log);
    let told = upgrade(servers, &flavor, &other, &["--plan", "--out", "third"]).completes();
    assert!(
        told.stdout.contains("both ran without one"),
        "{}",
        told.stdout
    );
    let study = fs::read_to_string(servers.path("third/upgrade.toml")).unwrap();
    assert!(!study.contains("log_bin"), "{study}");
}

fn data_are_changed_once_and_the_index_is_judged(flavor: Flavor) {
    let servers = Servers::new();
    let (capture, dump) = (capture(&servers), dump(&servers.world));
    let flavor = flavor.to_string();
    servers.take_snapshot(&flavor, &dump);
    let study = |statement: &str| {
        let text = format!(
            "[study]\ntitle = \"An index\"\nquestion = \"Does it help?\"\n[server]\nflavor = \"{flavor}\"\n[data]\nsnapshot = \
             \"plain\"\n[[data.before]]\nname = \"index\"\nstatement = \"{statement}\"\n[[data.before]]\nname = \"long\"\n\
             statement = \"SET GLOBAL group_concat_max_len = 8\"\n[load]\nreplay = \"{}\"\n[factors]\nbefore = [\"none\", \
             \"index + long\"]\n[repeat]\nruns = 3\n",
            capture.display()
        );
        servers.world.write("index.toml", &text)
    };
    let run = |study: &Path, out: &str| {
        servers
            .command("run", &[study.to_str().unwrap(), "--out", out])
            .at(servers.world.home.path())
    };
    let good = study("ALTER TABLE shop.item ADD INDEX kind (kind)");
    let told = run(&good, "first").completes();
    assert!(
        told.stderr.contains("once for all runs: ALTER TABLE"),
        "{}",
        told.stderr
    );
    assert!(told.stdout.contains("item: ref by kind"), "{}", told.stdout);
    assert!(
        told.stdout.contains("contents of the rows"),
        "{}",
        told.stdout
    );
    let again = run(&good, "second").completes();
    assert!(
        !again.stderr.contains("once for all runs"),
        "{}",
        again.stderr
    );
    // A server reports this failure as a row.
    let bad = study("ANALYZE TABLE shop.missing");
    let refused = run(&bad, "third").fails();
    assert!(
        refused.contains("data.before.index") && refused.contains("doesn't exist"),
        "{refused}"
    );
    servers.world.assert_nothing_left();
}

/// Both load the dump on a server, which stays up beyond the command that is killed.
fn servers_of_killed_commands_go_and_those_of_living_ones_stay(flavor: Flavor) {
    let servers = Servers::new();
    capture(&servers);
    servers.world.write("shop.sql", "DO SLEEP(300);\n");
    let to = with_option(&servers, &weir_testing::binary(flavor), "");
    let flavor = flavor.to_string();
    let mut upgrade = upgrade(&servers, &flavor, &to, &[]).spawn();
    let dump = servers.path("shop.sql");
    let up = ["up", "half", "--server", &flavor, "--from-backup"];
    let mut up = servers
        .weir(&[&up[..], &[dump.to_str().unwrap()]].concat())
        .spawn();
    let names = || -> Vec<String> {
        let listed = servers.json(&["list"]);
        let running = listed
            .as_array()
            .unwrap()
            .iter()
            .filter(|info| !info["pid"].is_null());
        running
            .map(|info| info["name"].as_str().unwrap().to_owned())
            .collect()
    };
    wait_until("both servers run", || names().len() == 2);
    let clean = || servers.command("clean", &[]).succeeds().stdout;
    assert_eq!(clean(), "nothing was left behind\n");

    for (child, left) in [(&mut upgrade, 1), (&mut up, 0)] {
        child.kill().unwrap();
        child.wait().unwrap();
        let told = clean();
        let ends = |line: &str| told.lines().any(|told| told.starts_with(line));
        assert!(
            ends("ended server, process ") && ends("removed /"),
            "{told}"
        );
        assert_eq!(names().len(), left);
    }
    assert_eq!(servers.json(&["list"]).as_array().unwrap().len(), 0);
    servers.world.assert_nothing_left();
}

#[test]
fn copies_that_do_not_fit_are_refused_before_the_first() {
    let servers = Servers::new();
    capture(&servers);
    let to = with_option(&servers, &weir_testing::binary(Flavor::Mariadb), "");
    let dump = fs::File::create(servers.path("shop.sql")).unwrap();
    dump.set_len(1 << 42).unwrap();
    let work = servers.path("work");
    let refused = upgrade(
        &servers,
        "mariadb",
        &to,
        &["--work", work.to_str().unwrap()],
    )
    .fails();
    for part in ["8T needed", "by --work", "by XDG_CACHE_HOME"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert_eq!(servers.json(&["list"]).as_array().unwrap().len(), 0);
}

//! Twelve differences between two servers, each planted on a real pair, and twenty kinds of statements that are equal on
//! both: each difference stands in its class of the upgrade's report, and no equal kind is named by an answer, an error, a
//! warning or a plan. Times of equal kinds are the subject of `make bench-replay`.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use weir_judge::read_result;
use weir_model::Flavor;

use crate::harness::World;
use crate::server::Servers;

weir_testing::on_both_flavors! {
    ten_differences_in_the_data_and_settings_stand_in_their_classes
    three_differences_of_the_server_are_told_without_a_statement
    a_gate_on_a_kind_of_statement_fails_where_its_index_is_lost
}

/// A difference: the change, the statement that shows it (`#` is the number of the turn), its kind and its class.
struct Plant {
    name: &'static str,
    change: &'static str,
    statement: &'static str,
    kind: &'static str,
    class: &'static str,
    says: &'static str,
}

/// The mode of the level has three plants: GROUP BY, a warning, a zero date.
const MODE: &str =
    "SET GLOBAL sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'";

const PLANTS: [Plant; 10] = [
    Plant {
        name: "order",
        change: "ALTER TABLE shop.sorted ADD INDEX covering (k, name)",
        statement: "SELECT name FROM sorted WHERE k = #",
        kind: "select name from sorted where k = ?",
        class: "other answer",
        says: "order of the rows",
    },
    Plant {
        name: "collation",
        change: "ALTER TABLE shop.named MODIFY name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        statement: "SELECT COUNT(*) FROM named WHERE name = 'ITEM #'",
        kind: "select count(*) from named where name = ?",
        class: "other answer",
        says: "contents of the rows",
    },
    Plant {
        name: "mode",
        change: MODE,
        statement: "SELECT k, name FROM grouped GROUP BY k LIMIT #1",
        kind: "select k, name from grouped group by k limit ?",
        class: "other error",
        says: "errors: 30 instead of 0",
    },
    Plant {
        name: "",
        change: "",
        statement: "SELECT 10 / (k - k) FROM divided WHERE id = #",
        kind: "select ? / (k - k) from divided where id = ?",
        class: "other warnings",
        says: "warnings: 0 instead of 30",
    },
    Plant {
        name: "",
        change: "",
        statement: "INSERT INTO dated (d) VALUES ('0000-00-00')",
        kind: "insert into dated (d) values (?+)",
        class: "other error",
        says: "errors: 30 instead of 0",
    },
    Plant {
        name: "nulls",
        change: "ALTER TABLE shop.empty_keys ADD INDEX covering (v, o)",
        statement: "SELECT id FROM empty_keys ORDER BY v",
        kind: "select id from empty_keys order by v",
        class: "other answer",
        says: "order of the rows",
    },
    Plant {
        name: "default",
        change: "SET GLOBAL group_concat_max_len = 8",
        statement: "SELECT GROUP_CONCAT(name) FROM listed WHERE id < 1#",
        kind: "select group_concat(name) from listed where id < ?",
        class: "other answer",
        says: "contents of the rows",
    },
    Plant {
        name: "lost index",
        change: "ALTER TABLE shop.looked_up DROP INDEX k",
        statement: "SELECT COUNT(*) FROM looked_up WHERE k = #",
        kind: "select count(*) from looked_up where k = ?",
        class: "another plan",
        says: "plan after:  looked_up: ALL",
    },
    Plant {
        name: "switch",
        change: "SET GLOBAL optimizer_switch = 'index_merge=off'",
        statement: "SELECT SUM(id) FROM merged WHERE a = # OR b = #",
        kind: "select sum(id) from merged where a = ? or b = ?",
        class: "another plan",
        says: "plan after:  merged: ALL",
    },
    Plant {
        name: "type",
        change: "ALTER TABLE shop.coded MODIFY code INT",
        statement: "SELECT code FROM coded WHERE id = #",
        kind: "select code from coded where id = ?",
        class: "other answer",
        says: "contents of the rows",
    },
];

/// Kinds of statements without a difference.
const EQUAL: usize = 20;
/// Statements of each kind.
const TURNS: usize = 30;
/// Rows of the tables whose plan changes: reading all of them in place of a few surely takes longer.
const ROWS: usize = 20_000;

/// A table of `rows` rows, each given by `row`.
fn table(sql: &mut String, definition: &str, rows: usize, row: impl Fn(usize) -> String) {
    let name = definition.split(' ').next().unwrap();
    writeln!(sql, "CREATE TABLE {definition};").unwrap();
    for first in (1..=rows).step_by(1_000) {
        let last = rows.min(first + 999);
        let values: Vec<_> = (first..=last).map(&row).collect();
        writeln!(sql, "INSERT INTO {name} VALUES {};", values.join(",")).unwrap();
    }
}

/// The tables of all plants and of the equal kinds.
fn dump(world: &World) -> PathBuf {
    let mut sql = "CREATE DATABASE shop DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;\nUSE shop;\n".to_owned();
    let named = "(id INT PRIMARY KEY, k INT, name VARCHAR(20))";
    for name in ["sorted", "grouped", "divided", "listed"] {
        table(&mut sql, &format!("{name} {named}"), 500, |id| {
            format!("({id},{},'item {id}')", id % 50)
        });
    }
    table(
        &mut sql,
        "named (id INT PRIMARY KEY, name VARCHAR(20))",
        200,
        |id| {
            let word = if id % 2 == 0 { "item" } else { "ITEM" };
            format!("({id},'{word} {}')", id / 2)
        },
    );
    table(
        &mut sql,
        "dated (id INT PRIMARY KEY AUTO_INCREMENT, d DATE)",
        1,
        |_| "(1,'2026-01-01')".to_owned(),
    );
    table(
        &mut sql,
        "empty_keys (id INT PRIMARY KEY, v INT, o INT)",
        200,
        |id| {
            let v = if id % 2 == 0 {
                "NULL".to_owned()
            } else {
                id.to_string()
            };
            format!("({id},{v},-{id})")
        },
    );
    table(
        &mut sql,
        "looked_up (id INT PRIMARY KEY, k INT, INDEX k (k))",
        ROWS,
        |id| format!("({id},{})", id % 1_000),
    );
    table(
        &mut sql,
        "merged (id INT PRIMARY KEY, a INT, b INT, INDEX a (a), INDEX b (b))",
        ROWS,
        |id| format!("({id},{},{})", id % 1_000, id / 20),
    );
    table(
        &mut sql,
        "coded (id INT PRIMARY KEY, code VARCHAR(8))",
        200,
        |id| format!("({id},'{id:05}')"),
    );
    let columns: Vec<_> = (0..EQUAL).map(|column| format!("c{column} INT")).collect();
    let definition = format!("plain (id INT PRIMARY KEY, {})", columns.join(", "));
    table(&mut sql, &definition, 200, |id| {
        let values: Vec<_> = (0..EQUAL).map(|column| (id * column).to_string()).collect();
        format!("({id},{})", values.join(","))
    });
    // Otherwise an index merge comes or not by when the server last counted its rows.
    sql.push_str("ANALYZE TABLE merged, looked_up;\n");
    world.write("shop.sql", &sql)
}

/// A general log of all kinds, a statement each 5 ms in turns.
fn capture(servers: &Servers) -> PathBuf {
    let turns = (1..=TURNS).flat_map(|turn| {
        let plants = PLANTS.iter();
        let plants = plants.map(move |plant| plant.statement.replace('#', &turn.to_string()));
        let equal =
            (0..EQUAL).map(move |column| format!("SELECT c{column} FROM plain WHERE id = {turn}"));
        plants.chain(equal)
    });
    capture_of(servers, turns, 5)
}

/// A capture of one connection with a statement each `every_ms` milliseconds.
fn capture_of(
    servers: &Servers,
    statements: impl Iterator<Item = String>,
    every_ms: u64,
) -> PathBuf {
    let mut log =
        "2026-01-01T00:00:00.000000Z\t 8 Connect\tapp@localhost on shop using Socket\n".to_owned();
    let mut at_ms = 0;
    for statement in statements {
        let (s, ms) = (at_ms / 1_000, at_ms % 1_000);
        writeln!(
            log,
            "2026-01-01T00:00:{s:02}.{ms:03}000Z\t 8 Query\t{statement}"
        )
        .unwrap();
        at_ms += every_ms;
    }
    writeln!(
        log,
        "2026-01-01T00:00:{:02}.000000Z\t 8 Quit\t",
        at_ms / 1_000 + 1
    )
    .unwrap();
    let from = servers.world.write("general.log", &log);
    let to = servers.path("shop.weircap");
    let words = ["import", from.to_str().unwrap(), "-o", to.to_str().unwrap()];
    servers.command("capture", &words).succeeds();
    to
}

/// The classes of the report: title and text.
fn classes(report: &str) -> Vec<(&str, &str)> {
    let blocks = report.split("\n\n");
    let titled = blocks.filter_map(|block| block.split_once('\n'));
    titled
        .filter_map(|(title, text)| Some((title.rsplit_once(": ")?.0, text)))
        .collect()
}

fn ten_differences_in_the_data_and_settings_stand_in_their_classes(flavor: Flavor) {
    let servers = Servers::new();
    let (capture, dump) = (capture(&servers), dump(&servers.world));
    let flavor = flavor.to_string();
    servers.take_snapshot(&flavor, &dump);
    let mut study = format!(
        "[study]\ntitle = \"Twelve\"\nquestion = \"Which?\"\n[server]\nflavor = \"{flavor}\"\n[server.config]\n\
         sql_mode = \"ERROR_FOR_DIVISION_BY_ZERO\"\n[data]\nsnapshot = \"plain\"\n[load]\nreplay = \"{}\"\nwarmup = \"0s\"\n",
        capture.display()
    );
    let changes = || PLANTS.iter().filter(|plant| !plant.name.is_empty());
    for Plant { name, change, .. } in changes() {
        writeln!(
            study,
            "[[data.before]]\nname = \"{name}\"\nstatement = \"{change}\""
        )
        .unwrap();
    }
    let names: Vec<_> = changes().map(|plant| plant.name).collect();
    writeln!(
        study,
        "[factors]\nbefore = [\"none\", \"{}\"]\n[repeat]\nruns = 3",
        names.join(" + ")
    )
    .unwrap();
    let file = servers.world.write("twelve.toml", &study);
    // Statements that fail in one arm only make its throughput no answer; their kinds are one.
    let run = servers
        .command("run", &[file.to_str().unwrap(), "--out", "result"])
        .at(servers.world.home.path())
        .output();
    assert_eq!(run.code, Some(3), "{}{}", run.stdout, run.stderr);
    let result = read_result(&servers.world.home.path().join("result")).unwrap();
    let report = weir_report::upgrade(&result);
    let classes = classes(&report);
    for plant in &PLANTS {
        let (title, text) = classes
            .iter()
            .find(|(_, text)| text.contains(plant.kind))
            .unwrap_or_else(|| panic!("{} is nowhere:\n{report}", plant.kind));
        // With another plan a statement is slower too, where the machine is calm enough to show it.
        assert!(
            title.contains(plant.class),
            "{} is in `{title}`:\n{report}",
            plant.kind
        );
        let of_kind = text.split(plant.kind).nth(1).unwrap();
        let next = of_kind
            .find("\n+")
            .or(of_kind.find("\n-"))
            .unwrap_or(of_kind.len());
        assert!(
            of_kind[..next].contains(plant.says),
            "{}: {of_kind}",
            plant.says
        );
    }
    let by_time = ["equal within 5 %", "not shown to differ", "faster"];
    for (title, text) in &classes {
        let is_by_time = by_time.contains(title) || title.starts_with("slower, with the same plan");
        assert!(
            is_by_time || !text.contains("from plain"),
            "an equal kind in `{title}`:\n{report}"
        );
    }
    servers.world.assert_nothing_left();
}

/// From one flavour to the other, which is what both have for two servers: a setting that is gone, a word that is
/// reserved, and defaults.
fn three_differences_of_the_server_are_told_without_a_statement(flavor: Flavor) {
    let servers = Servers::new();
    let (to, word, setting, default) = match flavor {
        Flavor::Mariadb => ("mysql", "rank", "aria_pagecache_buffer_size", "sql_mode: "),
        Flavor::Mysql => ("mariadb", "returning", "temptable_max_ram", "sql_mode: "),
    };
    let capture = capture(&servers);
    let sql = format!(
        "CREATE DATABASE shop;\nUSE shop;\nCREATE TABLE item (id INT PRIMARY KEY, `{word}` INT, name INT);\n"
    );
    let dump = servers.world.write("words.sql", &sql);
    let options = format!("[mysqld]\n{setting} = 16M\nmax_connections = 77\n");
    let options = servers.world.write("my.cnf", &options);
    let told = servers
        .command(
            "upgrade",
            &[
                &flavor.to_string(),
                to,
                "--plan",
                "--until-decided",
                "--out",
                "result",
            ],
        )
        .args([
            "--capture",
            capture.to_str().unwrap(),
            "--data",
            dump.to_str().unwrap(),
        ])
        .args(["--option-file", options.to_str().unwrap()])
        .at(servers.world.home.path())
        .completes()
        .stdout;
    let study = std::fs::read_to_string(servers.world.home.path().join("result/upgrade.toml"));
    assert!(study.unwrap().contains("until = \"equal +-5 %\""));
    let (before, defaults) = told.split_once("settings with another default").unwrap();
    assert!(before.contains(&format!("\n  {setting}: ")), "{told}");
    assert!(before.contains(&format!("\n  {word}\n")), "{told}");
    assert!(
        !before.contains("\n  name\n") && !before.contains("max_connections"),
        "{told}"
    );
    assert!(
        defaults.contains(default) && !defaults.contains("max_connections"),
        "{told}"
    );
    servers.world.assert_nothing_left();
}

/// Reading 100,000 rows in place of one takes so much longer that a busy machine hides nothing.
fn a_gate_on_a_kind_of_statement_fails_where_its_index_is_lost(flavor: Flavor) {
    let servers = Servers::new();
    let mut sql = "CREATE DATABASE shop;\nUSE shop;\n".to_owned();
    let rows = 100_000;
    table(
        &mut sql,
        "looked_up (id INT PRIMARY KEY, k INT, INDEX k (k))",
        rows,
        |id| format!("({id},{id})"),
    );
    let dump = servers.world.write("shop.sql", &sql);
    let statements = (1..=60).map(|k| format!("SELECT COUNT(*) FROM looked_up WHERE k = {k}"));
    let capture = capture_of(&servers, statements, 40);
    let flavor = flavor.to_string();
    servers.take_snapshot(&flavor, &dump);
    let study = format!(
        "[study]\ntitle = \"A gate\"\nquestion = \"Slower?\"\n[server]\nflavor = \"{flavor}\"\n[data]\nsnapshot = \
         \"plain\"\n[[data.before]]\nname = \"lost\"\nstatement = \"ALTER TABLE shop.looked_up DROP INDEX k\"\n[load]\n\
         replay = \"{}\"\nwarmup = \"0s\"\n[factors]\nbefore = [\"none\", \"lost\"]\n[repeat]\nruns = 5\n",
        capture.display()
    );
    let file = servers.world.write("gate.toml", &study);
    let run = ["run", file.to_str().unwrap(), "--out", "result"];
    let here = |words: &[&str]| {
        let command = servers.command(words[0], &words[1..]);
        command.at(servers.world.home.path())
    };
    here(&run).output();
    for (allowed, outcome, code) in [("+50%", "failed", 1), ("+10000000%", "met", 0)] {
        let gate = ["compare", "result", "--factor", "before", "--json"];
        let gate = [&gate[..], &["--gate-statement", "from looked_up", allowed]].concat();
        let told = here(&gate).output();
        let found: Value = serde_json::from_str(&told.stdout).unwrap();
        // A machine that is too busy for the replay makes the comparison invalid, and the gate does not pass.
        if found["comparisons"][0]["verdict"] == "invalid" {
            assert_eq!(told.code, Some(3), "{found}");
            continue;
        }
        let [check] = found["gate_checks"].as_array().unwrap().as_slice() else {
            panic!("{found}");
        };
        // Beside other programs an interval can be wider than the loss: then the gate does not pass either.
        let findings = found["comparisons"][0]["findings"].as_array().unwrap();
        let is_busy = findings.iter().any(|finding| finding["rule"] == "R24");
        if is_busy && check["outcome"] == "undecided" {
            assert_eq!(told.code, Some(4), "{found}");
        } else {
            assert_eq!(check["outcome"], outcome, "{found}");
            assert_eq!(told.code, Some(code), "{found}");
        }
        let condition = check["condition"].as_str().unwrap();
        assert!(condition.contains("from looked_up"), "{condition}");
    }
    servers.world.assert_nothing_left();
}

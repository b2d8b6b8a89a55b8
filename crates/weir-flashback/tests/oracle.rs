//! Flashbacks of real servers under a random load, beside dumps that were made at the time.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use weir_flashback::{
    Asked, Chosen, Moment, Options, Prepared, Source, State, TableName, Undo, find_like, rehearse,
};
use weir_model::Flavor;
use weir_mysql::{Connection, Row, Value};
use weir_server::{PrivateServer, on_both_flavors, testing};

/// Variables with which a server keeps its rows' past.
fn logging(flavor: Flavor) -> Vec<(&'static str, &'static str)> {
    match flavor {
        Flavor::Mysql => vec![("log_bin", "binlog"), ("server_id", "1")],
        Flavor::Mariadb => vec![
            ("log_bin", "binlog"),
            ("server_id", "1"),
            ("binlog_format", "ROW"),
        ],
    }
}

fn start(flavor: Flavor, more: &[(&str, &str)]) -> (PrivateServer, TempDir) {
    let mut variables = logging(flavor);
    variables.extend(more);
    testing::start_with(flavor, &variables)
}

fn source(server: &PrivateServer) -> Source {
    let binary = server.binary();
    Source::at(server.endpoint(), binary.flavor, binary.version)
}

/// All columns that both flavours have, and those of one.
fn definition(flavor: Flavor) -> String {
    let own = match flavor {
        Flavor::Mysql => "js JSON, g GEOMETRY, v VECTOR(3), e8 ENUM('x','y') CHARACTER SET utf8mb4",
        Flavor::Mariadb => "js JSON, g GEOMETRY, u UUID, i6 INET6, zip VARCHAR(500) COMPRESSED",
    };
    format!(
        "CREATE TABLE shop.orders (
            id BIGINT NOT NULL, code VARCHAR(40) CHARACTER SET utf8mb4 NOT NULL,
            t1 TINYINT, t2 SMALLINT UNSIGNED, t3 MEDIUMINT, t4 INT UNSIGNED, t8 BIGINT UNSIGNED,
            f FLOAT, d DOUBLE, de DECIMAL(20,7), de2 DECIMAL(65,30),
            b BIT(13), y YEAR, da DATE, dt DATETIME, dt6 DATETIME(6), dt3 DATETIME(3),
            ts TIMESTAMP NULL, ts6 TIMESTAMP(6) NULL, ti TIME, ti1 TIME(1), ti4 TIME(4), ti6 TIME(6),
            c CHAR(20) CHARACTER SET latin1, c3 CHAR(200) CHARACTER SET utf8mb4, bi BINARY(8), vb VARBINARY(300),
            tx TEXT CHARACTER SET utf16, lt LONGTEXT CHARACTER SET utf8mb4, bl MEDIUMBLOB,
            e ENUM('a','b','c'), s SET('p','q','r'),
            gen INT AS (t1 + 1) STORED, vir INT AS (t1 + 2) VIRTUAL, {own},
            PRIMARY KEY (id), UNIQUE KEY (code)
        ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
    )
}

/// Numbers that a seed decides.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        // Xorshift64*, Vigna 2016.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }

    fn text(&mut self, letters: &str, limit: u64) -> String {
        let letters: Vec<char> = letters.chars().collect();
        let length = self.below(limit);
        (0..length)
            .map(|_| letters[self.below(letters.len() as u64) as usize])
            .collect()
    }

    /// The values of a row but for its id.
    fn row(&mut self, flavor: Flavor) -> Vec<(&'static str, String)> {
        let hex = |text: String| {
            format!(
                "X'{}'",
                text.bytes().map(|b| format!("{b:02x}")).collect::<String>()
            )
        };
        let mut sign = || if self.below(2) == 0 { "-" } else { "" };
        let (sign1, sign2, sign3) = (sign(), sign(), sign());
        let mut values = vec![
            (
                "code",
                format!("'{}-{}'", self.text("aAbB é", 6), self.below(1 << 30)),
            ),
            ("t1", format!("{sign1}{}", self.below(120))),
            ("t2", self.below(65536).to_string()),
            ("t3", format!("{sign2}{}", self.below(8_000_000))),
            ("t4", self.below(1 << 30).to_string()),
            (
                "t8",
                format!(
                    "{}",
                    self.below(1 << 31) * 4_000_000_000 + self.below(1 << 31)
                ),
            ),
            (
                "f",
                format!(
                    "{sign1}{}.{}e{}",
                    self.below(10),
                    self.below(1 << 30),
                    self.below(30)
                ),
            ),
            (
                "d",
                format!(
                    "{sign2}{}.{}e{sign1}{}",
                    self.below(10),
                    self.below(1 << 31),
                    self.below(300)
                ),
            ),
            (
                "de",
                format!("{sign3}{}.{}", self.below(1 << 30), self.below(9_999_999)),
            ),
            (
                "de2",
                format!("{sign3}{}.{}", self.below(1 << 31), self.below(1 << 31)),
            ),
            ("b", self.below(8192).to_string()),
            (
                "y",
                ["0", "1901", "2155", "2026"][self.below(4) as usize].to_owned(),
            ),
            (
                "da",
                [
                    "'0000-00-00'",
                    "'2026-02-30'",
                    "'9999-12-31'",
                    "'1000-01-01'",
                ][self.below(4) as usize]
                    .to_owned(),
            ),
            (
                "dt",
                format!(
                    "'20{:02}-10-25 02:30:{:02}'",
                    self.below(100),
                    self.below(60)
                ),
            ),
            (
                "dt6",
                format!(
                    "'2026-01-01 00:00:00' + INTERVAL {} MICROSECOND",
                    self.below(1 << 31)
                ),
            ),
            (
                "dt3",
                format!("'2026-01-01 00:00:00.{:03}'", self.below(1000)),
            ),
            (
                "ts",
                format!("FROM_UNIXTIME({})", 1 + self.below((1 << 31) - 2)),
            ),
            (
                "ts6",
                format!(
                    "FROM_UNIXTIME({}.{:06})",
                    1 + self.below((1 << 31) - 2),
                    self.below(1_000_000)
                ),
            ),
            (
                "ti",
                format!(
                    "'{sign1}{}:{:02}:{:02}'",
                    self.below(838),
                    self.below(60),
                    self.below(60)
                ),
            ),
            (
                "ti1",
                format!(
                    "'{sign2}{}:{:02}:{:02}.{}'",
                    self.below(800),
                    self.below(60),
                    self.below(60),
                    self.below(10)
                ),
            ),
            (
                "ti4",
                format!(
                    "'{sign3}{}:{:02}:{:02}.{:04}'",
                    self.below(800),
                    self.below(60),
                    self.below(60),
                    self.below(10000)
                ),
            ),
            (
                "ti6",
                format!(
                    "'{sign1}00:00:{:02}.{:06}'",
                    self.below(60),
                    self.below(1_000_000)
                ),
            ),
            ("c", format!("'{}'", self.text("abé ", 20))),
            ("c3", format!("'{}'", self.text("xyž€🦀 ", 40))),
            ("bi", hex(self.text("a\0b", 8))),
            ("vb", hex(self.text("\0\u{1}zé", 200))),
            ("tx", format!("'{}'", self.text("aé€🦀", 50))),
            ("lt", format!("'{}'", self.text("lorem ipsum €", 700))),
            ("bl", hex(self.text("\0\u{1}\u{7f}é", 400))),
            (
                "e",
                ["'a'", "'b'", "'c'", "''", "NULL"][self.below(5) as usize].to_owned(),
            ),
            (
                "s",
                ["'p'", "'q,r'", "''", "'p,q,r'", "NULL"][self.below(5) as usize].to_owned(),
            ),
            (
                "js",
                format!(
                    r#"'{{"a": {}, "b": [1, 2.5, "{}", null, true]}}'"#,
                    self.below(1 << 31),
                    self.text("xé", 5)
                ),
            ),
            (
                "g",
                format!(
                    "ST_GeomFromText('POINT({} {})')",
                    self.below(90),
                    self.below(90)
                ),
            ),
        ];
        values.extend(match flavor {
            Flavor::Mysql => vec![
                (
                    "v",
                    format!("TO_VECTOR('[{},1.5,-{}]')", self.below(100), self.below(9)),
                ),
                (
                    "e8",
                    ["'x'", "'y'", "''"][self.below(3) as usize].to_owned(),
                ),
            ],
            Flavor::Mariadb => vec![
                (
                    "u",
                    format!("'00000000-0000-4000-8000-{:012x}'", self.below(1 << 31)),
                ),
                ("i6", format!("'2001:db8::{:x}'", self.below(65536))),
                ("zip", format!("'{}'", self.text("aaaa", 400))),
            ],
        });
        // Some are NULL.
        for (name, value) in &mut values[1..] {
            if *name != "code" && self.below(12) == 0 {
                "NULL".clone_into(value);
            }
        }
        values
    }
}

/// One random change, which may be refused.
fn change(random: &mut Random, connection: &mut Connection, flavor: Flavor) {
    const IDS: u64 = 300;
    let mut run = |sql: String| drop(connection.run(sql));
    let insert = |random: &mut Random, verb: &str, ids: &[u64], end: &str| {
        let rows: Vec<_> = ids.iter().map(|id| (*id, random.row(flavor))).collect();
        let names: Vec<_> = rows[0].1.iter().map(|(name, _)| *name).collect();
        let tuples: Vec<_> = rows
            .iter()
            .map(|(id, row)| {
                let values: Vec<_> = row.iter().map(|(_, value)| value.as_str()).collect();
                format!("({id}, {})", values.join(", "))
            })
            .collect();
        format!(
            "{verb} INTO shop.orders (id, {}) VALUES {}{end}",
            names.join(", "),
            tuples.join(", ")
        )
    };
    let id = random.below(IDS);
    match random.below(10) {
        0..=2 => run(insert(random, "INSERT", &[id], "")),
        3 => {
            let ids = [id, id + 1, id + 2];
            run(insert(random, "REPLACE", &ids, ""));
        }
        4 => run(insert(
            random,
            "INSERT",
            &[id],
            " ON DUPLICATE KEY UPDATE t1 = 5, c = 'upsert'",
        )),
        5 => {
            let row = random.row(flavor);
            let sets: Vec<_> = row
                .iter()
                .skip(1)
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            run(format!(
                "UPDATE shop.orders SET {} WHERE id = {id}",
                sets.join(", ")
            ));
        }
        6 => run(format!(
            "UPDATE shop.orders SET id = id + 1000 WHERE id BETWEEN {id} AND {}",
            id + 2
        )),
        7 => run(format!(
            "UPDATE shop.orders SET id = id - 1000 WHERE id > 1000 AND id < {}",
            1000 + id
        )),
        8 => run(format!(
            "DELETE FROM shop.orders WHERE id BETWEEN {id} AND {}",
            id + random.below(4)
        )),
        _ => {
            run("START TRANSACTION".to_owned());
            run(insert(random, "REPLACE", &[id], ""));
            run("SAVEPOINT a".to_owned());
            run(format!(
                "DELETE FROM shop.orders WHERE id < {}",
                random.below(20)
            ));
            run("ROLLBACK TO SAVEPOINT a".to_owned());
            run(format!(
                "UPDATE shop.orders SET code = CONCAT(code, 'x') WHERE id = {id}"
            ));
            run(if random.below(3) == 0 {
                "ROLLBACK"
            } else {
                "COMMIT"
            }
            .to_owned());
        }
    }
}

/// The table, byte for byte.
fn dump(connection: &mut Connection) -> Vec<Vec<Value>> {
    connection.run("SET SESSION time_zone = '+00:00'").unwrap();
    let rows: Vec<Row> = connection
        .rows("SELECT *, HEX(c), HEX(c3), HEX(tx), e + 0, f + 0e0 FROM shop.orders ORDER BY id")
        .unwrap();
    rows.into_iter().map(Row::unwrap).collect()
}

fn connect(server: &PrivateServer) -> Connection {
    let mut connection = testing::connect(&server.endpoint());
    connection
        .run("SET SESSION sql_mode = 'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'")
        .unwrap();
    connection
}

fn options() -> (Options, TempDir) {
    let work = tempfile::tempdir().unwrap();
    (Options::new(work.path().to_owned()), work)
}

fn orders() -> Vec<TableName> {
    vec![TableName::read("shop.orders", "")]
}

/// The table as of `asked`.
fn flash(server: &PrivateServer, asked: &Asked) -> Vec<Vec<Value>> {
    let (options, _work) = options();
    let source = source(server);
    let prepared = Prepared::new(&source, &orders(), asked, options).unwrap();
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared
        .make(&binary, State::Then, "")
        .unwrap_or_else(|error| panic!("{error}"));
    dump(&mut made.private.connect(Some("shop")).unwrap())
}

fn is_right_under_load(flavor: Flavor) {
    let seeds = std::env::var("WEIR_FLASHBACK_SEEDS").ok();
    let seeds = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(1);
    for seed in 0..seeds {
        is_right_with_seed(flavor, 20_261_124 + seed);
    }
}

/// Each seed has a server of its own; `WEIR_FLASHBACK_SEEDS` asks for more than one.
fn is_right_with_seed(flavor: Flavor, seed: u64) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control.run(definition(flavor)).unwrap();
    let mut random = Random(seed);
    let mut marks = Vec::new();
    for round in 0..4 {
        for _ in 0..80 {
            change(&mut random, &mut control, flavor);
        }
        if round == 1 {
            control.run("FLUSH BINARY LOGS").unwrap();
        }
        // MariaDB's log has whole seconds.
        thread::sleep(Duration::from_millis(1100));
        let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
        marks.push((time.unwrap(), dump(&mut control)));
        thread::sleep(Duration::from_millis(1100));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let load = {
        let (stop, mut connection) = (Arc::clone(&stop), connect(&server));
        thread::spawn(move || {
            let mut random = Random(seed + 1);
            while !stop.load(Ordering::Relaxed) {
                change(&mut random, &mut connection, flavor);
            }
        })
    };
    for (time, expected) in &marks {
        let found = flash(&server, &Asked::read(time));
        assert!(expected.len() > 20, "{}", expected.len());
        assert_eq!(found.len(), expected.len(), "seed {seed}, {time}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found, expected, "seed {seed}, {time}");
        }
    }
    stop.store(true, Ordering::Relaxed);
    load.join().unwrap();
}

/// Whether the plugin that encryption needs is on this machine.
fn has_key_management() -> bool {
    let (server, _directory) = start(Flavor::Mariadb, &[]);
    let plugins: Option<String> = connect(&server).first("SELECT @@plugin_dir").unwrap();
    std::path::Path::new(&plugins.unwrap())
        .join("file_key_management.so")
        .exists()
}

/// Each way in which a log may be written.
fn every_form_of_the_log_says_the_same(flavor: Flavor) {
    let keys = tempfile::tempdir().unwrap();
    let key_file = keys.path().join("keys");
    std::fs::write(&key_file, "1;770A8A65DA156D24EE2A093277530142\n").unwrap();
    let key_option = key_file.display().to_string();
    let forms: Vec<Vec<(&str, &str)>> = match flavor {
        Flavor::Mysql => vec![
            vec![("binlog_checksum", "NONE")],
            vec![("binlog_transaction_compression", "ON")],
            vec![
                ("binlog_transaction_compression", "ON"),
                ("binlog_checksum", "NONE"),
            ],
            vec![
                ("binlog_row_value_options", "PARTIAL_JSON"),
                ("binlog_row_metadata", "FULL"),
            ],
            vec![
                ("gtid_mode", "OFF"),
                ("enforce_gtid_consistency", "OFF"),
                ("binlog_rows_query_log_events", "ON"),
            ],
        ],
        Flavor::Mariadb => vec![
            vec![("binlog_checksum", "NONE")],
            vec![
                ("log_bin_compress", "ON"),
                ("log_bin_compress_min_len", "10"),
            ],
            vec![
                ("log_bin_compress", "ON"),
                ("log_bin_compress_min_len", "10"),
                ("binlog_checksum", "NONE"),
            ],
            vec![
                ("encrypt_binlog", "ON"),
                ("plugin_load_add", "file_key_management"),
                ("file_key_management_filename", &key_option),
            ],
            vec![("binlog_row_metadata", "FULL"), ("binlog_format", "MIXED")],
        ],
    };
    for (number, form) in forms.iter().enumerate() {
        if form.contains(&("encrypt_binlog", "ON")) && !has_key_management() {
            testing::skipped(
                "an encrypted log of MariaDB",
                "its plugin file_key_management is not installed",
            );
            continue;
        }
        let (server, _directory) = start(flavor, form);
        let mut control = connect(&server);
        if form.contains(&("binlog_format", "MIXED")) {
            control.run("SET SESSION binlog_format = 'ROW'").unwrap();
        }
        control.run("CREATE DATABASE shop").unwrap();
        control.run(definition(flavor)).unwrap();
        let mut random = Random(77 + number as u64);
        for _ in 0..60 {
            change(&mut random, &mut control, flavor);
        }
        thread::sleep(Duration::from_millis(1100));
        let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
        let expected = dump(&mut control);
        thread::sleep(Duration::from_millis(1100));
        for _ in 0..60 {
            change(&mut random, &mut control, flavor);
        }
        if flavor == Flavor::Mysql {
            control
                .run("UPDATE shop.orders SET js = JSON_SET(js, '$.a', 7, '$.b[0]', 'x')")
                .unwrap();
        }
        let found = flash(&server, &Asked::read(&time.unwrap()));
        assert!(expected.len() > 10 && expected != dump(&mut control));
        assert_eq!(found, expected, "{form:?}");
    }
}

/// Everything since a time is taken back by the script on a copy of the table as it is: it is the table of then.
fn a_script_makes_the_table_of_then(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control.run(definition(flavor)).unwrap();
    let mut random = Random(4_711);
    for _ in 0..120 {
        change(&mut random, &mut control, flavor);
    }
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    let expected = dump(&mut control);
    thread::sleep(Duration::from_millis(1100));
    for _ in 0..120 {
        change(&mut random, &mut control, flavor);
    }
    let (options, _work) = options();
    let source = source(&server);
    let prepared =
        Prepared::new(&source, &orders(), &Asked::read(&time.unwrap()), options).unwrap();
    let mut undo = Undo::of(Chosen::default());
    let told = prepared
        .changes(&mut |change| undo.take(&prepared.tables[change.table], change))
        .unwrap();
    let script = undo.script(&prepared.tables, "here", "then", &told);
    assert_eq!(script.conflicts, Vec::<String>::new());
    assert!(script.statements.len() > 100, "{}", script.statements.len());
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Now, "").unwrap();
    let mut copy = made.private.connect(Some("shop")).unwrap();
    assert_eq!(dump(&mut copy), dump(&mut control));
    let missed = rehearse(&made.private, &script).unwrap();
    assert_eq!(missed, Vec::<String>::new());
    let found = dump(&mut copy);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

/// A column that was added since is not there then.
fn an_added_column_is_taken_off(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY, c VARCHAR(20))")
        .unwrap();
    control
        .run("INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        .unwrap();
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1100));
    for statement in [
        "UPDATE shop.orders SET c = 'x' WHERE id = 1",
        "ALTER TABLE shop.orders ADD COLUMN note VARCHAR(10) NOT NULL DEFAULT 'n', ADD INDEX c (c)",
        "UPDATE shop.orders SET note = 'y', c = 'z' WHERE id < 3",
        "INSERT INTO shop.orders VALUES (4, 'd', 'e')",
    ] {
        control.run(statement).unwrap();
    }
    let (options, _work) = options();
    let source = source(&server);
    let asked = Asked::read(&time.unwrap());
    let prepared = Prepared::new(&source, &orders(), &asked, options).unwrap();
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Then, "").unwrap();
    let mut connection = made.private.connect(Some("shop")).unwrap();
    let rows: Vec<(i32, String)> = connection.rows("SELECT * FROM orders ORDER BY id").unwrap();
    let expected = [(1, "a"), (2, "b"), (3, "c")].map(|(id, text)| (id, text.to_owned()));
    assert_eq!(rows, expected);
}

/// Keys that a collation takes for the same, swapped keys, and images beyond the memory that they may take.
fn keys_are_told_apart_by_bytes(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id VARCHAR(20) COLLATE utf8mb4_general_ci, n INT NOT NULL, c VARCHAR(50), PRIMARY KEY (id), UNIQUE KEY (n)) CHARSET utf8mb4")
        .unwrap();
    for n in 0..500 {
        control
            .run(format!(
                "INSERT INTO shop.orders VALUES ('Key{n}', {n}, REPEAT('x', 40))"
            ))
            .unwrap();
    }
    let query = "SELECT id, HEX(id), n, c FROM shop.orders ORDER BY id";
    let rows = |connection: &mut Connection| -> Vec<(String, String, i32, String)> {
        connection.rows(query).unwrap()
    };
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    let expected = rows(&mut control);
    thread::sleep(Duration::from_millis(1100));
    for statement in [
        "UPDATE shop.orders SET id = LOWER(id) WHERE n < 100",
        "DELETE FROM shop.orders WHERE id = 'key5'",
        "INSERT INTO shop.orders VALUES ('KEY5', 5, 'new')",
        "UPDATE shop.orders SET n = -1 - n WHERE n < 200",
        "UPDATE shop.orders SET n = n + 101 WHERE n BETWEEN -100 AND -1",
        "UPDATE shop.orders SET c = 'changed' WHERE n > 300",
        "DELETE FROM shop.orders WHERE n > 490",
    ] {
        control.run(statement).unwrap();
    }
    let source = source(&server);
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let asked = Asked::read(&time.unwrap());
    for memory_bytes in [1 << 20, 1000] {
        let (mut options, _work) = options();
        options.memory_bytes = memory_bytes;
        let prepared = Prepared::new(&source, &orders(), &asked, options).unwrap();
        let made = prepared.make(&binary, State::Then, "").unwrap();
        assert_eq!(rows(&mut made.private.connect(None).unwrap()), expected);
        // Conditions that are met now or were then.
        let some = prepared
            .make(&binary, State::Then, " WHERE n BETWEEN 10 AND 20")
            .unwrap();
        let mut connection = some.private.connect(None).unwrap();
        let found: Vec<i32> = connection
            .rows("SELECT n FROM shop.orders WHERE n BETWEEN 10 AND 20 ORDER BY n")
            .unwrap();
        assert_eq!(found, (10..=20).collect::<Vec<_>>());
    }
}

/// Which time the log has of a statement that takes long.
fn a_long_statement_has_the_time_that_the_page_says(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY, c INT)")
        .unwrap();
    control
        .run("INSERT INTO shop.orders VALUES (1, 0)")
        .unwrap();
    thread::sleep(Duration::from_millis(1100));
    let during = {
        let mut other = connect(&server);
        let handle = thread::spawn(move || {
            other
                .run("UPDATE shop.orders SET c = 1 WHERE SLEEP(4) = 0")
                .unwrap();
        });
        thread::sleep(Duration::from_millis(2000));
        let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
        handle.join().unwrap();
        time.unwrap()
    };
    let found = {
        let (options, _work) = options();
        let source = source(&server);
        let prepared = Prepared::new(&source, &orders(), &Asked::read(&during), options).unwrap();
        let binary = find_like(&source, Some(&server.binary().path)).unwrap();
        let made = prepared.make(&binary, State::Then, "").unwrap();
        let found: Option<i32> = made
            .private
            .connect(None)
            .unwrap()
            .first("SELECT c FROM shop.orders")
            .unwrap();
        found.unwrap()
    };
    // MySQL logs when a transaction was committed, MariaDB when its last statement began.
    let expected = match flavor {
        Flavor::Mysql => 0,
        Flavor::Mariadb => 1,
    };
    assert_eq!(found, expected);
}

/// Times of a clock that jumps are one moment each or refused: a zone with an hour that is left out and one that comes
/// twice, made by hand, since servers need no tables of zones.
fn times_of_a_clock_that_jumps_are_refused(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    let seconds: Option<(i64, i64)> = control
        .first("SELECT CAST(UNIX_TIMESTAMP('2026-03-29 01:00:00') AS SIGNED), CAST(UNIX_TIMESTAMP('2026-10-25 01:00:00') AS SIGNED)")
        .unwrap();
    let (spring, autumn) = seconds.unwrap();
    control.run("SET SESSION time_zone = '+00:00'").unwrap();
    for statement in [
        "INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (77, 'N')".to_owned(),
        "INSERT INTO mysql.time_zone_name VALUES ('Test/Jumps', 77)".to_owned(),
        "INSERT INTO mysql.time_zone_transition_type VALUES (77, 0, 3600, 0, 'W'), (77, 1, 7200, 1, 'S')".to_owned(),
        format!("INSERT INTO mysql.time_zone_transition VALUES (77, -2147483648, 0), (77, {spring}, 1), (77, {autumn}, 0)"),
    ] {
        control.run(statement).unwrap();
    }
    control.run("SET GLOBAL time_zone = 'Test/Jumps'").unwrap();
    let source = source(&server);
    let mut reader = source.open().unwrap();
    let mut resolve = |text: &str| Moment::resolve(&Asked::read(text), &mut reader);
    for (text, why) in [
        ("2026-03-29 02:30:00", "never showed"),
        ("2026-10-25 02:30:00", "twice"),
    ] {
        let error = resolve(text).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("offset"), "{error}");
    }
    let us = |seconds: i64| Moment::Time(seconds as u64 * 1_000_000);
    for (text, expected) in [
        ("2026-03-29 01:59:59", us(spring - 1)),
        ("2026-03-29 03:00:00", us(spring)),
        ("2026-10-25 01:59:59", us(autumn - 3_601)),
        ("2026-10-25 03:00:00", us(autumn + 3_600)),
        ("2026-10-25T02:30:00+02:00", us(autumn - 1_800)),
        ("2026-10-25T02:30:00+01:00", us(autumn + 1_800)),
        ("2026-10-25 00:30:00Z", us(autumn - 1_800)),
    ] {
        assert_eq!(resolve(text).unwrap(), expected, "{text}");
    }
}

/// Replicas go on while Weir reads as one of them, and none has its id.
fn real_replicas_are_not_disturbed(flavor: Flavor) {
    let mut servers = testing::start_replicated(flavor, weir_model::Replication::Async, 2);
    let mut control = connect(&servers.primary);
    if flavor == Flavor::Mariadb {
        control.run("SET GLOBAL binlog_format = 'ROW'").unwrap();
        control = connect(&servers.primary);
    }
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY)")
        .unwrap();
    control.run("INSERT INTO shop.orders VALUES (1)").unwrap();
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1100));
    control.run("INSERT INTO shop.orders VALUES (2)").unwrap();
    // Connections that send the log, by the servers' numbers.
    let senders = |control: &mut Connection| -> Vec<u64> {
        let query = "SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%' ORDER BY id";
        control.rows(query).unwrap()
    };
    let before = senders(&mut control);
    assert_eq!(before.len(), 2);
    let (options, _work) = options();
    let source = source(&servers.primary);
    let prepared =
        Prepared::new(&source, &orders(), &Asked::read(&time.unwrap()), options).unwrap();
    for _ in 0..3 {
        let mut inserted = 0;
        prepared
            .changes(&mut |change| {
                inserted += u32::from(change.row.before.is_none());
                Ok(())
            })
            .unwrap();
        assert_eq!(inserted, 1);
    }
    control.run("INSERT INTO shop.orders VALUES (3)").unwrap();
    for replica in &mut servers.replicas {
        let mut connection = connect(replica);
        let mut found = 0;
        for _ in 0..200 {
            let count: Option<i64> = connection
                .first("SELECT COUNT(*) FROM shop.orders")
                .unwrap_or(None);
            found = count.unwrap_or(0);
            if found == 3 {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(found, 3);
    }
    assert_eq!(senders(&mut control)[..2], before[..]);
}

/// What a foreign key deleted in the child is in MySQL's log from 9.6 on.
#[test]
fn rows_that_a_foreign_key_deleted_are_there_then() {
    let (server, _directory) = start(Flavor::Mysql, &[]);
    let version = server.binary().version;
    if (version.major, version.minor) < (9, 6) {
        testing::skipped(
            "logged cascades",
            "the MySQL of this machine is older than 9.6",
        );
        return;
    }
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.parent (id INT PRIMARY KEY)")
        .unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES shop.parent (id) ON DELETE CASCADE ON UPDATE CASCADE)")
        .unwrap();
    control
        .run("INSERT INTO shop.parent VALUES (1), (2), (3)")
        .unwrap();
    control
        .run("INSERT INTO shop.orders VALUES (1, 1), (2, 2), (3, 3)")
        .unwrap();
    let query = "SELECT id, p FROM shop.orders ORDER BY id";
    let expected: Vec<(i32, i32)> = control.rows(query).unwrap();
    thread::sleep(Duration::from_millis(20));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    control.run("DELETE FROM shop.parent WHERE id = 1").unwrap();
    control
        .run("UPDATE shop.parent SET id = 20 WHERE id = 2")
        .unwrap();
    assert_ne!(control.rows::<(i32, i32)>(query).unwrap(), expected);
    let (options, _work) = options();
    let source = source(&server);
    let prepared =
        Prepared::new(&source, &orders(), &Asked::read(&time.unwrap()), options).unwrap();
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Then, "").unwrap();
    let found: Vec<(i32, i32)> = made.private.connect(None).unwrap().rows(query).unwrap();
    assert_eq!(found, expected);
}

on_both_flavors! {
    times_of_a_clock_that_jumps_are_refused
    real_replicas_are_not_disturbed
    is_right_under_load
    every_form_of_the_log_says_the_same
    a_script_makes_the_table_of_then
    an_added_column_is_taken_off
    keys_are_told_apart_by_bytes
    a_long_statement_has_the_time_that_the_page_says
}

//! Random rows of all types, and random changes of them.

use std::fmt::Write as _;

use weir_model::Flavor;
use weir_mysql::Connection;

/// Numbers that a seed decides.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
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

    fn sign(&mut self) -> &'static str {
        if self.below(2) == 0 { "-" } else { "" }
    }

    fn numbers(&mut self) -> Vec<(&'static str, String)> {
        let (sign1, sign2, sign3) = (self.sign(), self.sign(), self.sign());
        vec![
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
        ]
    }

    fn times(&mut self) -> Vec<(&'static str, String)> {
        let (sign1, sign2, sign3) = (self.sign(), self.sign(), self.sign());
        vec![
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
        ]
    }

    fn texts(&mut self) -> Vec<(&'static str, String)> {
        vec![
            (
                "code",
                format!("'{}-{}'", self.text("aAbB é", 6), self.below(1 << 30)),
            ),
            ("c", format!("'{}'", self.text("abé ", 20))),
            ("c3", format!("'{}'", self.text("xyž€🦀 ", 40))),
            ("bi", hex(&self.text("a\0b", 8))),
            ("vb", hex(&self.text("\0\u{1}zé", 200))),
            ("tx", format!("'{}'", self.text("aé€🦀", 50))),
            ("own", format!("'{}'", self.text("aÄ表я ", 30))),
            ("lt", format!("'{}'", self.text("lorem ipsum €", 700))),
            ("bl", hex(&self.text("\0\u{1}\u{7f}é", 400))),
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
        ]
    }

    /// Columns that one flavour has.
    fn own(&mut self, flavor: Flavor) -> Vec<(&'static str, String)> {
        match flavor {
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
        }
    }

    /// The values of a row but for its id; some are NULL.
    fn row(&mut self, flavor: Flavor) -> Vec<(&'static str, String)> {
        let mut values = self.texts();
        values.extend(self.numbers());
        values.extend(self.times());
        values.extend(self.own(flavor));
        for (name, value) in &mut values {
            if *name != "code" && self.below(12) == 0 {
                "NULL".clone_into(value);
            }
        }
        values
    }
}

/// The bytes of a text as SQL writes them.
fn hex(text: &str) -> String {
    let mut hex = String::from("X'");
    for byte in text.bytes() {
        let _ = write!(hex, "{byte:02x}");
    }
    hex + "'"
}

/// One random change of `shop.orders`, which may be refused.
pub(crate) fn change(random: &mut Random, connection: &mut Connection, flavor: Flavor) {
    change_in("shop.orders", random, connection, flavor);
}

/// Rows from a file, which replace those with the same keys or leave them.
fn load(table: &str, random: &mut Random, connection: &mut Connection) {
    let duplicates = ["REPLACE", "IGNORE"][random.below(2) as usize];
    let first = random.below(300);
    let mut lines = String::new();
    for id in first..first + 4 {
        let (text, number) = (random.text("lo€é ", 30), random.below(120));
        let _ = writeln!(lines, "{id}\tload-{number}-{id}\t{text}\t{number}\t\\N");
    }
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'rows' {duplicates} INTO TABLE {table} CHARACTER SET utf8mb4 (id, code, lt, t1, c)"
    );
    connection
        .load(&sql, &mut |piece| {
            piece.extend_from_slice(std::mem::take(&mut lines).as_bytes());
        })
        .unwrap();
}

/// One random change of a table, which may be refused.
pub(crate) fn change_in(
    table: &str,
    random: &mut Random,
    connection: &mut Connection,
    flavor: Flavor,
) {
    const IDS: u64 = 300;
    if random.below(12) == 0 {
        return load(table, random, connection);
    }
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
            "{verb} INTO {table} (id, {}) VALUES {}{end}",
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
                "UPDATE {table} SET {} WHERE id = {id}",
                sets.join(", ")
            ));
        }
        6 => run(format!(
            "UPDATE {table} SET id = id + 1000 WHERE id BETWEEN {id} AND {}",
            id + 2
        )),
        7 => run(format!(
            "UPDATE {table} SET id = id - 1000 WHERE id > 1000 AND id < {}",
            1000 + id
        )),
        8 => run(format!(
            "DELETE FROM {table} WHERE id BETWEEN {id} AND {}",
            id + random.below(4)
        )),
        _ => {
            run("START TRANSACTION".to_owned());
            run(insert(random, "REPLACE", &[id], ""));
            run("SAVEPOINT a".to_owned());
            run(format!(
                "DELETE FROM {table} WHERE id < {}",
                random.below(20)
            ));
            run("ROLLBACK TO SAVEPOINT a".to_owned());
            run(format!(
                "UPDATE {table} SET code = CONCAT(code, 'x') WHERE id = {id}"
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

//! Random statements, each with the sources of difference that it was made with.

use std::collections::BTreeSet;

use weir_model::Flavor;
use weir_testing::Random;

/// A statement.
#[derive(Debug)]
pub(crate) struct RandomStatement {
    pub(crate) sql: String,
    pub(crate) sources: BTreeSet<&'static str>,
    /// It returns rows of tables and names no order for them.
    pub(crate) lacks_order: bool,
}

/// Expressions with another value in the other schema. They are written in upper and in lower case.
const SOURCES: [&str; 35] = [
    "NOW()",
    "NOW(6)",
    "SYSDATE(6)",
    "CURDATE()",
    "CURTIME(3)",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_TIMESTAMP(2)",
    "LOCALTIME",
    "LOCALTIMESTAMP()",
    "UTC_DATE()",
    "UTC_TIME",
    "UTC_TIMESTAMP(6)",
    "UNIX_TIMESTAMP()",
    "RAND()",
    "HEX(RANDOM_BYTES(8))",
    "UUID()",
    "UUID_SHORT()",
    "CONNECTION_ID()",
    "LAST_INSERT_ID()",
    "FOUND_ROWS()",
    "ROW_COUNT()",
    "USER()",
    "CURRENT_USER()",
    "SESSION_USER()",
    "SYSTEM_USER()",
    "DATABASE()",
    "SCHEMA()",
    "@x",
    "@@timestamp",
    "GET_LOCK('held', 0)",
    "RELEASE_LOCK('held')",
    "IS_FREE_LOCK('held')",
    "IS_USED_LOCK('held')",
];
const OF_MARIADB: [&str; 3] = ["SYS_GUID()", "NEXTVAL(numbers)", "(NEXT VALUE FOR numbers)"];

/// Statements whose rows are in no order, or that are about the server.
const WHOLE: [(&str, &str); 12] = [
    ("limit", "SELECT v FROM heap LIMIT 2"),
    ("limit", "DELETE FROM heap LIMIT 2"),
    ("limit", "UPDATE heap SET v = 'x' WHERE k < 9 LIMIT 3"),
    (
        "limit",
        "INSERT INTO w SELECT id + 20, k, v FROM heap LIMIT 2",
    ),
    (
        "limit",
        "SELECT MAX(v) FROM (SELECT v FROM heap LIMIT 2) x ORDER BY 1",
    ),
    ("aggregate", "SELECT GROUP_CONCAT(v) FROM heap ORDER BY 1"),
    ("show", "SHOW GRANTS"),
    ("explain", "EXPLAIN SELECT k FROM t WHERE k = 5 ORDER BY k"),
    (
        "processlist",
        "SELECT id FROM information_schema.processlist WHERE user LIKE 'app%' ORDER BY 1",
    ),
    (
        "nowait",
        "SELECT k FROM locked ORDER BY id FOR UPDATE NOWAIT",
    ),
    (
        "skip locked",
        "SELECT k FROM locked ORDER BY id FOR UPDATE SKIP LOCKED",
    ),
    (
        "window",
        "SELECT MAX(n) FROM (SELECT v, ROW_NUMBER() OVER () AS n FROM heap) x WHERE v = 'v3' ORDER BY 1",
    ),
];
/// Statements that are like them and always have the same outcome, but for the order of rows.
const WHOLE_ALIKE: [(bool, &str); 12] = [
    (true, "SELECT v FROM heap"),
    (true, "SELECT v, k FROM heap WHERE k > 3"),
    (true, "(SELECT v FROM heap) UNION ALL (SELECT v FROM t)"),
    (false, "SELECT v FROM heap ORDER BY v, id LIMIT 2"),
    (false, "DELETE FROM heap ORDER BY id LIMIT 2"),
    (
        false,
        "SELECT GROUP_CONCAT(v ORDER BY v, id) FROM heap ORDER BY 1",
    ),
    (
        false,
        "SELECT id, ROW_NUMBER() OVER (ORDER BY v, id) FROM heap ORDER BY id",
    ),
    (
        false,
        "SELECT EXISTS (SELECT 1 FROM heap LIMIT 1), COUNT(*) OVER () FROM heap ORDER BY 1",
    ),
    (false, "SHOW COLUMNS FROM heap"),
    (
        false,
        "SELECT 'NOW()', \"UUID()\", 5 AS `rand()` -- SYSDATE()",
    ),
    (
        false,
        "SELECT RAND(3), UNIX_TIMESTAMP('2020-01-01') /* CURRENT_USER */",
    ),
    (false, "SELECT t.id AS now, t.k AS uuid FROM t ORDER BY now"),
];

/// Numbers that follow each other from row to row, always in the same order: a source if there are rows.
const SERIES: &str = "RAND(7)";

/// One statement with each source, which has to differ.
pub(crate) fn each_source(flavor: Flavor) -> Vec<RandomStatement> {
    let expressions = expressions(flavor).map(|source| RandomStatement {
        sql: format!("SELECT {source}"),
        sources: BTreeSet::from([source]),
        lacks_order: false,
    });
    // MariaDB sorts the rows of a window without an order.
    let differs = |(source, _): &(&str, &str)| flavor == Flavor::Mysql || *source != "window";
    let whole = WHOLE.into_iter().filter(differs);
    expressions
        .chain(whole.map(RandomStatement::whole))
        .collect()
}

impl RandomStatement {
    fn whole((source, sql): (&'static str, &str)) -> Self {
        Self {
            sql: sql.to_owned(),
            sources: BTreeSet::from([source]),
            lacks_order: sql.starts_with("SELECT") && !sql.contains("ORDER BY"),
        }
    }
}

fn expressions(flavor: Flavor) -> impl Iterator<Item = &'static str> {
    let more: &[_] = if flavor == Flavor::Mariadb {
        &OF_MARIADB
    } else {
        &[]
    };
    SOURCES.iter().chain(more).copied()
}

pub(crate) fn random(random: &mut Random, flavor: Flavor) -> RandomStatement {
    match random.below(6) {
        0 => RandomStatement::whole(WHOLE[random.below(WHOLE.len())]),
        1 => {
            let (lacks_order, sql) = WHOLE_ALIKE[random.below(WHOLE_ALIKE.len())];
            RandomStatement {
                sql: sql.to_owned(),
                sources: BTreeSet::new(),
                lacks_order,
            }
        }
        _ => Expression::new(random, flavor).statement(random),
    }
}

/// An expression in the making.
struct Expression {
    sources: BTreeSet<&'static str>,
    has_series: bool,
    text: String,
}

impl Expression {
    fn new(random: &mut Random, flavor: Flavor) -> Self {
        let all: Vec<_> = expressions(flavor).collect();
        let mut made = Self {
            sources: BTreeSet::new(),
            has_series: false,
            text: String::new(),
        };
        made.text = made.expression(random, &all, 2);
        made
    }

    fn expression(&mut self, random: &mut Random, all: &[&'static str], depth: usize) -> String {
        if depth == 0 || random.once_in(3) {
            return self.leaf(random, all);
        }
        let one = self.expression(random, all, depth - 1);
        if random.once_in(5) {
            return format!("({one})");
        }
        let two = self.expression(random, all, depth - 1);
        match random.below(4) {
            0 => format!("CONCAT({one}, {two})"),
            1 => format!("COALESCE({one} ,{two})"),
            2 => format!("CASE WHEN 1 = 1 THEN {one} ELSE {two} END"),
            _ => format!("CONCAT_WS('-', /* uuid() */ {one},\n\t{two})"),
        }
    }

    fn leaf(&mut self, random: &mut Random, all: &[&'static str]) -> String {
        let alike = [
            "5",
            "'NOW()'",
            "'it''s uuid()'",
            "PI()",
            SERIES,
            "UPPER('a')",
            "NULL",
        ];
        if !random.once_in(3) {
            let text = random.one_of(&alike);
            self.has_series |= text == SERIES;
            return text.to_owned();
        }
        let source = all[random.below(all.len())];
        self.sources.insert(source);
        if random.once_in(2) {
            source.to_ascii_lowercase()
        } else {
            source.to_owned()
        }
    }

    /// A statement with the expression somewhere in it.
    fn statement(mut self, random: &mut Random) -> RandomStatement {
        let forms = [
            "SELECT %",
            "SELECT /*!50000 % */ AS e",
            "SELECT id, % FROM t ORDER BY id",
            "SELECT id FROM t WHERE k < 9 AND CONCAT(%) > v ORDER BY id",
            "SELECT k % 3 AS n, MAX(CONCAT(%)) FROM t GROUP BY n ORDER BY n",
            "SELECT id, (SELECT CONCAT(%)) FROM t ORDER BY id LIMIT 4",
            "WITH c AS (SELECT id, % AS e FROM t) SELECT id, e FROM c ORDER BY id",
            "INSERT INTO w (id, v) VALUES (20, %)",
            "INSERT INTO w (id, k, v) SELECT id + 30, k, % FROM t ORDER BY id",
            "UPDATE w SET v = % WHERE id < 5",
            "DELETE FROM w WHERE CONCAT(%) > v",
            "REPLACE INTO w VALUES (3, 4, %)",
            "INSERT INTO w VALUES (4, 5, 'a') ON DUPLICATE KEY UPDATE v = %",
            "SET @y = %",
            "DO %",
        ];
        let form = random.one_of(&forms).replace("k % 3", "MOD(k, 3)");
        let has_rows = form.contains(" FROM ") || form.starts_with("UPDATE");
        if self.has_series && has_rows {
            self.sources.insert(SERIES);
        }
        RandomStatement {
            sql: form.replace('%', &self.text),
            sources: self.sources,
            lacks_order: false,
        }
    }
}

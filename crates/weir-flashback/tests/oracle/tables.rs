//! Random tables.

use weir_model::Flavor;
use weir_mysql::identifier;
use weir_testing::Random;

use crate::dialect::{DEFAULT_EXPRESSIONS, Dialect, INVISIBLE_COLUMNS};
use crate::kinds::{Class, KINDS, Kind};

/// Numbers of rows lie below this: few, so that the same rows change again and again.
pub(crate) const IDS: usize = 12;

/// A table, as far as statements about it need to know it.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) schema: &'static str,
    pub(crate) name: &'static str,
    /// Columns that take values beside `id`, with their kinds.
    pub(crate) columns: Vec<(String, &'static Kind)>,
    pub(crate) is_partitioned: bool,
    /// The statement that makes it.
    pub(crate) create: String,
}

/// How the rows are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Id,
    IdAndColumn,
    Column,
    UniqueColumn,
    Null,
    None,
}

impl Table {
    pub(crate) fn sql(&self) -> String {
        name_in(self.schema, self.name)
    }

    /// `more`: a column and clauses that the history wants it to have, and whether stored columns may hang on the session.
    pub(crate) fn random(
        schema: &'static str,
        name: &'static str,
        dialect: Dialect,
        random: &mut Random,
        (more, has_session_expressions): (&str, bool),
    ) -> Self {
        let kinds = Kind::all(dialect);
        let stem = random.one_of(&["c", "c", "c", "c", "Se lect\u{e9}`"]);
        let columns: Vec<(String, &Kind)> = (0..2 + random.below(5))
            .map(|at| {
                let kind = &KINDS[kinds[random.below(kinds.len())]];
                (identifier(&format!("{stem}{at}")), kind)
            })
            .collect();
        let in_key = columns.iter().position(|(_, kind)| kind.is_for_key());
        let key = match (random.below(10), in_key) {
            (0, Some(at)) => (Key::IdAndColumn, at),
            (1 | 2, Some(at)) => (Key::Column, at),
            (3, Some(at)) => (Key::UniqueColumn, at),
            (4, Some(at)) => (Key::Null, at),
            (5, _) => (Key::None, 0),
            _ => (Key::Id, 0),
        };
        let has_shape = columns.iter().any(|(_, kind)| kind.is_shape());
        let is_partitioned = key.0 == Key::Id && !has_shape && more.is_empty() && random.once_in(6);
        let mut lines = vec![id(key.0, random).to_owned()];
        for (at, (name, kind)) in columns.iter().enumerate() {
            let is_in_key = key.1 == at && !matches!(key.0, Key::Id | Key::None | Key::Null);
            lines.push(definition(name, kind, is_in_key, (dialect, random)));
        }
        lines.extend(computed(&columns, random));
        if has_session_expressions {
            lines.extend(computed_of_session(&columns, dialect.flavor));
        }
        lines.extend(key_clause(key, &columns, is_partitioned, random));
        if !more.is_empty() {
            lines.push(more.to_owned());
        }
        if random.once_in(10) {
            lines.push(format!("CHECK ({} IS NOT NULL)", columns[0].0));
        }
        let mut create = format!(
            "CREATE TABLE {} ({})",
            name_in(schema, name),
            lines.join(", ")
        );
        if is_partitioned {
            create.push_str(" PARTITION BY HASH (id) PARTITIONS 3");
        } else if random.once_in(12) {
            create.push_str(" ROW_FORMAT=COMPRESSED");
        }
        Self {
            schema,
            name,
            columns,
            is_partitioned,
            create,
        }
    }

    /// The same by another name.
    pub(crate) fn named(&self, schema: &'static str, name: &'static str) -> Self {
        let create = self.create.replacen(&self.sql(), &name_in(schema, name), 1);
        Self {
            schema,
            name,
            create,
            ..self.clone()
        }
    }
}

fn name_in(schema: &str, name: &str) -> String {
    format!("{schema}.{}", identifier(name))
}

fn id(key: Key, random: &mut Random) -> &'static str {
    match key {
        Key::Id => random.one_of(&[
            "id INT PRIMARY KEY",
            "id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY",
            "id SMALLINT PRIMARY KEY",
        ]),
        Key::IdAndColumn => "id INT NOT NULL",
        _ => "id INT",
    }
}

fn definition(
    name: &str,
    kind: &Kind,
    is_in_key: bool,
    (dialect, random): (Dialect, &mut Random),
) -> String {
    // Shapes and vectors that are NOT NULL may hold what no statement can write.
    let may_be_empty = ["GEOMETRY", "POINT", "VECTOR(3)"].contains(&kind.sql);
    let is_null = !is_in_key && (may_be_empty || !random.once_in(4));
    let mut text = format!(
        "{name} {}{}",
        kind.sql,
        if is_null { " NULL" } else { " NOT NULL" }
    );
    if !kind.is_shape() && random.once_in(3) && dialect.has(DEFAULT_EXPRESSIONS) {
        text = format!("{text} DEFAULT ({})", kind.value(random));
    }
    let is_moving = kind.sql.starts_with("TIMESTAMP") || kind.sql.starts_with("DATETIME");
    if is_moving && random.once_in(3) {
        let decimals = kind.sql.split_once('(').map_or("", |(_, rest)| rest);
        let decimals = decimals.trim_end_matches(')');
        text = format!(
            "{text} ON UPDATE CURRENT_TIMESTAMP({})",
            if decimals.is_empty() { "0" } else { decimals }
        );
    }
    if is_null && random.once_in(8) && dialect.has(INVISIBLE_COLUMNS) {
        text.push_str(" INVISIBLE");
    }
    text
}

/// Generated columns.
fn computed(columns: &[(String, &'static Kind)], random: &mut Random) -> Vec<String> {
    // The length of a CHAR hangs on the mode of the session.
    let fits = |kind: &Kind| {
        matches!(kind.class, Class::Bytes | Class::Number)
            && !kind.is_shape()
            && !kind.sql.starts_with("CHAR")
    };
    let fit = columns.iter().find(|(_, kind)| fits(kind));
    let Some((name, _)) = fit.filter(|_| random.once_in(3)) else {
        return Vec::new();
    };
    let how = random.one_of(&["STORED", "VIRTUAL"]);
    vec![format!("g0 INT AS (COALESCE(LENGTH({name}), 0)) {how}")]
}

/// Stored columns whose values hang on the time zone or the mode of the session that wrote them.
fn computed_of_session(columns: &[(String, &'static Kind)], flavor: Flavor) -> Vec<String> {
    let of = |kind: &str| columns.iter().find(|(_, one)| one.sql.starts_with(kind));
    let time =
        of("TIMESTAMP").map(|(name, _)| format!("g1 VARCHAR(40) AS (CAST({name} AS CHAR)) STORED"));
    // MariaDB refuses such an expression.
    let padded = of("CHAR")
        .filter(|_| flavor == Flavor::Mysql)
        .map(|(name, _)| format!("g2 INT AS (LENGTH({name})) STORED"));
    time.into_iter().chain(padded).collect()
}

fn key_clause(
    key: (Key, usize),
    columns: &[(String, &'static Kind)],
    is_partitioned: bool,
    random: &mut Random,
) -> Vec<String> {
    let (name, kind) = &columns[key.1];
    let is_cut = kind.is_long() || (kind.sql.starts_with("VARCHAR") && random.once_in(4));
    let part = if is_cut {
        format!("{name}(4)")
    } else {
        name.clone()
    };
    let mut clauses = match key.0 {
        Key::IdAndColumn => vec![format!("PRIMARY KEY (id, {part})")],
        Key::Column => vec![format!("PRIMARY KEY ({part})")],
        Key::UniqueColumn | Key::Null => vec![format!("UNIQUE KEY u ({part})")],
        Key::Id | Key::None => Vec::new(),
    };
    let other = columns
        .iter()
        .rposition(|(_, kind)| kind.is_for_key() && !kind.is_long());
    if let Some(other) = other.filter(|_| random.once_in(3)) {
        let word = if is_partitioned {
            "KEY"
        } else {
            random.one_of(&["KEY", "UNIQUE KEY"])
        };
        clauses.push(format!("{word} k ({})", columns[other].0));
    }
    clauses
}

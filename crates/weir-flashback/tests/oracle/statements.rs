//! Random statements about a table.

use weir_testing::Random;

use crate::dialect::Dialect;
use crate::kinds::{Class, Kind};
use crate::tables::{IDS, Table};

/// A statement that changes rows.
pub(crate) fn change(table: &Table, random: &mut Random) -> String {
    match random.below(12) {
        0..=3 => insert(table, random),
        4..=7 => update(table, random),
        8 => of_other_rows(table, random),
        _ => {
            let (name, condition) = (table.sql(), condition(table, random));
            format!("DELETE FROM {name} WHERE {condition}{}", limit(random))
        }
    }
}

pub(crate) fn insert(table: &Table, random: &mut Random) -> String {
    let columns: Vec<_> = table
        .columns
        .iter()
        .filter(|_| !random.once_in(5))
        .collect();
    let mut names = vec!["id"];
    names.extend(columns.iter().map(|(name, _)| name.as_str()));
    let rows: Vec<_> = (0..=random.below(3))
        .map(|_| {
            let mut values = vec![random.below(IDS).to_string()];
            values.extend(columns.iter().map(|(_, kind)| value(kind, random)));
            format!("({})", values.join(", "))
        })
        .collect();
    let verb = random.one_of(&["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"]);
    let mut text = format!(
        "{verb} INTO {} ({}) VALUES {}",
        table.sql(),
        names.join(", "),
        rows.join(", ")
    );
    if verb == "INSERT" && random.once_in(3) {
        text = format!(
            "{text} ON DUPLICATE KEY UPDATE {}",
            assignments(table, random)
        );
    }
    text
}

/// A change by what other rows hold.
fn of_other_rows(table: &Table, random: &mut Random) -> String {
    let (name, column, condition) = (
        table.sql(),
        &table.columns[random.below(table.columns.len())].0,
        condition(table, random),
    );
    match random.below(5) {
        0 => format!(
            "INSERT IGNORE INTO {name} (id, {column}) SELECT id + 5, {column} FROM {name} AS o WHERE {condition}"
        ),
        1 => format!(
            "REPLACE INTO {name} (id, {column}) SELECT id, {column} FROM {name} AS o ORDER BY id LIMIT 3"
        ),
        2 => format!(
            "UPDATE {name} AS a JOIN {name} AS b ON a.id = b.id + 1 SET a.{column} = b.{column}, b.id = b.id"
        ),
        3 => format!(
            "DELETE a FROM {name} AS a JOIN {name} AS b ON a.{column} = b.{column} AND a.id < b.id"
        ),
        _ => format!(
            "UPDATE IGNORE {name} SET {column} = (SELECT {column} FROM (SELECT * FROM {name}) AS o ORDER BY id LIMIT 1) WHERE {condition}"
        ),
    }
}

fn update(table: &Table, random: &mut Random) -> String {
    let ignore = if random.once_in(3) { "IGNORE " } else { "" };
    format!(
        "UPDATE {ignore}{} SET {} WHERE {}{}",
        table.sql(),
        assignments(table, random),
        condition(table, random),
        limit(random)
    )
}

fn value(kind: &Kind, random: &mut Random) -> String {
    match random.below(14) {
        0 => "NULL".to_owned(),
        1 if !kind.is_shape() => "DEFAULT".to_owned(),
        _ => kind.value(random),
    }
}

fn assignments(table: &Table, random: &mut Random) -> String {
    let mut all = Vec::new();
    if random.once_in(5) {
        all.push(
            random
                .one_of(&["id = id + 12", "id = id - 12", "id = 3"])
                .to_owned(),
        );
    }
    for _ in 0..=random.below(3) {
        let (name, kind) = &table.columns[random.below(table.columns.len())];
        if all
            .iter()
            .any(|known| known.starts_with(&format!("{name} ")))
        {
            continue;
        }
        let value = match (kind.class, random.below(3)) {
            (Class::Json, 0) => format!(
                "JSON_SET({name}, '$.a', {}, '$.b[1]', 'x')",
                random.below(9)
            ),
            (Class::Json, 1) => format!("JSON_REMOVE({name}, '$.b[0]')"),
            (Class::Bytes, 0) if !kind.is_shape() => format!("CONCAT({name}, 'x')"),
            _ => value(kind, random),
        };
        all.push(format!("{name} = {value}"));
    }
    all.join(", ")
}

pub(crate) fn condition(table: &Table, random: &mut Random) -> String {
    let id = random.below(IDS);
    match random.below(7) {
        0..=2 => format!("id = {id}"),
        3 => format!("id < {id}"),
        4 => format!("id BETWEEN {id} AND {}", id + 2),
        5 => "id > 11".to_owned(),
        _ => {
            let (name, _) = &table.columns[random.below(table.columns.len())];
            format!("{name} IS NULL")
        }
    }
}

fn limit(random: &mut Random) -> &'static str {
    random.one_of(&["", "", "", " LIMIT 1", " ORDER BY id DESC LIMIT 2"])
}

/// A statement that changes the definition, or does what the log has only as a statement.
pub(crate) fn definition_change(table: &Table, dialect: Dialect, random: &mut Random) -> String {
    let name = table.sql();
    let kinds = Kind::all(dialect);
    let kind = &crate::kinds::KINDS[kinds[random.below(kinds.len())]];
    let (column, own) = &table.columns[random.below(table.columns.len())];
    let own = own.sql;
    if table.is_partitioned && random.once_in(3) {
        return random
            .one_of(&[
                &*format!("ALTER TABLE {name} TRUNCATE PARTITION p1"),
                &*format!("ALTER TABLE {name} COALESCE PARTITION 1"),
                &*format!("ALTER TABLE {name} ADD PARTITION PARTITIONS 1"),
                &*format!("ALTER TABLE {name} REMOVE PARTITIONING"),
            ])
            .to_owned();
    }
    match random.below(18) {
        0..=2 => format!(
            "ALTER TABLE {name} ADD COLUMN n{} {} NULL",
            random.below(3),
            kind.sql
        ),
        3 => format!(
            "ALTER TABLE {name} ADD COLUMN n{} INT NOT NULL DEFAULT 7, ALGORITHM=INSTANT",
            random.below(3)
        ),
        4 => format!("ALTER TABLE {name} ADD COLUMN n0 INT FIRST"),
        5 => format!("ALTER TABLE {name} ADD COLUMN n1 VARCHAR(5) AFTER {column}"),
        6 => format!("ALTER TABLE {name} DROP COLUMN {column}, ALGORITHM=INSTANT"),
        7 => format!("ALTER TABLE {name} RENAME COLUMN {column} TO r0"),
        8 => format!("ALTER TABLE {name} MODIFY {column} {}", kind.sql),
        9 => format!("ALTER TABLE {name} ADD INDEX i{} (id)", random.below(9)),
        10 => format!("ALTER TABLE {name} ENGINE=InnoDB"),
        11 => format!(
            "ALTER TABLE {name} COMMENT 'x', ALTER COLUMN {column} SET DEFAULT ({})",
            kind.value(random)
        ),
        12 => format!("TRUNCATE TABLE {name}"),
        13 => format!("OPTIMIZE TABLE {name}"),
        14 => format!("DROP TABLE {name}"),
        15 => format!("RENAME TABLE {name} TO lab.away, lab.away TO {name}"),
        16 => format!("ALTER TABLE {name} MODIFY {column} {own} NULL"),
        _ => format!("ALTER TABLE {name} ADD COLUMN (n2 INT, n0 VARCHAR(9))"),
    }
}

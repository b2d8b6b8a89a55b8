//! Trees that both servers built, read from their files: all leaves, in the order of the keys, with the rows that
//! the server counts in each leaf's range.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeSet;
use std::path::Path;

use weir_innodb::{
    BTree, FieldLength, IndexPage, IndexRoot, KeyField, KeyFormat, Layout, Page, Tablespace,
};
use weir_model::Flavor;
use weir_mysql::Connection;
use weir_server::{PrivateServer, initialise};

const fn fixed(length: usize) -> KeyField {
    KeyField {
        length: FieldLength::Fixed(length),
        is_nullable: false,
    }
}

const fn variable(max: usize, is_nullable: bool) -> KeyField {
    KeyField {
        length: FieldLength::Variable { max },
        is_nullable,
    }
}

fn format(fields: &[KeyField], nullable: usize, is_ordered: bool) -> KeyFormat {
    KeyFormat {
        fields: fields.to_vec(),
        nullable,
        is_ordered,
    }
}

/// Rows in an order that splits leaves anywhere: a generator of the full period of 2^16, begun at `seed`.
fn scattered(seed: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(seed & 0xffff), |at| {
        Some((at * 25_173 + 13_849) & 0xffff)
    })
}

/// Three tables with keys of numbers, of text, and of several columns.
fn fill(connection: &mut Connection, seed: u32) {
    for table in [
        "numbers (id INT PRIMARY KEY, filler CHAR(200))",
        "words (name VARCHAR(300) COLLATE utf8mb4_bin PRIMARY KEY, n INT NULL, v VARCHAR(90) NULL, KEY by_v (v, n))",
        "pairs (a DECIMAL(10,2), b DATETIME(3), filler CHAR(200) NULL, PRIMARY KEY (a, b))",
    ] {
        connection.run(format!("CREATE TABLE {table}")).unwrap();
    }
    let rows: Vec<_> = scattered(seed).take(6_000).collect();
    for rows in rows.chunks(500) {
        let insert = |table: &str, row: &dyn Fn(u32) -> String| {
            let values: Vec<_> = rows.iter().map(|row_number| row(*row_number)).collect();
            format!("INSERT INTO {table} VALUES {}", values.join(","))
        };
        let numbers = |row: u32| format!("({}, 'x')", i64::from(row) - 30_000);
        let words = |row: u32| {
            let length = row % 280;
            let v = if row.is_multiple_of(7) {
                "NULL".to_owned()
            } else {
                format!("'{}'", row % 97)
            };
            format!("(CONCAT('{row}', REPEAT('ä', {length} / 2)), {row} % 5, {v})")
        };
        let pairs = |row: u32| {
            let days = row % 3_000;
            format!(
                "({}.25, '2020-01-01' + INTERVAL {days} DAY, 'x')",
                i64::from(row % 300) - 150
            )
        };
        for statement in [
            insert("numbers", &numbers),
            insert("words", &words),
            insert("pairs", &pairs).replacen("INSERT", "INSERT IGNORE", 1),
        ] {
            connection.run(statement).unwrap();
        }
    }
}

/// Name of an index, the number of its root page, its own number.
fn roots(connection: &mut Connection, flavor: Flavor, table: &str) -> Vec<(String, IndexRoot)> {
    let prefix = match flavor {
        Flavor::Mysql => "INNODB_",
        Flavor::Mariadb => "INNODB_SYS_",
    };
    let query = format!(
        "SELECT i.NAME, i.PAGE_NO, i.INDEX_ID FROM information_schema.{prefix}INDEXES i \
         JOIN information_schema.{prefix}TABLES t ON t.TABLE_ID = i.TABLE_ID WHERE t.NAME = 'sbtest/{table}'"
    );
    let rows: Vec<(String, u32, u64)> = connection.rows(query).unwrap();
    let roots = rows
        .into_iter()
        .map(|(name, page, id)| (name, IndexRoot { page, id }));
    roots.collect()
}

/// What each leaf of `tree` says of itself: its records and the page to its right.
fn leaves(path: &Path, tree: &BTree, root: &IndexRoot) -> Vec<(u32, Option<u32>)> {
    let bytes = std::fs::read(path).unwrap();
    let layout = Layout::parse(&bytes).unwrap();
    let nodes = tree.levels[0].nodes().iter();
    let leaves = nodes.map(|node| {
        let at = node.page as usize * layout.page_size;
        let page = Page::new(&bytes[at..at + layout.page_size], layout);
        let leaf = IndexPage::new(page, node.page).unwrap();
        assert_eq!((leaf.level(), leaf.index_id()), (0, root.id));
        let listed = leaf.record_list().unwrap().len();
        assert_eq!(listed, usize::from(leaf.records()));
        (u32::from(leaf.records()), leaf.next())
    });
    leaves.collect()
}

/// A signed number as InnoDB stores it.
fn number(key: &[u8]) -> i64 {
    let stored = u32::from_be_bytes(key.try_into().unwrap());
    i64::from((stored ^ 1 << 31).cast_signed())
}

/// The server counts the rows of each leaf's range.
fn assert_ranges_have_their_rows(
    connection: &mut Connection,
    tree: &BTree,
    leaves: &[(u32, Option<u32>)],
) {
    let nodes = tree.levels[0].nodes();
    for (position, (records, _)) in leaves.iter().enumerate() {
        let low = match &nodes[position].low[..] {
            [] => i64::MIN,
            key => number(key),
        };
        let high = nodes.get(position + 1).map(|next| number(&next.low));
        let high = high.unwrap_or(i64::from(i32::MAX) + 1);
        let query = format!("SELECT COUNT(*) FROM numbers WHERE id >= {low} AND id < {high}");
        let rows: Option<u32> = connection.first(query).unwrap();
        assert_eq!(rows, Some(*records), "{low} to {high}");
    }
}

fn trees_are_read_as_the_server_built_them(flavor: Flavor) {
    let directory = tempfile::tempdir().unwrap();
    let binary = weir_testing::binary(flavor);
    let options = weir_testing::options(directory.path());
    initialise(&binary, &options.data_dir, &options.variables).unwrap();
    let server = PrivateServer::start(&binary, &options).unwrap();
    let mut connection = weir_testing::connect(&server.endpoint());
    let seed = std::process::id();
    println!("seed {seed}");
    fill(&mut connection, seed);
    let tables = [
        ("numbers", "PRIMARY", format(&[fixed(4)], 1, true)),
        (
            "words",
            "PRIMARY",
            format(&[variable(1200, false)], 2, true),
        ),
        (
            "words",
            "by_v",
            format(
                &[
                    variable(360, true),
                    KeyField {
                        is_nullable: true,
                        ..fixed(4)
                    },
                    variable(1200, false),
                ],
                2,
                // Not by its bytes: `v` has a collation.
                false,
            ),
        ),
        ("pairs", "PRIMARY", format(&[fixed(5), fixed(7)], 1, true)),
    ];
    let found: Vec<_> = tables
        .iter()
        .map(|(table, index, _)| {
            let all = roots(&mut connection, flavor, table);
            let (_, root) = all.into_iter().find(|(name, _)| name == index).unwrap();
            let count: Option<u32> = connection
                .first(format!("SELECT COUNT(*) FROM {table}"))
                .unwrap();
            (root, count.unwrap())
        })
        .collect();
    drop(connection);
    server.stop(std::time::Duration::from_mins(1)).unwrap();
    let server = PrivateServer::start(&binary, &options).unwrap();
    let mut connection = weir_testing::connect(&server.endpoint());
    for ((table, index, format), (root, rows)) in tables.iter().zip(found) {
        let path = options.data_dir.join(format!("sbtest/{table}.ibd"));
        let tree = Tablespace::open(&path)
            .unwrap()
            .tree(&root, format)
            .unwrap();
        assert_eq!(tree.unknown, 0, "{table} {index}");
        assert!(tree.levels.len() >= 2, "{table} {index}: {tree:?}");
        let leaves = leaves(&path, &tree, &root);
        assert!(leaves.len() > 20, "{table} {index}");
        // The chain of the leaves has all of them, in the same order.
        let next = tree.levels[0].nodes().iter().skip(1);
        let next: Vec<_> = next.map(|node| Some(node.page)).chain([None]).collect();
        let chain: Vec<_> = leaves.iter().map(|(_, next)| *next).collect();
        assert_eq!(chain, next, "{table} {index}");
        assert_eq!(leaves.iter().map(|(records, _)| records).sum::<u32>(), rows);
        let distinct: BTreeSet<_> = tree.levels[0]
            .nodes()
            .iter()
            .map(|node| node.page)
            .collect();
        assert_eq!(distinct.len(), leaves.len());
        if *table == "numbers" {
            assert_ranges_have_their_rows(&mut connection, &tree, &leaves);
        }
        // Another index, a wrong format, a root that is none.
        let opened = Tablespace::open(&path).unwrap();
        let other = IndexRoot {
            id: 1 << 40,
            ..root
        };
        assert_eq!(opened.tree(&other, format).unwrap().unknown, 1);
        let beyond = IndexRoot {
            page: 1 << 30,
            ..root
        };
        assert_eq!(opened.tree(&beyond, format).unwrap().unknown, 1);
        let wrong = self::format(&[fixed(60)], 0, true);
        assert!(opened.tree(&root, &wrong).unwrap().unknown > 0);
    }
}

#[test]
fn trees_of_mysql_are_read() {
    trees_are_read_as_the_server_built_them(Flavor::Mysql);
}

#[test]
fn trees_of_mariadb_are_read() {
    trees_are_read_as_the_server_built_them(Flavor::Mariadb);
}

//! The table as a page of the documents.

use std::fmt::Write as _;

use weir_model::{Flavor, ServerVersion};

use super::{Facts, Operation};

/// The servers whose columns the page has: tests check each of its rows on them.
const SERVERS: [(Flavor, &str, &str); 2] = [
    (Flavor::Mysql, "9.7.4", "MySQL 9.7"),
    (Flavor::Mariadb, "10.11.19", "MariaDB 10.11"),
];

const HEAD: &str = "\
# What each ALTER TABLE does

The fastest `ALGORITHM`, the weakest `LOCK`, and the work of InnoDB, by `weir facts ddl` on empty tables. Tests run each
row on both servers. Generated from [`statements.toml`](../crates/weir-server/src/ddl/facts/statements.toml), which also has
the table that each statement alters.

- `metadata`: only the definition changes.
- `index`: InnoDB reads the table and builds indexes.
- `rebuild`: InnoDB or the server writes the table anew, with all its indexes.
- A dash: the statement takes no algorithm or lock, or the server has no such statement.

";

/// The page, in Markdown.
pub(super) fn as_markdown(facts: &Facts) -> String {
    let mut page = HEAD.to_owned();
    let names = SERVERS.map(|(_, _, name)| name);
    let _ = writeln!(
        page,
        "| operation | `ALTER TABLE t` | {} |",
        names.join(" | ")
    );
    page.push_str("|---|---|---|---|\n");
    for operation in &facts.operations {
        let cells = SERVERS.map(|(flavor, version, _)| cell(operation, flavor, version));
        let (name, alter) = (&operation.name, &operation.alter);
        let _ = writeln!(page, "| {name} | `{alter}` | {} |", cells.join(" | "));
    }
    page
}

fn cell(operation: &Operation, flavor: Flavor, version: &str) -> String {
    let version: Option<ServerVersion> = version.parse().ok();
    let expected = version.and_then(|version| operation.expected(flavor, version));
    expected.map_or_else(|| "-".to_owned(), ToString::to_string)
}

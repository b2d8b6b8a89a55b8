//! `docs/result-columns.md`, from the tables of a file that was written.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rusqlite::Connection;

const HEAD: &str = "\
# Columns of a result

All columns of `result.sqlite`, for queries of your own. [A result](result.md) explains the tables, and has
queries to begin with. Units stand in the names: `_s` seconds, `_us` microseconds. Times count from the
beginning of the measurement.

This page is generated from the file's tables; do not edit it.
";

/// The page on the tables of `file`.
pub(crate) fn page(file: &Path) -> String {
    let connection = Connection::open(file).unwrap();
    let query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid";
    let mut statement = connection.prepare(query).unwrap();
    let tables = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let tables: Vec<(String, String)> = tables.unwrap().map(Result::unwrap).collect();
    let mut text = HEAD.to_owned();
    for (table, sql) in tables {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "\n## `{table}`\n\n| column | type | meaning |\n|---|---|---|"
        );
        let query = format!("SELECT name, type FROM pragma_table_info('{table}')");
        let mut statement = connection.prepare(&query).unwrap();
        let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        for column in columns.unwrap() {
            let (name, kind): (String, String) = column.unwrap();
            let meaning = comment(&sql, &name).replace('|', "or");
            let _ = writeln!(text, "| `{name}` | {} | {meaning} |", kind.to_lowercase());
        }
    }
    text
}

/// The comment behind a column in the statement that made its table, which the file keeps.
fn comment<'a>(sql: &'a str, column: &str) -> &'a str {
    let mut lines = sql.lines();
    let line = lines.find(|line| line.split_whitespace().next() == Some(column));
    let comment = line.and_then(|line| line.split_once("-- "));
    comment.map_or("", |(_, comment)| comment)
}

/// Asserts that the page is the one of `file`; writes it where fixtures are to be updated.
pub(crate) fn assert_page(file: &Path) {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/result-columns.md");
    let page = page(file);
    if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
        fs::write(&document, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&document).unwrap_or_default() == page,
        "docs/result-columns.md is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo nextest run -p weir-store the_document`"
    );
}

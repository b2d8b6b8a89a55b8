//! Indexes that are redundant by their columns, or that no statement has used since the server started.
//!
//! Method: MySQL manual, "The sys Schema": `schema_redundant_indexes`, `schema_unused_indexes`; MariaDB Knowledge Base,
//! "User Statistics".

use std::collections::BTreeSet;
use std::fmt::Write as _;

use weir_model::Flavor;

use super::evidence::Evidence;
use super::finding::{CounterValue, Finding, Unit, Weight};
use super::reader::Reader;
use super::redundant::{Index, redundant};
use crate::ServerError;

const OTHERS: &str = "('mysql', 'information_schema', 'performance_schema', 'sys')";
/// Servers are not asked about the indexes of more tables: it takes seconds. Before `MySQL` 8.0, and on `MariaDB`, they
/// open each table for it.
const TABLES_MAX: u64 = 10_000;
const OPENED_TABLES_MAX: u64 = 2_000;
/// Findings of a kind that are listed.
const LISTED_MAX: usize = 3;
/// Time after which an index that was never used says something, seconds.
const UPTIME_MIN_S: f64 = 86_400.0;

const STATISTICS: &str = "information_schema.STATISTICS";
const USAGE: &str = "performance_schema.table_io_waits_summary_by_index_usage";
const USERSTAT: &str = "information_schema.INDEX_STATISTICS";

type Row = (
    String,
    String,
    i64,
    String,
    Option<String>,
    Option<u64>,
    Option<String>,
);

/// Reads the indexes of all schemas, and judges them.
pub(super) fn look(
    reader: &mut Reader,
    evidence: &Evidence,
    has_schema: bool,
) -> Result<Vec<Finding>, ServerError> {
    let Some(indexes) = read(reader)? else {
        return Ok(Vec::new());
    };
    if !reader.is_granted("SELECT") {
        reader.note(
            "indexes",
            "only those of tables that the account may read are seen",
            "GRANT SELECT ON the schemas TO the account",
        );
    }
    let mut findings = redundant_findings(&indexes);
    if let Some((used, source)) = used(reader, evidence, has_schema)? {
        findings.extend(unused(
            &indexes,
            &used,
            source,
            evidence.last("Uptime").unwrap_or(0.0),
        ));
    }
    Ok(findings)
}

fn read(reader: &mut Reader) -> Result<Option<Vec<Index>>, ServerError> {
    let count = format!(
        "SELECT COUNT(*) FROM information_schema.TABLES weir_look WHERE TABLE_SCHEMA NOT IN {OTHERS}"
    );
    let tables: Vec<(u64,)> = reader.rows(&count)?;
    let tables = tables.first().map_or(0, |(tables,)| *tables);
    let has_dictionary = reader.is_mysql_from((8, 0, 3));
    if tables
        > if has_dictionary {
            TABLES_MAX
        } else {
            OPENED_TABLES_MAX
        }
    {
        reader.note(
            "indexes",
            format!("{tables} tables, whose indexes take the server long to list"),
            "SELECT * FROM sys.schema_redundant_indexes, at a quiet time",
        );
        return Ok(None);
    }
    let expression = if reader.is_mysql_from((8, 0, 13)) {
        "EXPRESSION"
    } else {
        "NULL"
    };
    let query = format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), INDEX_NAME, NON_UNIQUE, INDEX_TYPE, COLUMN_NAME, SUB_PART, \
         {expression} FROM {STATISTICS} weir_look WHERE TABLE_SCHEMA NOT IN {OTHERS} \
         ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
    );
    let rows: Vec<Row> = reader.rows(&query)?;
    Ok(Some(indexes(rows)))
}

fn indexes(rows: Vec<Row>) -> Vec<Index> {
    let mut indexes: Vec<Index> = Vec::new();
    for (table, name, non_unique, kind, column, part, expression) in rows {
        let column = column.or(expression).unwrap_or_default();
        match indexes.last_mut() {
            Some(last) if last.table == table && last.name == name => {
                last.columns.push((column, part));
            }
            _ => indexes.push(Index {
                table,
                name,
                is_unique: non_unique == 0,
                kind,
                columns: vec![(column, part)],
            }),
        }
    }
    indexes
}

fn redundant_findings(indexes: &[Index]) -> Vec<Finding> {
    let found = redundant(indexes);
    let sentence = |(index, by): &(&Index, &str)| {
        format!(
            "{} ({}) of {}: {by} begins with its columns",
            index.name,
            columns(index),
            index.table
        )
    };
    listed("redundant index", &found, sentence, STATISTICS)
}

fn columns(index: &Index) -> String {
    let names: Vec<_> = index
        .columns
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    names.join(", ")
}

/// The first of many, and how many more there are.
fn listed<T>(
    name: &str,
    found: &[T],
    sentence: impl Fn(&T) -> String,
    source: &str,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = found
        .iter()
        .take(LISTED_MAX)
        .map(|one| Finding::new(name, Weight::Fact, sentence(one), Vec::new(), source))
        .collect();
    if let (Some(last), more @ 1..) = (findings.last_mut(), found.len().saturating_sub(LISTED_MAX))
    {
        let _ = write!(last.text, "; and {more} more");
    }
    findings
}

/// `SCHEMA.TABLE` and index.
type Names = BTreeSet<(String, String)>;

/// Indexes that were used since the server started, and the table that says so; `None` where none does, which is noted.
fn used(
    reader: &mut Reader,
    evidence: &Evidence,
    has_schema: bool,
) -> Result<Option<(Names, &'static str)>, ServerError> {
    let what = "unused indexes";
    let (source, query) = if has_schema {
        let query = format!(
            "SELECT CONCAT(OBJECT_SCHEMA, '.', OBJECT_NAME), INDEX_NAME FROM {USAGE} weir_look \
             WHERE INDEX_NAME IS NOT NULL AND COUNT_STAR > 0"
        );
        (USAGE, query)
    } else if reader.flavor == Flavor::Mariadb && evidence.is_on("userstat") {
        let query = format!(
            "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), INDEX_NAME FROM {USERSTAT} weir_look WHERE ROWS_READ > 0"
        );
        (USERSTAT, query)
    } else {
        let remedy = match reader.flavor {
            Flavor::Mariadb => {
                "SET GLOBAL userstat = ON (it costs a little), or performance_schema = ON and a restart"
            }
            Flavor::Mysql => "performance_schema = ON in the option file, and a restart",
        };
        reader.note(
            what,
            "the server does not count the uses of indexes",
            remedy,
        );
        return Ok(None);
    };
    let answer = reader.rows::<(String, String)>(&query);
    let grant = "GRANT SELECT ON performance_schema.* (MariaDB's userstat: PROCESS) TO the account";
    let used = reader.if_permitted(what, grant, answer)?;
    Ok(used.map(|used| (used.into_iter().collect(), source)))
}

/// Indexes that no statement has used, of tables that were used.
fn unused(indexes: &[Index], used: &Names, source: &str, uptime_s: f64) -> Vec<Finding> {
    let tables: BTreeSet<&str> = used.iter().map(|(table, _)| table.as_str()).collect();
    let covering: BTreeSet<(&str, &str)> = redundant(indexes)
        .into_iter()
        .map(|(index, by)| (index.table.as_str(), by))
        .collect();
    let found: Vec<&Index> = indexes
        .iter()
        .filter(|index| {
            let name = (index.table.clone(), index.name.clone());
            // Drop one of two, not both.
            let covers = covering.contains(&(index.table.as_str(), index.name.as_str()));
            tables.contains(index.table.as_str())
                && !index.is_unique
                && !used.contains(&name)
                && !covers
        })
        .collect();
    let doubt = if uptime_s < UPTIME_MIN_S {
        "; too short to drop it"
    } else {
        ""
    };
    let sentence = |index: &&Index| {
        format!(
            "{} ({}) of {}: no use since the start{doubt}",
            index.name,
            columns(index),
            index.table
        )
    };
    let mut findings = listed("unused index", &found, sentence, source);
    for finding in &mut findings {
        finding.readings = vec![CounterValue::new("Uptime", uptime_s, Unit::Seconds)];
    }
    findings
}

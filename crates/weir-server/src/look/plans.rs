//! Plans of the heavy statements: a large table that is read whole, though the statement filters its rows.
//!
//! Only queries are explained: the plan of a change would lock its tables, so that of the query with its filter stands for
//! it. A sample that calls a stored function, locks rows or is cut is left out; the gate refuses it as well.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use weir_model::{Endpoint, Flavor};
use weir_mysql::{identifier, text_literal};

use super::digests::DigestUse;
use super::filter_columns::filter_columns;
use super::reader::Reader;
use super::runnable::{as_query, runnable, statement};
use super::sightings::Sightings;
use crate::{ServerError, Session};

/// Smaller tables are read whole at little cost, rows.
const ROWS_MIN: f64 = 5_000.0;
/// Statements that are explained at most.
const PLANS_MAX: usize = 10;
/// A statement with a smaller part of the time is not worth an index.
const SHARE_MIN: f64 = 0.02;
/// Length of the indexed part of a long text.
const PREFIX_CHARACTERS: u32 = 64;
const PATIENCE: Duration = Duration::from_secs(5);

/// A table that a heavy statement reads whole to find some of its rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct MissingIndex {
    /// Schema of the table.
    pub schema: String,
    /// The table.
    pub table: String,
    /// Columns of the filter, those that are compared for equality first; empty if they could not be read.
    pub columns: Vec<String>,
    /// The same as parts of an index: with the length of a long column's prefix, without columns that take none.
    #[serde(skip)]
    pub key_parts: Vec<String>,
    /// Rows that the server expects to read.
    pub rows: f64,
    /// Form of the statement.
    pub text: String,
    /// The statement's part of the time.
    pub share: f64,
}

impl MissingIndex {
    /// Statement that adds the index; `None` if its columns are not known.
    pub fn statement(&self) -> Option<String> {
        (!self.key_parts.is_empty()).then(|| {
            format!(
                "ALTER TABLE {}.{} ADD INDEX ({})",
                identifier(&self.schema),
                identifier(&self.table),
                self.key_parts.join(", ")
            )
        })
    }
}

/// Plans of the heavy statements.
pub(super) fn look(
    reader: &mut Reader,
    digests: &[DigestUse],
    sightings: Option<&Sightings>,
) -> Result<Vec<MissingIndex>, ServerError> {
    let mut missing = Vec::new();
    let (mut plans, mut unsampled) = (0, 0);
    for digest in digests.iter().filter(|digest| digest.share >= SHARE_MIN) {
        if !may_lack_index(digest) || plans == PLANS_MAX {
            continue;
        }
        let Some(sample) = sample(reader, digest, sightings)? else {
            unsampled += 1;
            continue;
        };
        plans += 1;
        let Some(query) = as_query(&runnable(&sample)) else {
            continue;
        };
        let Some(rows) = explain(reader, &digest.schema, &query) else {
            continue;
        };
        for row in rows.iter().filter(|row| is_scan_with_filter(row)) {
            missing.extend(missing_index(reader, digest, &query, row)?);
        }
    }
    if unsampled > 0 {
        reader.note(
            "plans",
            format!("the server keeps no example of {unsampled} statements that use no index"),
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_statements_history_long'",
        );
    }
    Ok(missing)
}

/// Returns false for a statement that has no filter, or of which the server counts that it always uses an index. It counts
/// that of queries alone (observed on MySQL 9.7).
fn may_lack_index(digest: &DigestUse) -> bool {
    let text = statement(&digest.text);
    as_query(text).is_some_and(|query| query != text || digest.no_index != Some(0.0))
}

/// A statement of a digest: the server's own sample, or one of those that it remembers.
fn sample(
    reader: &mut Reader,
    digest: &DigestUse,
    sightings: Option<&Sightings>,
) -> Result<Option<String>, ServerError> {
    let seen = sightings.and_then(|seen| seen.sample(&digest.schema, &digest.text));
    let sample = digest.sample.clone().or(seen);
    if sample.is_some() {
        return Ok(sample);
    }
    for table in [
        "events_statements_history_long",
        "events_statements_history",
    ] {
        let query = format!(
            "SELECT SQL_TEXT FROM performance_schema.{table} weir_look WHERE DIGEST = {} AND SQL_TEXT IS NOT NULL \
             AND SQL_TEXT NOT LIKE '%...' LIMIT 1",
            text_literal(&digest.digest)
        );
        let texts: Vec<(Vec<u8>,)> = reader.rows(&query)?;
        if let Some((text,)) = texts.first() {
            return Ok(Some(String::from_utf8_lossy(text).into_owned()));
        }
    }
    Ok(None)
}

type PlanRow = BTreeMap<String, String>;

/// The plan in rows; `None` if the gate or the server refuses, as of a table that is gone.
fn explain(reader: &mut Reader, schema: &str, query: &str) -> Option<Vec<PlanRow>> {
    let endpoint = Endpoint {
        database: schema.to_owned(),
        ..reader.endpoint.clone()
    };
    let opened = if schema.is_empty() {
        Session::open_patient(&endpoint, &reader.gate, PATIENCE)
    } else {
        Session::open_in_schema(&endpoint, &reader.gate, PATIENCE)
    };
    let format = match reader.flavor {
        Flavor::Mysql => "FORMAT=TRADITIONAL ",
        Flavor::Mariadb => "",
    };
    reader.statements += 1;
    let statement = format!("EXPLAIN {format}{query}");
    let plan = opened.and_then(|mut session| session.named_rows("look at a plan", &statement));
    // It has a connection of its own, so nothing that happens to it ends the look.
    let plan = plan.map_err(|error| {
        let why = match &error {
            ServerError::Query { source, .. } => source.words(),
            other => other.to_string(),
        };
        let remedy = "GRANT SELECT on the tables of the statement, or explain it yourself";
        reader.note("the plan of a heavy statement", why, remedy);
    });
    plan.ok()
}

fn is_scan_with_filter(row: &PlanRow) -> bool {
    let has = |name: &str, value: &str| row.get(name).is_some_and(|found| found.contains(value));
    let rows: f64 = row
        .get("rows")
        .and_then(|rows| rows.parse().ok())
        .unwrap_or_default();
    has("type", "ALL") && has("Extra", "Using where") && rows >= ROWS_MIN
}

/// The table of a row of a plan, by the name that the statement has for it.
fn missing_index(
    reader: &mut Reader,
    digest: &DigestUse,
    query: &str,
    row: &PlanRow,
) -> Result<Option<MissingIndex>, ServerError> {
    let alias = row.get("table").cloned().unwrap_or_default();
    let Some(filter) = filter_columns(query, &alias) else {
        return Ok(None);
    };
    let schema = filter
        .schema
        .clone()
        .unwrap_or_else(|| digest.schema.clone());
    let catalog = format!(
        "SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS weir_look WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
        text_literal(&schema),
        text_literal(&filter.table)
    );
    let known: Vec<(String, String)> = reader.rows(&catalog)?;
    let of_table = |column: &String| {
        let mut known = known.iter();
        known.find(|(known, _)| known.eq_ignore_ascii_case(column))
    };
    let columns: Vec<_> = filter.columns.iter().filter_map(of_table).collect();
    Ok(Some(MissingIndex {
        schema,
        table: filter.table,
        columns: columns.iter().map(|(name, _)| name.clone()).collect(),
        key_parts: columns.into_iter().filter_map(key_part).collect(),
        rows: row
            .get("rows")
            .and_then(|rows| rows.parse().ok())
            .unwrap_or_default(),
        text: digest.text.clone(),
        share: digest.share,
    }))
}

/// A column as a part of an index: of long texts a prefix; `None` for a type that no plain index takes.
fn key_part((name, data_type): &(String, String)) -> Option<String> {
    let data_type = data_type.to_ascii_lowercase();
    match data_type.as_str() {
        "json" | "geometry" | "vector" => None,
        _ if data_type.ends_with("text") || data_type.ends_with("blob") => {
            Some(format!("{}({PREFIX_CHARACTERS})", identifier(name)))
        }
        _ => Some(identifier(name)),
    }
}

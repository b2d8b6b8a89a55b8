//! Reports of digests: kinds of statements with counts and times, and no statement itself.
//!
//! `pt-query-digest --output json` of Percona Toolkit 3.2, and the answer of PMM's query analytics (`POST
//! /v1/qan/metrics:getReport`), after the names of its public protocol.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::times;
use crate::head::{CaptureHead, CaptureSource, CaptureTail};
use crate::{CaptureError, CaptureWriter, CountedKind, Literals, ServerCounters};

/// Largest report that is read, bytes.
const BYTES_MAX: u64 = 256 << 20;
/// Bytes that are looked at to tell a report from a log.
const BYTES_LOOKED_AT: u64 = 64;
/// Largest count or time in microseconds that is taken; greater ones are none of a server, and their sums would be no numbers.
const NUMBER_MAX: u64 = 1 << 50;
/// Common name of the kinds that a report leaves out.
const LEFT_OUT: &str = "(statements that the report leaves out)";

/// A report as Weir takes it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    kinds: Vec<ReportedKind>,
    /// Statements, and their time in microseconds, of all kinds.
    total: (u64, u64),
    /// When the first and the last of them were, microseconds since 1970.
    span: Option<(i64, i64)>,
}

#[derive(Debug, PartialEq, Eq)]
struct ReportedKind {
    text: String,
    schema: String,
    count: u64,
    time_us: u64,
    sample: Option<String>,
}

/// Report of `pt-query-digest`; its numbers are texts.
#[derive(Debug, Deserialize)]
struct PtReport {
    global: PtGlobal,
    classes: Vec<PtClass>,
}

#[derive(Debug, Deserialize)]
struct PtGlobal {
    query_count: u64,
    metrics: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct PtClass {
    fingerprint: String,
    query_count: u64,
    #[serde(default)]
    example: BTreeMap<String, Value>,
    metrics: BTreeMap<String, Value>,
    ts_min: Option<String>,
    ts_max: Option<String>,
}

/// Report of PMM; the first of its rows has the sums.
#[derive(Debug, Deserialize)]
struct PmmReport {
    rows: Vec<PmmRow>,
}

#[derive(Debug, Deserialize)]
struct PmmRow {
    #[serde(default)]
    fingerprint: String,
    #[serde(default)]
    database: String,
    #[serde(default)]
    rank: u64,
    metrics: BTreeMap<String, Value>,
}

/// Returns true if a file begins as a report.
pub(super) fn is_report(from: &Path) -> Result<bool, CaptureError> {
    let beginning = first_bytes(from, BYTES_LOOKED_AT)?;
    Ok(beginning.trim_ascii_start().first() == Some(&b'{'))
}

/// So many bytes of a file, or all of a shorter one.
fn first_bytes(from: &Path, bytes_max: u64) -> Result<Vec<u8>, CaptureError> {
    let failed = |error: std::io::Error| CaptureError::file("cannot read", from, &error);
    let mut bytes = Vec::new();
    let mut limited = File::open(from).map_err(failed)?.take(bytes_max);
    limited.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Makes a capture without statements of a report.
pub(super) fn import(
    from: &Path,
    to: &Path,
    literals: Literals,
) -> Result<(CaptureHead, CaptureTail), CaptureError> {
    let content = first_bytes(from, BYTES_MAX)?;
    let report = read(&content).map_err(|(offset, why)| CaptureError::Log {
        path: from.display().to_string(),
        offset,
        why,
    })?;
    let (began_us, ended_us) = report.span.unwrap_or_default();
    let head = CaptureHead::new(CaptureSource::Digests, literals, began_us);
    let mut writer = CaptureWriter::create(to, &head)?;
    writer.counters = Some(report.counters(&writer));
    let tail = writer.finish(ended_us.abs_diff(began_us))?;
    Ok((head, tail))
}

/// Reads a report; else the byte of the fault and why it is none.
fn read(content: &[u8]) -> Result<Report, (u64, String)> {
    let value: Value = serde_json::from_slice(content).map_err(|error| {
        (
            offset(content, &error),
            format!("the report is no JSON ({error})"),
        )
    })?;
    let (is_pt, is_pmm) = (value.get("classes").is_some(), value.get("rows").is_some());
    let report = if is_pt {
        serde_json::from_value(value).map(|report: PtReport| report.taken())
    } else if is_pmm {
        serde_json::from_value(value).map(|report: PmmReport| report.taken())
    } else {
        let why = "no report of digests: it has neither the `classes` of pt-query-digest nor the `rows` of PMM";
        return Err((0, why.to_owned()));
    };
    report.map_err(|error| (0, format!("the report lacks what its kind has ({error})")))
}

/// Bytes before the place of an error, whose line and column are counted from 1.
fn offset(content: &[u8], error: &serde_json::Error) -> u64 {
    let lines = content.split_inclusive(|byte| *byte == b'\n');
    let before = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len);
    (before.sum::<usize>() + error.column().saturating_sub(1)) as u64
}

/// A number, which may stand as a text.
fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn microseconds(seconds: Option<f64>) -> u64 {
    bounded((seconds.unwrap_or(0.0).max(0.0) * 1e6).round() as u64)
}

fn bounded(number: u64) -> u64 {
    number.min(NUMBER_MAX)
}

fn pt_time_us(metrics: &BTreeMap<String, Value>) -> u64 {
    let sum = metrics
        .get("Query_time")
        .and_then(|metric| metric.get("sum"));
    microseconds(number(sum))
}

impl PtReport {
    fn taken(self) -> Report {
        let at = |text: &Option<String>| times::table_us(text.as_deref()?);
        let first = self
            .classes
            .iter()
            .filter_map(|class| at(&class.ts_min))
            .min();
        let last = self
            .classes
            .iter()
            .filter_map(|class| at(&class.ts_max))
            .max();
        Report {
            total: (
                bounded(self.global.query_count),
                pt_time_us(&self.global.metrics),
            ),
            span: first.zip(last),
            kinds: self.classes.into_iter().map(PtClass::taken).collect(),
        }
    }
}

impl PtClass {
    fn taken(self) -> ReportedKind {
        let example = text(self.example.get("query"));
        ReportedKind {
            time_us: pt_time_us(&self.metrics),
            schema: text(self.metrics.get("db").and_then(|db| db.get("value"))),
            count: bounded(self.query_count),
            sample: (!example.is_empty()).then_some(example),
            text: self.fingerprint,
        }
    }
}

impl PmmReport {
    fn taken(self) -> Report {
        let (sums, rows): (Vec<_>, Vec<_>) = self
            .rows
            .into_iter()
            .map(|row| (row.rank, row.taken()))
            .partition(|(rank, kind)| *rank == 0 && (kind.text.is_empty() || kind.text == "TOTAL"));
        let kinds: Vec<_> = rows.into_iter().map(|(_, kind)| kind).collect();
        let listed = kinds.iter().fold((0_u64, 0_u64), |(count, time_us), kind| {
            let (count, time_us) = (
                count.saturating_add(kind.count),
                time_us.saturating_add(kind.time_us),
            );
            (bounded(count), bounded(time_us))
        });
        let total = sums.first().map(|(_, sum)| (sum.count, sum.time_us));
        Report {
            total: total.unwrap_or(listed),
            span: None,
            kinds,
        }
    }
}

impl PmmRow {
    fn taken(self) -> ReportedKind {
        let stats = self
            .metrics
            .get("query_time")
            .and_then(|metric| metric.get("stats"));
        let stat = |name: &str| number(stats.and_then(|stats| stats.get(name)));
        ReportedKind {
            text: self.fingerprint,
            schema: self.database,
            count: bounded(stat("cnt").unwrap_or(0.0).max(0.0).round() as u64),
            time_us: microseconds(stat("sum")),
            sample: None,
        }
    }
}

impl Report {
    fn counters(self, writer: &CaptureWriter) -> ServerCounters {
        let (count, time_us) = self.total;
        let (mut rest, mut rest_us) = (count, time_us);
        let kinds = self.kinds.into_iter().map(|kind| {
            rest = rest.saturating_sub(kind.count);
            rest_us = rest_us.saturating_sub(kind.time_us);
            CountedKind {
                text: writer.fingerprint(kind.sample.as_ref().unwrap_or(&kind.text).as_bytes()),
                sample: kind
                    .sample
                    .and_then(|sample| writer.sample(sample.as_bytes())),
                schema: kind.schema,
                count: kind.count,
                time_us: kind.time_us,
                seen: 0,
            }
        });
        let mut kinds: Vec<_> = kinds.collect();
        if rest > 0 {
            kinds.push(CountedKind {
                text: LEFT_OUT.to_owned(),
                count: rest,
                time_us: rest_us,
                ..CountedKind::default()
            });
        }
        let mut counters = ServerCounters {
            statements: Some(count),
            time_us: Some(time_us),
            ..ServerCounters::default()
        };
        counters.set_kinds(kinds);
        counters
    }
}

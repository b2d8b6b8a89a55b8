//! From a capture to the text of a workload file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use weir_capture::{CaptureHead, CaptureReader, CaptureSource, Happening, Literals};
use weir_model::{Distribution, FileWorkload, WorkloadSpec};
use weir_mysql::{Connection, NameCase, text_literal};
use weir_workload::Workload;

use crate::fit::FitError;
use crate::fit::digests::{self, Digests};
use crate::fit::kind_text::{Context, FittedValue, KindText};
use crate::fit::references::note_references;
use crate::fit::schema::TableFacts;
use crate::fit::schema_facts::SchemaFacts;
use crate::fit::shapes::{Shapes, shapes};
use crate::fit::table_text;

/// Kinds of statements that are left out and named in the file.
const NAMED_MAX: usize = 20;

/// A workload file, and how it was found.
#[derive(Debug, Clone, Serialize)]
pub struct FitResult {
    /// The file.
    #[serde(skip)]
    pub text: String,
    /// Sessions of the capture; 0 if it has counts of statements only.
    pub sessions: u64,
    /// Length of the capture, seconds.
    pub length_s: f64,
    /// Transactions that were read; statements, if there are no sessions.
    pub transactions: u64,
    /// Share of them that the workload has, of those with a statement that a workload can have.
    pub share_of_transactions: f64,
    /// Share of their time; none if the capture knows no times.
    pub share_of_time: Option<f64>,
    /// Kinds of transactions.
    pub kinds: usize,
    /// Tables that the file makes.
    pub tables: usize,
    /// Values of statements.
    pub values: Vec<FittedValue>,
    /// Parts that are left out, with how often they came.
    pub left_out: Vec<(String, u64)>,
    /// Differences from the capture's server, in words.
    pub remarks: Vec<String>,
}

impl FitResult {
    /// Returns the content that was read: `5 sessions, 700 transactions`.
    pub fn content(&self) -> String {
        match self.sessions {
            0 => format!("counters of {} statements", self.transactions),
            sessions => format!("{sessions} sessions, {} transactions", self.transactions),
        }
    }
}

/// A server with the capture's tables.
#[derive(Debug)]
pub struct Tables<'a> {
    /// A connection that only reads.
    pub connection: &'a mut Connection,
    /// Their schema.
    pub schema: &'a str,
}

/// Fits a workload to a capture, or to the counters of a server where the capture has no statements with values. With `tables` the file makes tables like those; without, its numbers are those of the
/// capture, and its statements need the capture's own tables.
///
/// # Errors
///
/// A capture that cannot be read, has no values or no whole transaction; a server that cannot be read.
pub fn fit(path: &Path, mut tables: Option<Tables<'_>>) -> Result<FitResult, FitError> {
    let reader = CaptureReader::open(path)?;
    let head = reader.head().clone();
    let (schema, case) = match &mut tables {
        Some(tables) => (
            Some(tables.schema.to_owned()),
            NameCase::read(tables.connection)?,
        ),
        None => (usual_schema(reader)?, NameCase::Exact),
    };
    let (mut found, digests) = content(path, &head, schema, case)?;
    let mut facts = match tables {
        Some(mut tables) => facts(&found, &mut tables, case)?,
        None => SchemaFacts::default(),
    };
    let mut more = Vec::new();
    if let Some(digests) = &digests {
        more = digests.remarks(digests::draw(&mut found, &facts, head.began_unix_us));
        if found.shapes.is_empty() {
            return Err(FitError::NoValuesOfDigests {
                path: path.display().to_string(),
            });
        }
    }
    note_references(&mut facts, &found);
    let context = Context {
        catalog: &found.catalog,
        tables: &facts,
        began_unix_us: head.began_unix_us,
        is_ordered: head.literals == Literals::Keep,
    };
    let numbered = (1..).zip(&found.shapes);
    let kinds: Vec<KindText> = numbered
        .map(|(number, shape)| context.kind(number, shape))
        .collect();
    let fitted = fitted(&found, &facts, &kinds, more);
    check(&fitted.text)?;
    Ok(fitted)
}

/// The transactions of a capture; one without any that can be used may have counters.
fn content(
    path: &Path,
    head: &CaptureHead,
    schema: Option<String>,
    case: NameCase,
) -> Result<(Shapes, Option<Digests>), FitError> {
    let has_no_values = head.literals == Literals::Drop;
    if head.source != CaptureSource::Digests && !has_no_values {
        let found = shapes(path, schema.clone(), case)?;
        if !found.shapes.is_empty() {
            return Ok((found, None));
        }
    }
    let path_text = path.display().to_string();
    let Some(digests) = Digests::read(CaptureReader::open(path)?)? else {
        return Err(if has_no_values {
            FitError::NoValues { path: path_text }
        } else {
            FitError::NoTransactions { path: path_text }
        });
    };
    let found = digests.shapes(schema.or_else(|| digests.schema()), case);
    if found.shapes.is_empty() {
        return Err(FitError::NoTransactions { path: path_text });
    }
    Ok((found, Some(digests)))
}

/// The schema in which most sessions begin.
fn usual_schema(reader: CaptureReader) -> Result<Option<String>, FitError> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for record in reader {
        if let Happening::Opened(login) = record?.happening
            && !login.schema.is_empty()
        {
            *counts.entry(login.schema).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    Ok(most.map(|(schema, _)| schema))
}

/// The tables that the kept statements name.
fn facts(found: &Shapes, tables: &mut Tables<'_>, case: NameCase) -> Result<SchemaFacts, FitError> {
    let names: Vec<String> = tables.connection.rows(format!(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = {} AND table_type = 'BASE TABLE'",
        text_literal(tables.schema)
    ))?;
    let mut facts = SchemaFacts::new(case);
    for number in found.shapes.iter().flat_map(|shape| &shape.statements) {
        for name in &found.catalog.statements[*number].tables {
            let stored = names.iter().find(|stored| case.is_same(stored, name));
            if let Some(stored) = stored
                && facts.get(stored).is_none()
            {
                facts.insert(TableFacts::read(tables.connection, tables.schema, stored)?);
            }
        }
    }
    Ok(facts)
}

fn fitted(
    found: &Shapes,
    facts: &SchemaFacts,
    kinds: &[KindText],
    remarks_before: Vec<String>,
) -> FitResult {
    let count: u64 = found.shapes.iter().map(|shape| shape.count).sum();
    let time_us: u64 = found.shapes.iter().map(|shape| shape.time_us).sum();
    let mut left_out = found.left_out.clone();
    for (what, number) in [
        (
            "transactions with a statement that failed",
            found.counts.failed,
        ),
        (
            "transactions with a statement that is cut or secret",
            found.counts.unusable,
        ),
        ("transactions that had not ended", found.counts.unfinished),
        (
            "bytes after the capture's last whole block",
            found.counts.cut_bytes,
        ),
        (
            "statements that no poll of the server saw, which other kinds stand for",
            found.counts.unseen,
        ),
    ] {
        if number > 0 {
            left_out.push((what.to_owned(), number));
        }
    }
    let mut fitted = FitResult {
        text: String::new(),
        sessions: found.counts.sessions,
        length_s: found.counts.length_us as f64 / 1e6,
        transactions: found.counts.transactions,
        share_of_transactions: count as f64 / found.all.max(1) as f64,
        share_of_time: (found.all_us > 0).then(|| time_us as f64 / found.all_us as f64),
        kinds: kinds.len(),
        tables: facts.iter().count(),
        values: kinds.iter().flat_map(|kind| kind.found.clone()).collect(),
        left_out,
        remarks: [remarks_before, remarks(facts)].concat(),
    };
    fitted.text = text(&fitted, facts, kinds);
    fitted
}

fn remarks(facts: &SchemaFacts) -> Vec<String> {
    let mut remarks = Vec::new();
    for table in facts.iter() {
        for what in &table.definition.left_out {
            remarks.push(format!("table {}: without {what}", table.name));
        }
        if table.definition.primary.len() > 1 {
            remarks.push(format!(
                "table {}: the last column of its primary key numbers the rows, so searches by the whole key find none",
                table.name
            ));
        }
    }
    remarks
}

fn text(fitted: &FitResult, facts: &SchemaFacts, kinds: &[KindText]) -> String {
    let rate = fitted.transactions as f64 / fitted.length_s.max(1e-6);
    let mut text = format!(
        "# Made by `weir workload fit` from a capture of {:.0} s: {}, {rate:.1} a second.\n\
         # It has numbers and lengths of the capture's values, no texts of them.\n\
         title = \"Fitted to a capture\"\n\n",
        fitted.length_s,
        fitted.content()
    );
    let values: Vec<_> = kinds.iter().flat_map(|kind| &kind.values).collect();
    if !values.is_empty() {
        text += "[values]\n";
        for value in values {
            let _ = writeln!(text, "{value}");
        }
        text.push('\n');
    }
    for table in facts.iter() {
        text += &table_text::table(table);
        text.push('\n');
    }
    for kind in kinds {
        text += &kind.section;
        text.push('\n');
    }
    text += &summary(fitted, rate);
    text
}

/// Returns the facts about the fit that a reader wants to know; Weir itself reads none of them.
fn summary(fitted: &FitResult, rate: f64) -> String {
    let mut text = format!(
        "[fit]\nlength_s = {:.3}\nsessions = {}\ntransactions = {}\ntransactions_per_s = {rate:.3}\n\
         share_of_transactions = {:.4}\n",
        fitted.length_s, fitted.sessions, fitted.transactions, fitted.share_of_transactions
    );
    if let Some(share) = fitted.share_of_time {
        let _ = writeln!(text, "share_of_time = {share:.4}");
    }
    let list = |text: &mut String, name: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let lines: Vec<_> = lines
                .iter()
                .map(|line| format!("  {},\n", crate::fit::toml_text::quoted(line)))
                .collect();
            let _ = writeln!(text, "{name} = [\n{}]", lines.concat());
        }
    };
    let left_out = fitted
        .left_out
        .iter()
        .take(NAMED_MAX)
        .map(|(what, count)| format!("{count} times: {what}"));
    list(&mut text, "left_out", left_out.collect());
    list(&mut text, "differs", fitted.remarks.clone());
    let fits = fitted.values.iter().filter_map(|value| {
        let distance = value.distance?;
        Some(format!(
            "{}, {}: {distance:.3} over {} values",
            value.transaction, value.value, value.values
        ))
    });
    list(&mut text, "distances", fits.collect());
    text
}

/// Checks that the file holds together.
fn check(text: &str) -> Result<(), FitError> {
    let spec = WorkloadSpec::File(FileWorkload {
        path: "fitted.toml".into(),
        text: text.into(),
        distribution: Distribution::default(),
    });
    Workload::try_from(&spec)
        .map(drop)
        .map_err(|why| FitError::NotAWorkload { why })
}

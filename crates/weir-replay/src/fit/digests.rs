//! Kinds of transactions from counters of a server: texts and counts are known, sessions and most values are not.
//!
//! Each kind is a transaction of its own. A value that belongs to a column is one of the values that the column has, each
//! row as likely; any other is the one of the kind's example.

use std::fmt::Write as _;

use weir_capture::{CaptureReader, CountedKind, ServerCounters};
use weir_mysql::{NameCase, StatementText};
use weir_workload::{Purpose, Rng, seeded};

use crate::fit::FitError;
use crate::fit::catalog::{Catalog, Statement};
use crate::fit::datum::{Datum, TextDatum};
use crate::fit::schema::ColumnFacts;
use crate::fit::schema_facts::SchemaFacts;
use crate::fit::shapes::{COVERED, KINDS_MAX, Sample, Shape, Shapes};
use crate::fit::transactions::{Call, ReadCounts};
use weir_capture::TransactionStep;

/// Values of a place that are drawn for its column.
const DRAWN: usize = 2_000;
/// Rows that a `LIMIT` without a number asks for.
const LIMIT: i64 = 10;
/// Content of a capture that holds counters in the place of transactions.
#[derive(Debug)]
pub(crate) struct Digests {
    counters: ServerCounters,
    length_us: u64,
}

impl Digests {
    /// Reads them; `None` for a capture without counters.
    pub(crate) fn read(mut reader: CaptureReader) -> Result<Option<Self>, FitError> {
        while reader.next_record()?.is_some() {}
        let Some(tail) = reader.tail() else {
            return Ok(None);
        };
        let counters = tail.counters.clone();
        let counters = counters.filter(|found| !found.kinds.is_empty());
        Ok(counters.map(|counters| Self {
            counters,
            length_us: tail.ended_us,
        }))
    }

    /// The schema of most statements.
    pub(crate) fn schema(&self) -> Option<String> {
        let kinds = self.counters.kinds.iter();
        let most = kinds
            .filter(|kind| !kind.schema.is_empty())
            .max_by_key(|kind| kind.count);
        most.map(|kind| kind.schema.clone())
    }

    /// The kinds that a workload can have, without samples.
    pub(crate) fn shapes(&self, schema: Option<String>, case: NameCase) -> Shapes {
        let mut found = Shapes {
            catalog: Catalog::new(schema, case),
            shapes: Vec::new(),
            counts: ReadCounts {
                length_us: self.length_us,
                transactions: self.counters.kinds.iter().map(|kind| kind.count).sum(),
                ..ReadCounts::default()
            },
            all: 0,
            all_us: 0,
            left_out: Vec::new(),
        };
        for kind in &self.counters.kinds {
            match taken(kind, &mut found.catalog) {
                KindUse::Shape(shape) => {
                    found.all += kind.count;
                    found.all_us += kind.time_us;
                    found.shapes.push(shape);
                }
                KindUse::Bound => {}
                KindUse::LeftOut(why) => {
                    leave_out(&mut found.left_out, &kind.text, why, kind.count);
                }
            }
        }
        found.catalog.choose_texts();
        cover(&mut found);
        found
    }

    /// Returns how the workload differs from the load, in words.
    pub(crate) fn remarks(&self, assumed: ValueOrigins) -> Vec<String> {
        let mut remarks = vec![
            "made of counts: each statement is a transaction of its own, its order and its session are not known".to_owned(),
        ];
        let count = |words: &[&str]| -> u64 {
            let kinds = self.counters.kinds.iter();
            let named = kinds.filter(|kind| words.contains(&kind.text.as_str()));
            named.map(|kind| kind.count).sum()
        };
        let ends = count(&["commit", "rollback"]);
        if ends > 0 {
            let each = self
                .counters
                .kinds
                .iter()
                .map(|kind| kind.count)
                .sum::<u64>() as f64
                / ends as f64;
            remarks.push(format!(
                "the load had {ends} COMMIT and ROLLBACK, one for {each:.1} statements: group the statements yourself"
            ));
        }
        for (count, words) in [
            (
                assumed.by_column,
                "values are drawn from their column, each row as likely: hot keys are not known",
            ),
            (assumed.by_example, "values are always those of an example"),
            (
                assumed.invented,
                "values are invented: LIMIT 10, and 1 for others",
            ),
        ] {
            if count > 0 {
                remarks.push(format!("{count} {words}"));
            }
        }
        remarks
    }
}

/// Values of a workload by where they come from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ValueOrigins {
    by_column: usize,
    by_example: usize,
    invented: usize,
}

/// Use of a kind.
enum KindUse {
    Shape(Shape),
    /// It begins or ends a transaction.
    Bound,
    LeftOut(&'static str),
}

fn taken(kind: &CountedKind, catalog: &mut Catalog) -> KindUse {
    let text = match &kind.sample {
        Some(sample) => sample.clone(),
        None => match with_marks(&kind.text) {
            Ok(text) => text,
            Err(why) => return KindUse::LeftOut(why),
        },
    };
    let call = Call::from_text(text.as_bytes());
    if call.template.class().transaction != TransactionStep::None {
        return KindUse::Bound;
    }
    let Some(number) = catalog.number(&call) else {
        return KindUse::LeftOut("its text is no UTF-8, or there are too many");
    };
    let statement = &mut catalog.statements[number];
    statement.count += kind.count;
    if let Some(why) = statement.left_out {
        return KindUse::LeftOut(why);
    }
    let marks = statement.marks.clone();
    let example = call.data(&marks).unwrap_or_default();
    KindUse::Shape(Shape {
        statements: vec![number],
        begins_itself: false,
        count: kind.count,
        time_us: kind.time_us,
        samples: vec![sample(example)],
    })
}

fn sample(data: Vec<Datum>) -> Sample {
    Sample {
        at_us: vec![0],
        data,
        insert_ids: vec![None],
    }
}

/// A text without literals as one that can be prepared: a list has one value, and a row as many as it names columns.
fn with_marks(fingerprint: &str) -> Result<String, &'static str> {
    if fingerprint.ends_with("...") {
        return Err("its text is cut");
    }
    let mut text = String::new();
    let mut rest = fingerprint;
    while let Some((before, after)) = rest.split_once("(?+)") {
        text += before;
        let is_row = before.trim_end().ends_with("values") || before.trim_end().ends_with("value");
        let columns = if is_row { columns(&text) } else { Some(1) };
        let Some(columns) = columns else {
            return Err("its values and the names of their columns are not known");
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "({})", vec!["?"; columns].join(", "));
        rest = after;
    }
    Ok(text + rest)
}

/// Number of the columns that an `INSERT` names before its values.
fn columns(before: &str) -> Option<usize> {
    let names = before
        .trim_end()
        .trim_end_matches("value")
        .trim_end_matches("values");
    let names = names.trim_end().strip_suffix(')')?;
    let (_, names) = names.rsplit_once('(')?;
    Some(names.split(',').count())
}

fn leave_out(left_out: &mut Vec<(String, u64)>, text: &str, why: &str, count: u64) {
    let text: String = text.chars().take(80).collect();
    left_out.push((format!("{text} ({why})"), count));
}

/// Keeps the kinds that have nearly all statements and their time.
fn cover(found: &mut Shapes) {
    let (all, all_us) = (found.all.max(1) as f64, found.all_us.max(1) as f64);
    let share = |shape: &Shape| shape.count as f64 / all + shape.time_us as f64 / all_us;
    found.shapes.sort_by(|a, b| {
        share(b)
            .total_cmp(&share(a))
            .then_with(|| a.statements.cmp(&b.statements))
    });
    let (mut count, mut time_us) = (0, 0);
    let mut kept = 0;
    for shape in &found.shapes {
        let is_covered =
            count as f64 >= COVERED * all && time_us as f64 >= COVERED * found.all_us as f64;
        if is_covered || kept == KINDS_MAX {
            break;
        }
        count += shape.count;
        time_us += shape.time_us;
        kept += 1;
    }
    for shape in found.shapes.split_off(kept) {
        let text = &found.catalog.statements[shape.statements[0]].fingerprint;
        leave_out(&mut found.left_out, text, "a rare statement", shape.count);
    }
}

/// Draws the values of all kinds. A kind with a value of which nothing is known is left out.
pub(crate) fn draw(found: &mut Shapes, tables: &SchemaFacts, began_unix_us: i64) -> ValueOrigins {
    let mut rng = seeded(0, 0);
    let mut assumed = ValueOrigins::default();
    let has_tables = tables.iter().next().is_some();
    let Shapes {
        catalog,
        shapes,
        left_out,
        ..
    } = found;
    shapes.retain_mut(|shape| {
        let statement = &catalog.statements[shape.statements[0]];
        let example = shape.samples[0].data.clone();
        let sources: Option<Vec<_>> = (0..statement.marks.len())
            .map(|mark| ValueSource::new(statement, mark, (tables, has_tables), &example))
            .collect();
        let Some(sources) = sources else {
            let why = "its values are not known; give the URL of a server that has its tables";
            leave_out(left_out, &statement.fingerprint, why, shape.count);
            return false;
        };
        for source in &sources {
            match source {
                ValueSource::Column(..) => assumed.by_column += 1,
                ValueSource::Example(_) => assumed.by_example += 1,
                ValueSource::Invented(_) => assumed.invented += 1,
            }
        }
        shape.samples = (0..DRAWN)
            .map(|_| {
                sample(
                    sources
                        .iter()
                        .map(|source| source.draw(&mut rng, began_unix_us))
                        .collect(),
                )
            })
            .collect();
        true
    });
    assumed
}

/// Origin of the values of a mark.
enum ValueSource<'a> {
    Column(&'a ColumnFacts, Purpose),
    Example(Datum),
    Invented(i64),
}

impl<'a> ValueSource<'a> {
    /// `None`: nothing is known of it.
    fn new(
        statement: &Statement,
        mark: usize,
        (tables, has_tables): (&'a SchemaFacts, bool),
        example: &[Datum],
    ) -> Option<Self> {
        let found = &statement.uses[mark];
        let column = found.column.as_ref().and_then(|(name, purpose)| {
            let table = tables.get(found.table.as_ref()?)?;
            let mut columns = table.columns.iter();
            let (_, column) = columns.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
            Some((column, *purpose))
        });
        // A pattern is none of the column's values.
        let is_pattern = matches!(
            example.get(mark),
            Some(Datum::Text(text)) if text.open_ends != (false, false)
        );
        let drawn = column.filter(|(column, _)| can_draw(column) && !is_pattern);
        if let Some((column, purpose)) = drawn {
            return Some(Self::Column(column, purpose));
        }
        if statement.marks[mark]
            && let Some(datum) = example.get(mark)
        {
            return Some(Self::Example(*datum));
        }
        let limit = limit(&statement.sql, mark);
        match limit {
            Some(number) => Some(Self::Invented(number)),
            None => has_tables.then_some(Self::Invented(1)),
        }
    }

    fn draw(&self, rng: &mut Rng, began_unix_us: i64) -> Datum {
        match self {
            Self::Column(_, Purpose::Inserted) if self.is_date() => Datum::Moment(began_unix_us),
            Self::Column(column, _) => of_column(column, rng),
            Self::Example(datum) => *datum,
            Self::Invented(number) => Datum::Integer(*number),
        }
    }

    fn is_date(&self) -> bool {
        matches!(self, Self::Column(column, _) if column.is_date())
    }
}

/// Number of a `LIMIT` or an `OFFSET` before a mark.
fn limit(sql: &str, mark: usize) -> Option<i64> {
    let read = StatementText::read(sql);
    let before = |back: usize| {
        let piece = mark
            .checked_sub(back)
            .and_then(|at| read.pieces().get(at).copied());
        piece.unwrap_or_default().trim().to_ascii_lowercase()
    };
    let after = read.pieces().get(mark + 1).copied().unwrap_or_default();
    if before(0).ends_with("offset")
        || before(0).ends_with("limit") && after.trim_start().starts_with(',')
    {
        return Some(0);
    }
    let is_second = before(0) == "," && before(1).ends_with("limit");
    (before(0).ends_with("limit") || is_second).then_some(LIMIT)
}

fn can_draw(column: &ColumnFacts) -> bool {
    column.range.is_some() || column.lengths.is_some()
}

/// A value of a column, each row as likely.
fn of_column(column: &ColumnFacts, rng: &mut Rng) -> Datum {
    if let Some((least, mean, most)) = column.lengths {
        // Half of the texts are longer than the mean, about.
        let (from, to) = if rng.below(2) == 0 {
            (least, mean)
        } else {
            (mean, most)
        };
        let more = rng.below(u64::from(to.saturating_sub(from)) + 1);
        return Datum::Text(TextDatum {
            characters: from + more as u32,
            hash: rng.below(column.distinct.max(1)),
            number: None,
            open_ends: (false, false),
        });
    }
    if !column.integers.is_empty() {
        let at = rng.below(column.integers.len() as u64) as usize;
        return Datum::Integer(column.integers[at]);
    }
    let (least, most) = column.range.unwrap_or((1, 1));
    let number = least.saturating_add_unsigned(rng.below(most.abs_diff(least).max(1)));
    if column.is_date() {
        Datum::Moment(number.saturating_mul(1_000_000))
    } else if column.is_decimal() {
        Datum::Decimal {
            units: number.saturating_mul(100),
            scale: 2,
        }
    } else {
        Datum::Integer(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_literals_gets_a_mark_for_each_value() {
        for (fingerprint, expected) in [
            (
                "select a from t where b in (?+) and c = ?",
                Ok("select a from t where b in (?) and c = ?"),
            ),
            (
                "insert into t (a, b, c) values (?+)",
                Ok("insert into t (a, b, c) values (?, ?, ?)"),
            ),
            (
                "insert into t (a, at) values (?, now())",
                Ok("insert into t (a, at) values (?, now())"),
            ),
            (
                "insert into t values (?+)",
                Err("its values and the names of their columns are not known"),
            ),
            ("select a, b, c, d...", Err("its text is cut")),
        ] {
            let found = with_marks(fingerprint);
            assert_eq!(found.as_deref(), expected.as_deref(), "{fingerprint}");
        }
    }

    #[test]
    fn a_limit_without_a_number_is_known() {
        for (sql, mark, expected) in [
            ("select a from t where b = ? limit ?", 0, None),
            ("select a from t where b = ? limit ?", 1, Some(LIMIT)),
            ("select a from t limit ?, ?", 0, Some(0)),
            ("select a from t limit ?, ?", 1, Some(LIMIT)),
            ("select a from t limit ? offset ?", 1, Some(0)),
        ] {
            assert_eq!(limit(sql, mark), expected, "{sql} {mark}");
        }
    }
}

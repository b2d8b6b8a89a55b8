//! A kind of transaction as a section of the file, with the values that its statements share.

use std::fmt::Write as _;

use weir_capture::TransactionStep;
use weir_mysql::StatementText;

use crate::fit::catalog::{Catalog, Statement};
use crate::fit::datum::Datum;
use crate::fit::links::{Link, links};
use crate::fit::schema_facts::SchemaFacts;
use crate::fit::shapes::{Sample, Shape};
use crate::fit::slot::{Slot, SlotText};
use crate::fit::toml_text::quoted;
use weir_workload::Purpose;

/// A value of a workload, and how it was found.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FittedValue {
    /// The transaction's name.
    pub transaction: String,
    /// The table and column that it belongs to, or where it stands.
    pub value: String,
    /// Where its values come from, as in the file.
    pub source: String,
    /// Distance of the fit, Kolmogorov and Smirnov's; none where nothing was fitted.
    pub distance: Option<f64>,
    /// Values that it was fitted to.
    pub values: usize,
}

/// A kind of transaction as text.
#[derive(Debug, Default)]
pub(crate) struct KindText {
    /// Lines of `[values]`.
    pub(crate) values: Vec<String>,
    pub(crate) section: String,
    pub(crate) found: Vec<FittedValue>,
}

/// Data that all kinds share.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) tables: &'a SchemaFacts,
    pub(crate) began_unix_us: i64,
    pub(crate) is_ordered: bool,
}

/// Where a slot is: its statement, as the transaction counts them, and its mark.
#[derive(Debug, Clone, Copy)]
struct Place {
    statement: usize,
    mark: usize,
}

impl Context<'_> {
    fn statement(&self, shape: &Shape, position: usize) -> &Statement {
        &self.catalog.statements[shape.statements[position]]
    }

    /// The name of a kind: a number, and what it does first.
    fn name(&self, number: usize, shape: &Shape) -> String {
        let working =
            |position: &usize| self.statement(shape, *position).step == TransactionStep::None;
        let works: Vec<usize> = (0..shape.statements.len()).filter(working).collect();
        // A statement that changes something says more than one that reads.
        let is_read = |position: &&usize| {
            self.statement(shape, **position)
                .fingerprint
                .starts_with("select")
        };
        let told = works
            .iter()
            .find(|position| !is_read(position))
            .or(works.first());
        let Some(told) = told.map(|position| self.statement(shape, *position)) else {
            return format!("{number}");
        };
        let verb = told.fingerprint.split(' ').next().unwrap_or_default();
        let table = told.tables.first().map_or("", String::as_str);
        format!("{number} {verb} {table}").trim_end().to_owned()
    }

    /// The text of a kind.
    pub(crate) fn kind(&self, number: usize, shape: &Shape) -> KindText {
        let name = self.name(number, shape);
        let places: Vec<Place> = (0..shape.statements.len())
            .flat_map(|statement| {
                let marks = self.statement(shape, statement).marks.len();
                (0..marks).map(move |mark| Place { statement, mark })
            })
            .collect();
        let of_statement: Vec<usize> = places.iter().map(|place| place.statement).collect();
        let links = links(&shape.samples, &of_statement);
        let mut kind = KindText::default();
        let mut texts: Vec<SlotText> = Vec::with_capacity(places.len());
        for (slot, place) in places.iter().enumerate() {
            let text = match links[slot] {
                Some(Link::InsertId) => SlotText::plain("(LAST_INSERT_ID())"),
                Some(Link::Same(earlier)) => share(&mut texts, earlier, number, &mut kind),
                Some(Link::Plus(earlier, difference)) => {
                    let mut text = share(&mut texts, earlier, number, &mut kind);
                    let sign = if difference < 0 { '-' } else { '+' };
                    text.sql = format!("({} {sign} {})", text.sql, difference.unsigned_abs());
                    text
                }
                None => match self.width(shape, &places, slot) {
                    Some(width) => {
                        let mut text = share(&mut texts, slot - 1, number, &mut kind);
                        text.sql = format!("({} + {})", text.sql, width.sql);
                        text.values.extend(width.values);
                        text.fit = width.fit;
                        text
                    }
                    None => self.text(shape, *place, slot),
                },
            };
            kind.found
                .push(self.found(&name, shape, *place, links[slot], &text));
            texts.push(text);
        }
        kind.section = self.section(&name, shape, &places, &texts);
        kind
    }

    /// A slot on its own.
    fn text(&self, shape: &Shape, place: Place, slot: usize) -> SlotText {
        let statement = self.statement(shape, place.statement);
        if let Some(form) = &statement.forms[place.mark] {
            return SlotText::plain(form);
        }
        self.slot(shape, place, |sample| sample.data[slot]).text()
    }

    fn slot(&self, shape: &Shape, place: Place, datum: impl Fn(&Sample) -> Datum) -> Slot<'_> {
        let at = |sample: &Sample| sample.at_us[place.statement].cast_signed() + self.began_unix_us;
        Slot {
            data: shape.samples.iter().map(datum).collect(),
            at_unix_us: shape.samples.iter().map(at).collect(),
            mark: &self.catalog.statements[shape.statements[place.statement]].uses[place.mark],
            tables: self.tables,
            is_ordered: self.is_ordered,
        }
    }

    /// Returns the distance of the second end of `BETWEEN` from the first, if it is never before it.
    fn width(&self, shape: &Shape, places: &[Place], slot: usize) -> Option<SlotText> {
        let place = places[slot];
        let purpose = |place: Place| {
            let found = &self.statement(shape, place.statement).uses[place.mark];
            found.column.as_ref().map(|(_, purpose)| *purpose)
        };
        if purpose(place) != Some(Purpose::SecondBound)
            || slot == 0
            || purpose(places[slot - 1]) != Some(Purpose::Bound)
        {
            return None;
        }
        let widths = |sample: &Sample| match (sample.data[slot], sample.data[slot - 1]) {
            (Datum::Integer(a), Datum::Integer(b)) if a >= b => Datum::Integer(a - b),
            _ => Datum::Null,
        };
        if shape
            .samples
            .iter()
            .any(|sample| widths(sample) == Datum::Null)
        {
            return None;
        }
        let no_column = weir_workload::MarkUse {
            table: None,
            column: None,
            is_structure: false,
            is_bound: false,
        };
        let width = Slot {
            mark: &no_column,
            ..self.slot(shape, place, widths)
        };
        Some(width.text())
    }

    fn found(
        &self,
        name: &str,
        shape: &Shape,
        place: Place,
        link: Option<Link>,
        text: &SlotText,
    ) -> FittedValue {
        let statement = self.statement(shape, place.statement);
        let use_ = &statement.uses[place.mark];
        let value = match (&use_.table, &use_.column) {
            (Some(table), Some((column, _))) => format!("{table}.{column}"),
            (None, Some((column, _))) => column.clone(),
            _ => format!(
                "statement {}, value {}",
                place.statement + 1,
                place.mark + 1
            ),
        };
        let source = match link {
            Some(Link::Same(_)) => format!("as before: {}", text.values.join(", ")),
            Some(Link::Plus(..)) => format!("{} of {}", text.sql, text.values.join(", ")),
            _ if text.values.is_empty() => text.sql.clone(),
            _ if text.sql == "?" => text.values.join(", "),
            _ => format!("{} of {}", text.sql, text.values.join(", ")),
        };
        let fit = if link.is_some() {
            None
        } else {
            text.fit.as_ref()
        };
        FittedValue {
            transaction: name.to_owned(),
            value,
            source,
            distance: fit.map(|fit| fit.distance),
            values: fit.map_or(shape.samples.len(), |fit| fit.keys),
        }
    }

    fn section(&self, name: &str, shape: &Shape, places: &[Place], texts: &[SlotText]) -> String {
        let mut text = format!(
            "[[transactions]]\nname = {}\nweight = {}\nstatements = [\n",
            quoted(name),
            weight(shape.count)
        );
        if shape.begins_itself {
            text += "  \"BEGIN\",\n";
        }
        let mut slots = places.iter().zip(texts).peekable();
        for position in 0..shape.statements.len() {
            let statement = self.statement(shape, position);
            let read = StatementText::read(&statement.sql);
            let pieces = read.pieces();
            let (mut sql, mut values) = (pieces[0].to_owned(), Vec::new());
            for piece in &pieces[1..] {
                if let Some((_, slot)) = slots.next_if(|(place, _)| place.statement == position) {
                    sql += &slot.sql;
                    values.extend(slot.values.iter().cloned());
                }
                sql += piece;
            }
            let _ = if values.is_empty() {
                writeln!(text, "  {},", quoted(&sql))
            } else {
                writeln!(
                    text,
                    "  {{ sql = {}, values = [{}] }},",
                    quoted(&sql),
                    values.join(", ")
                )
            };
        }
        text + "]\n"
    }
}

/// Gives the values of an earlier slot names, if they have none, so that another can use them.
fn share(texts: &mut [SlotText], earlier: usize, number: usize, kind: &mut KindText) -> SlotText {
    let text = &mut texts[earlier];
    for (position, source) in text.values.iter_mut().enumerate() {
        if source.starts_with('{') {
            let more = if position == 0 {
                String::new()
            } else {
                format!("_{position}")
            };
            let name = format!("t{number}_v{}{more}", earlier + 1);
            kind.values.push(format!("{name} = {source}"));
            *source = quoted(&name);
        }
    }
    SlotText {
        fit: None,
        ..text.clone()
    }
}

fn weight(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

//! Content of a workload file in the place of one value: numbers by a distribution, texts of the same length.

mod kinds;
mod sources;

use std::collections::HashMap;

use crate::fit::datum::{Datum, TextDatum};
use crate::fit::domain::Domain;
use crate::fit::enum_members::enum_members;
use crate::fit::key_fit::{KeyFit, fit_keys};
use crate::fit::schema::{ColumnFacts, TableFacts};
use crate::fit::schema_facts::SchemaFacts;
use crate::fit::table_text::{code_length, code_of};
use crate::fit::toml_text::{Over, keys, quoted};
use kinds::{decimal_scale, ends, integer, moment, scaled, text};
use sources::{choice, letters, new_numbers};
use weir_workload::{MarkUse, Purpose};

/// A share that is nearly all.
const NEARLY_ALL: f64 = 0.95;
/// Integers that never change and are not longer stand in the statement.
const CONSTANT_MAX: i64 = 9_999;
/// Largest error of a client's clock, microseconds.
const CLOCK_US: i64 = 5_000_000;
const QUARTER_US: i64 = 900_000_000;
const DAY_US: i64 = 86_400_000_000;
/// Zones of time are at most so far apart, in quarters of an hour.
const ZONE_QUARTERS: i64 = 56;

/// Text in the place of a mark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SlotText {
    /// The text, with a question mark for each of `values`.
    pub(crate) sql: String,
    /// Sources.
    pub(crate) values: Vec<String>,
    /// The fit of the keys, if there is one.
    pub(crate) fit: Option<KeyFit>,
}

impl SlotText {
    pub(crate) fn plain(sql: impl Into<String>) -> Self {
        Self {
            sql: sql.into(),
            values: Vec::new(),
            fit: None,
        }
    }

    pub(crate) fn new(sql: &str, source: String) -> Self {
        Self {
            sql: sql.to_owned(),
            values: vec![source],
            fit: None,
        }
    }

    fn fitted(sql: &str, source: String, fit: KeyFit) -> Self {
        Self {
            fit: Some(fit),
            ..Self::new(sql, source)
        }
    }
}

/// Facts about a slot.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    pub(crate) data: Vec<Datum>,
    /// When each was used, microseconds since 1970.
    pub(crate) at_unix_us: Vec<i64>,
    pub(crate) mark: &'a MarkUse,
    pub(crate) tables: &'a SchemaFacts,
    /// Numbers keep their order.
    pub(crate) is_ordered: bool,
}

impl Slot<'_> {
    /// Returns the workload's text for the slot.
    pub(crate) fn text(&self) -> SlotText {
        let values: Vec<Datum> = self
            .data
            .iter()
            .copied()
            .filter(|datum| *datum != Datum::Null)
            .collect();
        if values.is_empty() {
            return SlotText::plain("(NULL)");
        }
        if let Some(members) = self
            .column()
            .and_then(|(_, column, _)| enum_members(&column.full_type))
        {
            return SlotText::new("?", choice(&values, &members));
        }
        let numbers: Option<Vec<i64>> = match self.column() {
            Some((_, column, _)) if column.is_integer() => {
                values.iter().map(Datum::number).collect()
            }
            _ => values.iter().map(integer).collect(),
        };
        if let Some(numbers) = numbers {
            return self.integers(&numbers);
        }
        let moments: Vec<i64> = values.iter().filter_map(moment).collect();
        if moments.len() as f64 >= NEARLY_ALL * values.len() as f64 {
            return self.moments(&moments);
        }
        let scale = values.iter().filter_map(decimal_scale).max();
        let decimals: Option<Vec<i64>> = values
            .iter()
            .map(|value| scaled(value, scale.unwrap_or(0)))
            .collect();
        if let (Some(decimals), Some(scale)) = (decimals, scale) {
            return self.decimals(&decimals, scale);
        }
        self.texts(&values)
    }

    /// The column that it belongs to, with its table.
    fn column(&self) -> Option<(&TableFacts, &ColumnFacts, Purpose)> {
        let (name, purpose) = self.mark.column.as_ref()?;
        let table = self.tables.get(self.mark.table.as_ref()?)?;
        let column = table.columns.get(name).or_else(|| {
            let mut columns = table.columns.iter();
            columns
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, column)| column)
        })?;
        Some((table, column, *purpose))
    }

    fn column_name(&self) -> &str {
        self.mark.column.as_ref().map_or("", |(name, _)| name)
    }

    fn integers(&self, numbers: &[i64]) -> SlotText {
        let (least, most) = ends(numbers);
        if least == most && (0..=CONSTANT_MAX).contains(&least) {
            return SlotText::plain(least.to_string());
        }
        let is_key = |table: &TableFacts| {
            table
                .integer_key()
                .is_some_and(|key| key.eq_ignore_ascii_case(self.column_name()))
        };
        let (over, domain) = match self.column() {
            Some((table, _, Purpose::Inserted)) if is_key(table) => {
                return SlotText::new("?", new_numbers(numbers, table.rows));
            }
            Some((table, column, _)) if is_key(table) && column.range.is_some() => (
                Over::Table(table.name.clone()),
                Domain::of_key(table, column),
            ),
            Some((_, column, _)) if column.range.is_some() && is_within(column, numbers) => {
                let domain = Domain::of_column(column);
                (Over::Range(domain.first, domain.last()), domain)
            }
            _ => return self.unknown_integers(numbers),
        };
        let found: Vec<u32> = numbers.iter().map(|number| domain.key(*number)).collect();
        let fit = fit_keys(&found, domain.count, self.is_ordered);
        SlotText::fitted("?", keys(&over, &fit), fit)
    }

    /// Integers that belong to no column that is known.
    fn unknown_integers(&self, numbers: &[i64]) -> SlotText {
        let (least, most) = ends(numbers);
        // More integers than a key can have are taken so many at a time.
        let mut step = 1_i64;
        while (i128::from(most) - i128::from(least)) / i128::from(step) > i128::from(i32::MAX / 4) {
            step = step.saturating_mul(1_024);
        }
        let numbers: Vec<i64> = numbers
            .iter()
            .map(|number| number.div_euclid(step))
            .collect();
        let (source, fit) = self.range(&numbers);
        let sql = if step == 1 {
            "?".to_owned()
        } else {
            format!("(? * {step})")
        };
        SlotText::fitted(&sql, source, fit)
    }

    fn range(&self, numbers: &[i64]) -> (String, KeyFit) {
        let (least, most) = ends(numbers);
        let domain = Domain::rounded(least, most);
        let found: Vec<u32> = numbers.iter().map(|number| domain.key(*number)).collect();
        let fit = fit_keys(&found, domain.count, self.is_ordered);
        (keys(&Over::Range(domain.first, domain.last()), &fit), fit)
    }

    fn decimals(&self, units: &[i64], scale: u8) -> SlotText {
        let (source, fit) = self.range(units);
        let divisor = 10_i64.pow(u32::from(scale.min(6)));
        SlotText::fitted(&format!("(? / {divisor})"), source, fit)
    }

    /// Times: now, as long before now, or over a range.
    fn moments(&self, moments: &[i64]) -> SlotText {
        let ages: Vec<i64> = self
            .at_unix_us
            .iter()
            .zip(moments)
            .map(|(at, moment)| at - moment)
            .collect();
        // Whatever zone the client writes: it is off by whole quarters.
        let quarters: Vec<i64> = ages
            .iter()
            .map(|age| (age + QUARTER_US / 2).div_euclid(QUARTER_US))
            .collect();
        let first = quarters.first().copied().unwrap_or(0);
        let is_near = |(age, quarter): (&i64, &i64)| {
            *quarter == first && (age - quarter * QUARTER_US).abs() <= CLOCK_US
        };
        let near = ages
            .iter()
            .zip(&quarters)
            .filter(|pair| is_near(*pair))
            .count();
        if near as f64 >= NEARLY_ALL * ages.len() as f64 {
            if first.abs() <= ZONE_QUARTERS {
                return SlotText::new("?", quoted("now"));
            }
            let sign = if first < 0 { '+' } else { '-' };
            let minutes = first.abs() * 15;
            return SlotText::plain(format!("(NOW() {sign} INTERVAL {minutes} MINUTE)"));
        }
        let seconds: Vec<i64> = moments
            .iter()
            .map(|moment| moment.div_euclid(1_000_000))
            .collect();
        let (least, most) = ends(&seconds);
        let day = DAY_US / 1_000_000;
        let (least, most) = (
            least.div_euclid(day) * day,
            (most.div_euclid(day) + 1) * day,
        );
        let domain = Domain::rounded(least, most);
        let found: Vec<u32> = seconds.iter().map(|second| domain.key(*second)).collect();
        let fit = fit_keys(&found, domain.count, self.is_ordered);
        // Servers know no such times before 1970.
        let over = Over::Range(domain.first.max(1), domain.last().max(1));
        SlotText::fitted("(FROM_UNIXTIME(?))", keys(&over, &fit), fit)
    }

    fn texts(&self, values: &[Datum]) -> SlotText {
        let texts: Vec<TextDatum> = values.iter().filter_map(text).collect();
        let share = |of: fn(&TextDatum) -> bool| {
            texts.iter().filter(|text| of(text)).count() as f64 / texts.len().max(1) as f64
        };
        let begins_open = share(|text| text.open_ends.0) > 0.5;
        let ends_open = share(|text| text.open_ends.1) > 0.5;
        if begins_open || ends_open {
            let open = u32::from(begins_open) + u32::from(ends_open);
            let source = letters(&texts, open);
            let sql = match (begins_open, ends_open) {
                (true, true) => "(CONCAT('%', ?, '%'))",
                (true, false) => "(CONCAT('%', ?))",
                _ => "(CONCAT(?, '%'))",
            };
            return SlotText::new(sql, source);
        }
        match self.column() {
            Some((table, column, purpose)) if column.is_text() => {
                self.coded(table, column, purpose, &texts)
            }
            _ => SlotText::new("?", letters(&texts, 0)),
        }
    }

    /// Texts that a column of the fitted table has, too.
    fn coded(
        &self,
        table: &TableFacts,
        column: &ColumnFacts,
        purpose: Purpose,
        texts: &[TextDatum],
    ) -> SlotText {
        let Some(length) = code_length(table, column, self.column_name()) else {
            return SlotText::new("?", letters(texts, 0));
        };
        let is_unique = table
            .definition
            .unique
            .iter()
            .any(|name| name == self.column_name());
        if purpose == Purpose::Inserted && is_unique {
            let next = format!("{{ sequence = {} }}", table.rows + 1);
            return SlotText::new("?", code_of(length, &next));
        }
        // The order of texts is not known: each is a number in the order in which it came.
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let found: Vec<u32> = texts
            .iter()
            .map(|text| {
                let next = numbers.len() as u32 + 1;
                *numbers.entry(text.hash).or_insert(next)
            })
            .collect();
        let count = if is_unique {
            table.rows
        } else {
            column.distinct
        };
        let count = count.clamp(numbers.len() as u64, i32::MAX as u64).max(1);
        let fit = fit_keys(&found, count, false);
        let over = if is_unique {
            Over::Table(table.name.clone())
        } else {
            Over::Range(1, count.cast_signed())
        };
        let source = code_of(length, &keys(&over, &fit));
        SlotText::fitted("?", source, fit)
    }
}

/// Returns true if the numbers are those that the column has.
fn is_within(column: &ColumnFacts, numbers: &[i64]) -> bool {
    let domain = Domain::of_column(column);
    let within = numbers.iter().filter(|number| domain.has(**number)).count();
    within as f64 >= NEARLY_ALL * numbers.len() as f64
}

//! Tables as a workload file has them: the same definition, rows of the same number, values of the same kinds.

use std::fmt::Write as _;

use crate::fit::domain::Domain;
use crate::fit::enum_members::enum_members;
use crate::fit::key_fit::{KeyPlace, KeyShape, fit_keys};
use crate::fit::schema::{ColumnFacts, TableFacts};
use crate::fit::toml_text::{Over, keys, quoted};
use weir_model::Distribution;

/// Longest text that a number decides.
const CODE_MAX: u32 = 255;
/// A column with more NULLs than this share of its rows is left empty: there is no source of some.
const MOSTLY_NULL: f64 = 0.5;
/// Different times of a column.
const TIMES: i64 = 60;

/// The table, as a section of the file.
pub(crate) fn table(facts: &TableFacts) -> String {
    let mut text = format!(
        "[tables.{}]\nrows = {}\ncreate = {}\n",
        quoted(&facts.name),
        facts.rows.clamp(1, i32::MAX as u64),
        quoted(
            &facts
                .definition
                .create(&weir_mysql::identifier(&facts.name))
        )
    );
    for (name, column) in &facts.columns {
        if let Some(source) = source(facts, name, column) {
            let _ = writeln!(text, "columns.{} = {source}", quoted(name));
        }
    }
    let indexes: Vec<_> = facts
        .definition
        .indexes
        .iter()
        .map(|index| quoted(index))
        .collect();
    if !indexes.is_empty() {
        let _ = writeln!(text, "indexes = [{}]", indexes.join(", "));
    }
    text
}

/// Where a column's values come from; `None`: it gets its default.
fn source(table: &TableFacts, name: &str, column: &ColumnFacts) -> Option<String> {
    if column.is_generated || column.null_share > MOSTLY_NULL {
        return None;
    }
    // The last column of the key tells rows apart.
    let is_key = table
        .definition
        .primary
        .last()
        .is_some_and(|last| last == name);
    let is_unique = is_key || table.definition.unique.iter().any(|unique| unique == name);
    if column.is_integer() {
        if is_unique {
            return Some(quoted("row"));
        }
        return Some(integers(column));
    }
    if let Some(members) = enum_members(&column.full_type) {
        let weights: Vec<_> = members
            .iter()
            .map(|member| format!("{} = 1", quoted(member)))
            .collect();
        return Some(format!("{{ choice = {{ {} }} }}", weights.join(", ")));
    }
    if column.is_text() {
        return Some(text_source(table, name, column, is_unique));
    }
    if column.is_decimal() {
        let (least, most) = column.range?;
        let domain = Domain::rounded(least, most);
        return Some(format!(
            "{{ integer = [{}, {}] }}",
            domain.first,
            domain.last()
        ));
    }
    if column.is_date() {
        return Some(times(column));
    }
    match column.data_type.as_str() {
        "json" => Some("{ pattern = \"{}\" }".to_owned()),
        "time" => Some("{ pattern = \"10:00:0#\" }".to_owned()),
        "year" => Some("{ integer = [2000, 2026] }".to_owned()),
        "bit" => Some("{ integer = [0, 1] }".to_owned()),
        _ => None,
    }
}

/// Integers as often as the column has them: a search for one that many rows have must find many.
fn integers(column: &ColumnFacts) -> String {
    let domain = Domain::of_column(column);
    let (first, last) = (domain.first, domain.last());
    let found: Vec<u32> = column
        .integers
        .iter()
        .map(|integer| domain.key(*integer))
        .collect();
    let fit = fit_keys(&found, domain.count, true);
    if fit.shape == KeyShape::Distribution(Distribution::Uniform, KeyPlace::First) {
        return format!("{{ integer = [{first}, {last}] }}");
    }
    keys(&Over::Range(first, last), &fit)
}

fn text_source(table: &TableFacts, name: &str, column: &ColumnFacts, is_unique: bool) -> String {
    let (least, mean, most) = column.lengths.unwrap_or((1, 1, 1));
    match code_length(table, column, name) {
        Some(length) if is_unique => code_of(length, &quoted("row")),
        Some(length) => code_of(
            length,
            &format!(
                "{{ integer = [1, {}] }}",
                column.distinct.clamp(1, i32::MAX as u64)
            ),
        ),
        None => {
            // As many bytes in all: the table has as many pages.
            let half = mean.saturating_sub(least).min(most.saturating_sub(mean));
            format!(
                "{{ letters = [{}, {}] }}",
                (mean - half).min(65_535),
                (mean + half).min(65_535)
            )
        }
    }
}

/// Returns the length of a column's texts that a number decides. `None` if they are too long, or so many that letters
/// do.
pub(crate) fn code_length(table: &TableFacts, column: &ColumnFacts, name: &str) -> Option<usize> {
    let (_, mean, most) = column.lengths?;
    let is_unique = table.definition.unique.iter().any(|unique| unique == name)
        || table
            .definition
            .primary
            .last()
            .is_some_and(|last| last == name);
    let count = if is_unique {
        table.rows.saturating_mul(4)
    } else {
        column.distinct
    };
    let digits = (1..=16)
        .find(|digits| 16_u64.saturating_pow(*digits) > count)
        .unwrap_or(16);
    let is_looked_for = is_unique
        || table
            .definition
            .indexes
            .iter()
            .any(|index| index.contains(&format!("`{name}`")));
    if mean > CODE_MAX || !is_looked_for && column.distinct * 2 > table.rows {
        return None;
    }
    Some(mean.max(digits).min(most.max(digits)).clamp(1, CODE_MAX) as usize)
}

/// A text that a number decides.
pub(crate) fn code_of(length: usize, number: &str) -> String {
    format!("{{ code = {{ length = {length}, of = {number} }} }}")
}

/// Times between the column's first and last day.
fn times(column: &ColumnFacts) -> String {
    let day = 86_400;
    let (least, most) = column.range.unwrap_or((0, 0));
    let (first, last) = (
        least.div_euclid(day),
        most.div_euclid(day).max(least.div_euclid(day)),
    );
    let is_date = column.data_type == "date";
    let mut texts: Vec<String> = (0..TIMES)
        .map(|part| {
            let second = (first * day) + (last - first + 1) * day * part / TIMES;
            let moment = jiff::Timestamp::from_second(second).unwrap_or_default();
            let form = if is_date {
                "%Y-%m-%d"
            } else {
                "%Y-%m-%d %H:00:00"
            };
            format!("{} = 1", quoted(&moment.strftime(form).to_string()))
        })
        .collect();
    texts.dedup();
    format!("{{ choice = {{ {} }} }}", texts.join(", "))
}

//! Sources of values as a workload file writes them.

use weir_model::Distribution;

use crate::fit::key_fit::{KeyFit, KeyPlace, KeyShape};

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Keys of a table, or of integers from the first to the last.
pub(crate) fn keys(over: &Over, fit: &KeyFit) -> String {
    let over = match over {
        Over::Table(name) => format!("table = {}", quoted(name)),
        Over::Range(first, last) => format!("range = [{first}, {last}]"),
    };
    format!("{{ key = {{ {over}, {} }} }}", shape(&fit.shape))
}

/// Rows or numbers to which keys belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Over {
    Table(String),
    Range(i64, i64),
}

/// The distribution, as keys of a table in the file.
pub(crate) fn shape(shape: &KeyShape) -> String {
    let (distribution, place) = match shape {
        KeyShape::Histogram(weights) => {
            let weights: Vec<_> = weights.iter().map(u32::to_string).collect();
            return format!("weights = [{}]", weights.join(", "));
        }
        KeyShape::Distribution(distribution, place) => (distribution, place),
    };
    let name = distribution.name();
    let parameters = match distribution {
        Distribution::Uniform => String::new(),
        Distribution::Gaussian { iterations } => format!(", iterations = {iterations}"),
        Distribution::Special {
            iterations,
            hot_rows_percent,
            hot_keys_percent,
        } => format!(
            ", iterations = {iterations}, hot_rows_percent = {hot_rows_percent}, hot_keys_percent = {hot_keys_percent}"
        ),
        Distribution::Pareto { h } => format!(", h = {h}"),
        Distribution::Zipfian { exponent } => format!(", exponent = {exponent}"),
    };
    let place = match place {
        KeyPlace::First => "",
        KeyPlace::Last => ", order = \"descending\"",
        KeyPlace::Anywhere => ", order = \"scattered\"",
    };
    format!("distribution = \"{}\"{parameters}{place}", name.as_str())
}

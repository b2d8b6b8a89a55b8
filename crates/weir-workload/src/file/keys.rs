//! Keys as the file names them: over a table or a range, by a distribution or by weights.

use std::collections::BTreeMap;

use toml::Spanned;
use weir_model::{Distribution, DistributionOptions, nearest};

use super::format::{Key, Order, TableEntry};
use crate::distribution::KeyOrder;
use crate::{Generator, Keys};

impl Key {
    /// Draws them; `default` is the run's distribution.
    pub(super) fn generator(
        &self,
        tables: &BTreeMap<String, Spanned<TableEntry>>,
        default: Distribution,
    ) -> Result<Generator, String> {
        match (&self.table, self.range) {
            (Some(name), None) => {
                let Some(table) = tables.get(name) else {
                    let names = tables.keys().map(String::as_str);
                    return Err(unknown("table", name, names, "define it in [tables]"));
                };
                let keys = self.keys(table.get_ref().rows, default)?;
                Ok(Generator::Key(keys))
            }
            (None, Some([first, last])) => {
                let keys = self.keys(span(first, last)?, default)?;
                Ok(Generator::Integer { first, keys })
            }
            _ => Err("a key needs a table or a range, such as table = \"t\"; name one".to_owned()),
        }
    }

    fn keys(&self, rows: u64, default: Distribution) -> Result<Keys, String> {
        let named = match &self.weights {
            Some(weights) => {
                if self.distribution.is_some() {
                    return Err("a key has a distribution or weights; remove one".to_owned());
                }
                Keys::histogram(weights, rows).map_err(|error| error.to_string())?
            }
            None => keys(self.distribution(default), rows)?,
        };
        Ok(named.in_order(match self.order {
            Order::Ascending => KeyOrder::Ascending,
            Order::Descending => KeyOrder::Descending,
            Order::Scattered => KeyOrder::scattered(rows),
        }))
    }

    fn distribution(&self, default: Distribution) -> Distribution {
        let name = self.distribution.unwrap_or(default.name());
        let mut options = match self.distribution {
            Some(_) => DistributionOptions::default(),
            None => DistributionOptions::from_distribution(default),
        };
        let set = |option: &mut u32, value: Option<u32>| {
            *option = value.unwrap_or(*option);
        };
        set(&mut options.iterations, self.iterations);
        set(&mut options.hot_rows_percent, self.hot_rows_percent);
        set(&mut options.hot_keys_percent, self.hot_keys_percent);
        options.pareto_h = self.h.unwrap_or(options.pareto_h);
        options.zipfian_exponent = self.exponent.unwrap_or(options.zipfian_exponent);
        options.distribution(name)
    }
}

/// Keys of a distribution over so many rows.
pub(super) fn keys(distribution: Distribution, rows: u64) -> Result<Keys, String> {
    Keys::new(distribution, rows).map_err(|error| error.to_string())
}

/// Returns the number of integers from `first` to `last`.
pub(super) fn span(first: i64, last: i64) -> Result<u64, String> {
    let span = i128::from(last) - i128::from(first) + 1;
    u64::try_from(span)
        .ok()
        .filter(|span| (1..=i32::MAX as u64).contains(span))
        .ok_or_else(|| format!("[{first}, {last}] must ascend over at most 2147483647 integers"))
}

/// A name that means nothing.
pub(super) fn unknown<'b>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'b str>,
    remedy: &str,
) -> String {
    match nearest(name, known) {
        Some(near) => format!("no {what} `{name}`; did you mean `{near}`?"),
        None => format!("no {what} `{name}`; {remedy}"),
    }
}

//! sysbench's options of a workload by their names, as studies and command lines write them.

use super::{DistributionOptions, Mix};
use crate::nearest;

/// Options of sysbench for a workload: composition of transactions, and the parameters of key
/// distributions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SysbenchOptions {
    /// Number of statements of each kind in a transaction.
    pub mix: Mix,
    /// Parameters of distributions.
    pub distribution: DistributionOptions,
}

impl SysbenchOptions {
    /// Names of all options.
    pub const NAMES: [&str; 21] = [
        "range_size",
        "range_selects",
        "point_selects",
        "simple_ranges",
        "sum_ranges",
        "order_ranges",
        "distinct_ranges",
        "index_updates",
        "non_index_updates",
        "delete_inserts",
        "text_selects",
        "text_updates",
        "skip_trx",
        "random_points",
        "number_of_ranges",
        "delta",
        "rand_spec_iter",
        "rand_spec_pct",
        "rand_spec_res",
        "rand_pareto_h",
        "rand_zipfian_exp",
    ];

    /// Sets the option `name`; an error says what the value must be, or which name was meant.
    ///
    /// # Errors
    /// If the name is unknown, or the value none of it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let (mix, keys) = (&mut self.mix, &mut self.distribution);
        match name {
            "range_size" => mix.range_size = whole(value, 1, u32::MAX)?,
            "range_selects" => mix.range_selects = switch(value)?,
            "point_selects" => mix.point_selects = whole(value, 0, u32::MAX)?,
            "simple_ranges" => mix.simple_ranges = whole(value, 0, u32::MAX)?,
            "sum_ranges" => mix.sum_ranges = whole(value, 0, u32::MAX)?,
            "order_ranges" => mix.order_ranges = whole(value, 0, u32::MAX)?,
            "distinct_ranges" => mix.distinct_ranges = whole(value, 0, u32::MAX)?,
            "index_updates" => mix.index_updates = whole(value, 0, u32::MAX)?,
            "non_index_updates" => mix.non_index_updates = whole(value, 0, u32::MAX)?,
            "delete_inserts" => mix.delete_inserts = whole(value, 0, u32::MAX)?,
            "text_selects" => mix.text_selects = whole(value, 0, u32::MAX)?,
            "text_updates" => mix.text_updates = whole(value, 0, u32::MAX)?,
            "skip_trx" => mix.skip_transactions = switch(value)?,
            "random_points" => mix.random_points = whole(value, 1, Mix::RANDOM_POINTS_MAX)?,
            "number_of_ranges" => mix.random_ranges = whole(value, 1, Mix::RANDOM_RANGES_MAX)?,
            "delta" => mix.random_range_delta = whole(value, 0, u32::MAX)?,
            "rand_spec_iter" => keys.iterations = whole(value, 1, u32::MAX)?,
            "rand_spec_pct" => keys.hot_rows_percent = whole(value, 0, 100)?,
            "rand_spec_res" => keys.hot_keys_percent = whole(value, 0, 100)?,
            "rand_pareto_h" => keys.pareto_h = share(value)?,
            "rand_zipfian_exp" => keys.zipfian_exponent = above_zero(value)?,
            _ => {
                return Err(match nearest(name, Self::NAMES) {
                    Some(known) => format!("no option `{name}`; did you mean `{known}`?"),
                    None => format!("no option `{name}`; there are {}", Self::NAMES.join(", ")),
                });
            }
        }
        Ok(())
    }
}

fn whole(text: &str, min: u32, max: u32) -> Result<u32, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| match max {
        u32::MAX => format!("`{text}` must be a whole number from {min} on"),
        _ => format!("`{text}` must be a whole number from {min} to {max}"),
    })
}

/// A switch as command lines, option files and TOML have it.
fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` must be on or off")),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|share: &f64| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| format!("`{text}` must be a number between 0 and 1"))
}

fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| *number > 0.0 && number.is_finite())
        .ok_or_else(|| format!("`{text}` must be a number above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Distribution, DistributionName};

    #[test]
    fn every_name_is_an_option_that_takes_a_value() {
        for name in SysbenchOptions::NAMES {
            let changes = |value| {
                let mut options = SysbenchOptions::default();
                options.set(name, value).is_ok() && options != SysbenchOptions::default()
            };
            assert!(["0", "3", "0.5", "on"].into_iter().any(changes), "{name}");
            let wrong = SysbenchOptions::default().set(name, "some");
            assert!(wrong.unwrap_err().contains("`some`"));
        }
    }

    #[test]
    fn parameters_go_to_their_distribution() {
        let mut options = SysbenchOptions::default();
        options.set("rand_zipfian_exp", "0.5").unwrap();
        options.set("skip_trx", "ON").unwrap();
        let keys = options.distribution.distribution(DistributionName::Zipfian);
        assert_eq!(keys, Distribution::Zipfian { exponent: 0.5 });
        assert!(options.mix.skip_transactions);
        let back = DistributionOptions::from_distribution(keys);
        assert_eq!(back, options.distribution);
    }

    #[test]
    fn a_misspelt_option_is_named_with_the_nearest() {
        let error = SysbenchOptions::default()
            .set("range_sise", "7")
            .unwrap_err();
        assert_eq!(error, "no option `range_sise`; did you mean `range_size`?");
    }
}

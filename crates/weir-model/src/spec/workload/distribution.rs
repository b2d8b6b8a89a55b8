//! Distribution of the rows that are asked for.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::nearest;

/// Distribution of keys over a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Distribution {
    /// All rows alike.
    Uniform,
    /// The mean of so many uniform numbers: a bell over the middle of the table.
    Gaussian {
        /// Numbers that are averaged.
        iterations: u32,
    },
    /// sysbench 1.0's default: most keys fall evenly on a hot middle, the others on a bell.
    Special {
        /// Numbers that are averaged for the bell.
        iterations: u32,
        /// Width of the window in the middle, percent of the rows.
        hot_rows_percent: u32,
        /// Share of the keys that fall into the window, percent, and share of the window that
        /// they fall on.
        hot_keys_percent: u32,
    },
    /// Self-similar: a share `1 - h` of the keys falls on a share `h` of the rows, again and again.
    Pareto {
        /// The share, in (0, 1).
        h: f64,
    },
    /// The n-th row is asked for in proportion to n to the power of minus `exponent`.
    Zipfian {
        /// The exponent, above 0.
        exponent: f64,
    },
}

impl Distribution {
    /// Returns its name, without its parameters.
    pub fn name(self) -> DistributionName {
        match self {
            Self::Uniform => DistributionName::Uniform,
            Self::Gaussian { .. } => DistributionName::Gaussian,
            Self::Special { .. } => DistributionName::Special,
            Self::Pareto { .. } => DistributionName::Pareto,
            Self::Zipfian { .. } => DistributionName::Zipfian,
        }
    }
}

impl Default for Distribution {
    /// sysbench 1.0's.
    fn default() -> Self {
        DistributionName::default().into()
    }
}

impl From<DistributionName> for Distribution {
    /// With sysbench's default parameters.
    fn from(name: DistributionName) -> Self {
        DistributionOptions::default().distribution(name)
    }
}

/// Parameters of all distributions, with sysbench's defaults; each distribution takes its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistributionOptions {
    /// Numbers that `gaussian` and `special` average.
    pub iterations: u32,
    /// Width of the window of `special`, percent of the rows.
    pub hot_rows_percent: u32,
    /// Share of the keys of `special` that fall into it, percent.
    pub hot_keys_percent: u32,
    /// Share of `pareto`.
    pub pareto_h: f64,
    /// Exponent of `zipfian`.
    pub zipfian_exponent: f64,
}

impl Default for DistributionOptions {
    fn default() -> Self {
        Self {
            iterations: 12,
            hot_rows_percent: 1,
            hot_keys_percent: 75,
            pareto_h: 0.2,
            zipfian_exponent: 0.8,
        }
    }
}

impl DistributionOptions {
    /// The distribution of this name with its parameters.
    pub fn distribution(self, name: DistributionName) -> Distribution {
        let iterations = self.iterations;
        match name {
            DistributionName::Uniform => Distribution::Uniform,
            DistributionName::Gaussian => Distribution::Gaussian { iterations },
            DistributionName::Special => Distribution::Special {
                iterations,
                hot_rows_percent: self.hot_rows_percent,
                hot_keys_percent: self.hot_keys_percent,
            },
            DistributionName::Pareto => Distribution::Pareto { h: self.pareto_h },
            DistributionName::Zipfian => Distribution::Zipfian {
                exponent: self.zipfian_exponent,
            },
        }
    }

    /// The parameters of `distribution`, and the defaults of the others.
    pub fn from_distribution(distribution: Distribution) -> Self {
        let mut options = Self::default();
        match distribution {
            Distribution::Uniform => {}
            Distribution::Gaussian { iterations } => options.iterations = iterations,
            Distribution::Special {
                iterations,
                hot_rows_percent,
                hot_keys_percent,
            } => {
                options.iterations = iterations;
                options.hot_rows_percent = hot_rows_percent;
                options.hot_keys_percent = hot_keys_percent;
            }
            Distribution::Pareto { h } => options.pareto_h = h,
            Distribution::Zipfian { exponent } => options.zipfian_exponent = exponent,
        }
        options
    }
}

/// Distribution of keys over rows, by the names of sysbench's `--rand-type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DistributionName {
    /// All rows alike.
    Uniform,
    /// A bell over the middle of the table.
    Gaussian,
    /// A hot window in the middle: the default of sysbench 1.0.
    #[default]
    Special,
    /// Self-similar: a fifth of the rows gets four fifths of the keys, again and again.
    Pareto,
    /// By rank, with exponent 0.8.
    Zipfian,
}

impl DistributionName {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Uniform,
        Self::Gaussian,
        Self::Special,
        Self::Pareto,
        Self::Zipfian,
    ];

    /// sysbench's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Gaussian => "gaussian",
            Self::Special => "special",
            Self::Pareto => "pareto",
            Self::Zipfian => "zipfian",
        }
    }
}

impl FromStr for DistributionName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str);
        let found = Self::ALL.into_iter().find(|name| name.as_str() == text);
        found.ok_or_else(|| match nearest(text, known) {
            Some(name) => format!("no distribution `{text}`; did you mean `{name}`?"),
            None => format!("no distribution `{text}`; there are {}", known.join(", ")),
        })
    }
}

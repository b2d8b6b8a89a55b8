//! Distribution of the rows that are asked for.
//!
//! Each distribution maps random numbers to keys `1..=rows`. `gaussian` and `pareto` follow
//! sysbench's documentation (for the latter: Gray et al. 1994, "Quickly generating billion-record
//! synthetic databases", self-similar), `zipfian` is by rejection-inversion (Hormann and
//! Derflinger 1996). `special` was fitted to what sysbench 1.0.20 prints: 300,000 keys at each of
//! seven settings agree with it within the 1 % Kolmogorov-Smirnov distance. The window of
//! `pct` percent of the rows, one row wider, lies in the middle, but only its upper `res` percent
//! are hit: at the defaults 0.75 %, not 1 %, of the rows get 75 % of the keys.

mod share;
mod zipf;

use std::sync::Arc;

use zipf::Zipf;

use weir_model::Distribution;

use super::{Rng, Unique, seeded};
use crate::WorkloadError;
pub use share::share_up_to;

/// The keys that a load asks for, `1..=rows`, one after the other and without end: for a caller that
/// simulates a load.
#[derive(Debug, Clone)]
pub struct KeyStream {
    keys: Keys,
    rng: Rng,
}

impl KeyStream {
    /// Keys over `rows` rows; the same for the same seed.
    ///
    /// # Errors
    ///
    /// Parameters that the distribution does not allow, or no rows.
    pub fn new(distribution: Distribution, rows: u64, seed: u64) -> Result<Self, WorkloadError> {
        Ok(Self {
            keys: Keys::new(distribution, rows)?,
            rng: seeded(seed, 0),
        })
    }
}

impl Iterator for KeyStream {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        Some(self.keys.next(&mut self.rng))
    }
}

/// A distribution over a table of known size.
#[derive(Debug, Clone)]
pub struct Keys {
    rows: u64,
    shape: Shape,
    order: KeyOrder,
    /// None: a histogram.
    distribution: Option<Distribution>,
}

/// Order of the keys that are asked for most.
#[derive(Debug, Clone, Default)]
pub enum KeyOrder {
    /// Order of the distribution.
    #[default]
    Ascending,
    /// The other way round: the first key is the last row.
    Descending,
    /// Anywhere: each key is another row's, always the same one.
    Scattered(Arc<Unique>),
}

impl KeyOrder {
    /// Keys of so many rows, scattered; the same for every run.
    pub fn scattered(rows: u64) -> Self {
        Self::Scattered(Arc::new(Unique::new(1, rows, 0)))
    }

    /// The row of a key.
    fn row(&self, key: u32, rows: u64) -> u32 {
        match self {
            Self::Ascending => key,
            Self::Descending => (rows + 1 - u64::from(key)) as u32,
            Self::Scattered(unique) => unique
                .number(u64::from(key) - 1)
                .and_then(|row| u32::try_from(row).ok())
                .unwrap_or(key),
        }
    }
}

#[derive(Debug, Clone)]
enum Shape {
    Uniform,
    Gaussian {
        iterations: u32,
    },
    Special {
        iterations: u32,
        hot: HotRows,
        hot_keys_percent: u64,
    },
    Pareto {
        power: f64,
    },
    Zipfian(Zipf),
    /// Equal parts of the table, with the sums of their weights.
    Histogram(Arc<Vec<u64>>),
}

/// The hot rows of `special`, counted from 0, with fractions.
#[derive(Debug, Clone, Copy)]
struct HotRows {
    start: f64,
    width: f64,
}

impl HotRows {
    fn new(rows: f64, rows_percent: u64, keys_percent: u64) -> Self {
        let window = rows * rows_percent as f64 / 100.0 + 1.0;
        let width = window * keys_percent as f64 / 100.0;
        Self {
            start: rows / 2.0 + window / 2.0 - width,
            width,
        }
    }
}

impl Keys {
    /// Keys over `rows` rows.
    ///
    /// # Errors
    ///
    /// Parameters that the distribution does not allow, or no rows.
    pub fn new(distribution: Distribution, rows: u64) -> Result<Self, WorkloadError> {
        check_rows(rows)?;
        let shape = match distribution {
            Distribution::Uniform => Shape::Uniform,
            Distribution::Gaussian { iterations } => Shape::Gaussian {
                iterations: at_least_one(iterations)?,
            },
            Distribution::Special {
                iterations,
                hot_rows_percent,
                hot_keys_percent,
            } => Shape::Special {
                iterations: at_least_one(iterations)?,
                hot: HotRows::new(
                    rows as f64,
                    percent("hot rows", hot_rows_percent)?,
                    percent("hot keys", hot_keys_percent)?,
                ),
                hot_keys_percent: percent("hot keys", hot_keys_percent)?,
            },
            Distribution::Pareto { h } if h > 0.0 && h < 1.0 => Shape::Pareto {
                power: h.ln() / (1.0 - h).ln(),
            },
            Distribution::Pareto { h } => {
                return Err(setting("pareto h", h, "must be between 0 and 1"));
            }
            Distribution::Zipfian { exponent } if exponent > 0.0 && exponent.is_finite() => {
                Shape::Zipfian(Zipf::new(rows, exponent))
            }
            Distribution::Zipfian { exponent } => {
                return Err(setting("zipfian exponent", exponent, "must be above 0"));
            }
        };
        Ok(Self {
            rows,
            shape,
            order: KeyOrder::Ascending,
            distribution: Some(distribution),
        })
    }

    /// Keys over `rows` rows: as many equal parts of the table as there are weights, all rows of a part alike.
    ///
    /// # Errors
    ///
    /// No weight above 0, or more weights than rows.
    pub fn histogram(weights: &[u32], rows: u64) -> Result<Self, WorkloadError> {
        check_rows(rows)?;
        let mut sum = 0;
        let up_to: Vec<u64> = weights
            .iter()
            .map(|weight| {
                sum += u64::from(*weight);
                sum
            })
            .collect();
        if sum == 0 || weights.len() as u64 > rows {
            return Err(WorkloadError::Setting {
                setting: "weights",
                value: weights.len().to_string(),
                why: "must be 1 or more, at most one for each row, and not all 0",
            });
        }
        Ok(Self {
            rows,
            shape: Shape::Histogram(Arc::new(up_to)),
            order: KeyOrder::Ascending,
            distribution: None,
        })
    }

    /// The same keys in another order of the rows.
    #[must_use]
    pub fn in_order(self, order: KeyOrder) -> Self {
        Self { order, ..self }
    }

    /// The share of the keys that are at most `key`, which may lie between two rows; of scattered keys, before they are.
    pub fn share_up_to(&self, key: f64) -> f64 {
        let rows = self.rows as f64;
        let share = |key: f64| match (&self.shape, self.distribution) {
            (Shape::Histogram(up_to), _) => {
                let at = (key / rows * up_to.len() as f64).clamp(0.0, up_to.len() as f64);
                let part = (at as usize).min(up_to.len() - 1);
                let before = part.checked_sub(1).map_or(0, |before| up_to[before]) as f64;
                let within = up_to[part] as f64 - before;
                (before + within * (at - part as f64)) / up_to[up_to.len() - 1] as f64
            }
            (_, Some(distribution)) => share_up_to(distribution, key, rows),
            (_, None) => key / rows,
        };
        match self.order {
            KeyOrder::Descending => 1.0 - share(rows - key),
            KeyOrder::Ascending | KeyOrder::Scattered(_) => share(key),
        }
    }

    /// Returns true if keys stand anywhere.
    pub fn is_scattered(&self) -> bool {
        matches!(self.order, KeyOrder::Scattered(_))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The next key, `1..=rows`.
    pub fn next(&self, rng: &mut Rng) -> u32 {
        let rows = self.rows as f64;
        let key = match &self.shape {
            Shape::Uniform => rng.below(self.rows),
            Shape::Gaussian { iterations } => (bell(rng, *iterations) * rows) as u64,
            Shape::Special {
                iterations,
                hot,
                hot_keys_percent,
            } => {
                if rng.below(100) < *hot_keys_percent {
                    (hot.start + rng.unit() * hot.width) as u64
                } else {
                    (bell(rng, *iterations) * rows) as u64
                }
            }
            Shape::Pareto { power } => (rng.unit().powf(*power) * rows) as u64,
            Shape::Zipfian(zipf) => zipf.next(rng) - 1,
            Shape::Histogram(up_to) => {
                let part = rng.choose_by_weight(up_to) as u64;
                let border = |part: u64| {
                    (u128::from(part) * u128::from(self.rows) / up_to.len() as u128) as u64
                };
                let (from, to) = (border(part), border(part + 1));
                from + rng.below(to - from)
            }
        };
        // Rounding may reach the end of the range.
        let key = 1 + key.min(self.rows - 1) as u32;
        self.order.row(key, self.rows)
    }
}

fn check_rows(rows: u64) -> Result<(), WorkloadError> {
    if rows == 0 || rows > i32::MAX as u64 {
        return Err(WorkloadError::Setting {
            setting: "rows",
            value: rows.to_string(),
            why: "must be 1 to 2147483647, the range of an INTEGER key",
        });
    }
    Ok(())
}

/// The mean of `iterations` uniform numbers, in [0, 1).
fn bell(rng: &mut Rng, iterations: u32) -> f64 {
    let sum: f64 = (0..iterations).map(|_| rng.unit()).sum();
    sum / f64::from(iterations)
}

fn at_least_one(iterations: u32) -> Result<u32, WorkloadError> {
    if iterations == 0 {
        return Err(setting("iterations", 0.0, "must be at least 1"));
    }
    Ok(iterations)
}

fn percent(name: &'static str, value: u32) -> Result<u64, WorkloadError> {
    if value > 100 {
        return Err(setting(name, f64::from(value), "must be 0 to 100 percent"));
    }
    Ok(u64::from(value))
}

fn setting(setting: &'static str, value: f64, why: &'static str) -> WorkloadError {
    WorkloadError::Setting {
        setting,
        value: value.to_string(),
        why,
    }
}

#[cfg(test)]
mod tests;

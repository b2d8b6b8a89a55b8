//! Which rows are asked for.
//!
//! Each distribution maps random numbers to keys `1..=rows`. `gaussian` and `pareto` follow
//! sysbench's documentation (for the latter: Gray et al. 1994, "Quickly generating billion-record
//! synthetic databases", self-similar), `zipfian` is by rejection-inversion (Hormann and
//! Derflinger 1996). `special` was fitted to what sysbench 1.0.20 prints: 300,000 keys at each of
//! seven settings agree with it within the 1 % Kolmogorov-Smirnov distance. The window of
//! `pct` percent of the rows, one row wider, lies in the middle, but only its upper `res` percent
//! are hit: at the defaults 0.75 %, not 1 %, of the rows get 75 % of the keys.

mod zipf;

use zipf::Zipf;

use weir_model::Distribution;

use super::{Rng, seeded};
use crate::WorkloadError;

/// The keys that a load asks for, `1..=rows`, one after the other and without end: for whoever
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
        if rows == 0 || rows > i32::MAX as u64 {
            return Err(WorkloadError::Setting {
                setting: "rows",
                value: rows.to_string(),
                why: "must be 1 to 2147483647, the range of an INTEGER key",
            });
        }
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
        Ok(Self { rows, shape })
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
        };
        // Rounding may reach the end of the range.
        1 + key.min(self.rows - 1) as u32
    }
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

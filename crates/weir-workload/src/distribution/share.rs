//! The share of the keys below a place of the table, for each distribution of the load engine.

use statrs::function::erf::erfc;
use weir_model::Distribution;

/// Ranks of a zipfian distribution that are summed one by one; after them the integral from half a
/// rank below is exact to 1e-6 of the sum.
const RANKS_SUMMED: u64 = 32;
/// Uniform numbers in a mean for which the alternating sum keeps nine digits.
const SUMMED_MAX: u32 = 16;

/// The share of the keys that are at most `key` of `rows`; `key` may lie between two rows.
pub fn share_up_to(distribution: Distribution, key: f64, rows: f64) -> f64 {
    let place = (key / rows).clamp(0.0, 1.0);
    match distribution {
        Distribution::Uniform => place,
        Distribution::Pareto { h } => place.powf((1.0 - h).ln() / h.ln()),
        Distribution::Zipfian { exponent } => {
            zipfian_sum(key.min(rows), exponent) / zipfian_sum(rows, exponent)
        }
        Distribution::Gaussian { iterations } => bell(place, iterations),
        Distribution::Special {
            iterations,
            hot_rows_percent,
            hot_keys_percent,
        } => {
            let hot = f64::from(hot_keys_percent) / 100.0;
            let window = f64::from(hot_rows_percent) / 100.0;
            // As the load engine has it: the upper part of a window in the middle.
            let start = 0.5 + window / 2.0 - window * hot;
            let in_window = if window * hot > 0.0 {
                ((place - start) / (window * hot)).clamp(0.0, 1.0)
            } else {
                f64::from(u8::from(place >= start))
            };
            hot * in_window + (1.0 - hot) * bell(place, iterations)
        }
    }
}

/// Sum of `rank^-exponent` over the ranks up to `rank`.
fn zipfian_sum(rank: f64, exponent: f64) -> f64 {
    let summed = (rank as u64).min(RANKS_SUMMED);
    let sum: f64 = (1..=summed).map(|rank| (rank as f64).powf(-exponent)).sum();
    let from = summed as f64 + 0.5;
    let to = rank + 0.5;
    if to <= from {
        return sum;
    }
    let power = 1.0 - exponent;
    if power.abs() < 1e-9 {
        sum + (to / from).ln()
    } else {
        sum + (to.powf(power) - from.powf(power)) / power
    }
}

/// The share of means of `count` uniform numbers that lie below `place`: Irwin and Hall's sum
/// (1927), or the normal distribution with their variance when they are many.
fn bell(place: f64, count: u32) -> f64 {
    if place > 0.5 {
        return 1.0 - bell(1.0 - place, count);
    }
    let n = f64::from(count);
    if count > SUMMED_MAX {
        return normal(place, n);
    }
    let at = place * n;
    let mut choose_over_factorial: f64 = (1..=count).map(|k| 1.0 / f64::from(k)).product();
    let mut sum = 0.0;
    for k in 0..=(at as u32) {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * choose_over_factorial * (at - f64::from(k)).powf(n);
        choose_over_factorial *= f64::from(count - k) / f64::from(k + 1);
    }
    sum.clamp(0.0, 1.0)
}

/// The same with the normal distribution of variance 1/12n.
fn normal(place: f64, n: f64) -> f64 {
    erfc((0.5 - place) * (6.0 * n).sqrt()) / 2.0
}

#[cfg(test)]
mod tests {
    use crate::KeyStream;

    use super::*;

    const ALL: [Distribution; 5] = [
        Distribution::Uniform,
        Distribution::Gaussian { iterations: 12 },
        Distribution::Special {
            iterations: 12,
            hot_rows_percent: 1,
            hot_keys_percent: 75,
        },
        Distribution::Pareto { h: 0.2 },
        Distribution::Zipfian { exponent: 0.8 },
    ];

    /// The load engine's keys and these shares agree: Kolmogorov and Smirnov's distance of 200,000
    /// keys, whose 1 % level is 1.63 / sqrt(200,000) = 0.0036.
    #[test]
    fn the_shares_are_those_of_the_load_engines_keys() {
        const KEYS: usize = 200_000;
        const ROWS: usize = 30_000;
        for distribution in ALL {
            let mut counts = vec![0_u32; ROWS + 1];
            let keys = KeyStream::new(distribution, ROWS as u64, 7).unwrap();
            for key in keys.take(KEYS) {
                counts[key as usize] += 1;
            }
            let mut below = 0;
            let mut distance: f64 = 0.0;
            for (key, count) in counts.iter().enumerate() {
                below += count;
                let share = share_up_to(distribution, key as f64, ROWS as f64);
                distance = distance.max((f64::from(below) / KEYS as f64 - share).abs());
            }
            assert!(distance < 0.0036, "{distribution:?}: {distance}");
        }
    }

    #[test]
    fn the_exact_bell_and_the_normal_one_meet() {
        for place in [0.1, 0.3, 0.45, 0.5, 0.6, 0.9] {
            let exact = bell(place, SUMMED_MAX);
            let normal = normal(place, f64::from(SUMMED_MAX));
            assert!((exact - normal).abs() < 0.002, "{place}: {exact} {normal}");
        }
    }
}

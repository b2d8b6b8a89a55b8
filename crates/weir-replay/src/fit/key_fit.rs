//! Which distribution keys follow: each family's likeliest member is compared by keys that its fit did not see.
//!
//! Keys are counted in bins that are narrow where families differ. A family's mass of a bin is that of the load
//! engine's own distribution. Where the keys that are asked for most lie anywhere, the exponent follows from how often
//! two keys are the same (a moment that is not biased by keys that were never seen).

mod bins;
mod scattered;

use weir_model::Distribution;
use weir_workload::share_up_to;

use bins::Bins;

/// Fewer keys tell no distribution.
const KEYS_MIN: usize = 50;
/// Of so many keys one is held out.
const HELD_OUT: u32 = 5;
/// Parts of a histogram, at most.
const PARTS_MAX: u64 = 200;
/// Keys for a part of a histogram, at least on average.
const KEYS_PER_PART: usize = 20;
/// A family that is this much likelier is worth another parameter (nats).
const LIKELIER: f64 = 3.0;
/// Least mass of a bin in a likelihood.
const MASS_MIN: f64 = 1e-12;

/// Distribution of keys over rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum KeyShape {
    /// As one of the load engine's distributions, from the first row or from the last.
    Distribution(Distribution, KeyPlace),
    /// Weights of equal parts.
    Histogram(Vec<u32>),
}

/// Where the keys that are asked for most stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    First,
    Last,
    Anywhere,
}

/// A fit and how far off it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeyFit {
    pub(crate) shape: KeyShape,
    /// Kolmogorov and Smirnov's distance: of the keys, or of the shares of the most asked for if these lie anywhere.
    pub(crate) distance: f64,
    pub(crate) keys: usize,
}

/// Fits keys of `1..=rows`. `is_ordered`: their order means something.
pub(crate) fn fit_keys(keys: &[u32], rows: u64, is_ordered: bool) -> KeyFit {
    let bins = Bins::new(rows);
    let all = bins.count(keys.iter().copied());
    let uniform = Candidate::new(Distribution::Uniform, false, &bins);
    if keys.len() < KEYS_MIN {
        return KeyFit {
            shape: KeyShape::Distribution(Distribution::Uniform, KeyPlace::First),
            distance: uniform.distance(&all),
            keys: keys.len(),
        };
    }
    let split = |held_out: bool| {
        let chosen = keys.iter().enumerate();
        chosen
            .filter(move |(at, _)| is_held_out(*at) == held_out)
            .map(|(_, key)| *key)
    };
    let (seen, held_out) = (bins.count(split(false)), bins.count(split(true)));
    let best = match is_ordered.then(|| best_in_order(&bins, uniform.clone(), &seen, &held_out)) {
        // Once it is chosen, it may see all keys.
        Some(best) if matches!(best.shape, KeyShape::Histogram(_)) => histogram(&bins, &all),
        Some(best) => best,
        None => uniform,
    };
    let place_collisions = bins.collisions(&best.masses);
    if let Some(fit) = scattered::fit(keys, rows, place_collisions) {
        return fit;
    }
    KeyFit {
        distance: best.distance(&all),
        shape: best.shape,
        keys: keys.len(),
    }
}

/// Anyhow, but the same each time: sessions that take turns must not decide it.
fn is_held_out(at: usize) -> bool {
    ((at as u32).wrapping_mul(0x9E37_79B9) >> 16).is_multiple_of(HELD_OUT)
}

fn best_in_order(bins: &Bins, uniform: Candidate, seen: &[u64], held_out: &[u64]) -> Candidate {
    let mut best = uniform;
    let mut best_likelihood = best.log_likelihood(held_out);
    let take = |candidate: Candidate, best: &mut Candidate, best_likelihood: &mut f64| {
        let likelihood = candidate.log_likelihood(held_out);
        if likelihood > *best_likelihood + LIKELIER {
            (*best, *best_likelihood) = (candidate, likelihood);
        }
    };
    let histogram = histogram(bins, seen);
    // Nothing of more parameters is tried on keys that all rows get alike.
    if histogram.log_likelihood(held_out) < best_likelihood - LIKELIER * 10.0 {
        return best;
    }
    for is_reversed in [false, true] {
        let zipfian = |exponent: f64| Distribution::Zipfian { exponent };
        let pareto = |h: f64| Distribution::Pareto { h };
        for candidate in [
            likeliest(bins, seen, is_reversed, (0.05, 3.0), zipfian),
            likeliest(bins, seen, is_reversed, (0.005, 0.49), pareto),
        ] {
            take(candidate, &mut best, &mut best_likelihood);
        }
    }
    for iterations in [2, 3, 4, 6, 8, 12, 16, 24, 32, 48] {
        let gaussian = Distribution::Gaussian { iterations };
        take(
            Candidate::new(gaussian, false, bins),
            &mut best,
            &mut best_likelihood,
        );
    }
    take(special(bins, seen), &mut best, &mut best_likelihood);
    take(histogram, &mut best, &mut best_likelihood);
    best
}

/// A distribution with its masses of the bins.
#[derive(Debug, Clone)]
struct Candidate {
    shape: KeyShape,
    masses: Vec<f64>,
}

impl Candidate {
    fn new(distribution: Distribution, is_reversed: bool, bins: &Bins) -> Self {
        let rows = bins.rows as f64;
        let up_to = |edge: u64| {
            let edge = edge as f64;
            if is_reversed {
                1.0 - share_up_to(distribution, rows - edge, rows)
            } else {
                share_up_to(distribution, edge, rows)
            }
        };
        let place = if is_reversed {
            KeyPlace::Last
        } else {
            KeyPlace::First
        };
        Self {
            shape: KeyShape::Distribution(distribution, place),
            masses: bins.masses(up_to),
        }
    }

    fn log_likelihood(&self, counts: &[u64]) -> f64 {
        let pairs = self
            .masses
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count > 0);
        pairs
            .map(|(mass, count)| *count as f64 * mass.max(MASS_MIN).ln())
            .sum()
    }

    /// The largest difference of the shares below a bin's edge.
    fn distance(&self, counts: &[u64]) -> f64 {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        let (mut below, mut share, mut distance) = (0.0, 0.0, 0.0_f64);
        for (mass, count) in self.masses.iter().zip(counts) {
            below += *count as f64 / total;
            share += mass;
            distance = distance.max((below - share).abs());
        }
        distance
    }
}

/// The parameter that makes the counts likeliest, by golden sections.
fn likeliest(
    bins: &Bins,
    counts: &[u64],
    is_reversed: bool,
    (mut low, mut high): (f64, f64),
    of: impl Fn(f64) -> Distribution,
) -> Candidate {
    const RATIO: f64 = 0.618_033_988_749_895;
    // Together they narrow the range to a thousandth.
    const STEPS: usize = 17;
    let likelihood = |at: f64| Candidate::new(of(at), is_reversed, bins).log_likelihood(counts);
    let (mut left, mut right) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut of_left, mut of_right) = (likelihood(left), likelihood(right));
    for _ in 0..STEPS {
        if of_left > of_right {
            (high, right, of_right) = (right, left, of_left);
            left = high - RATIO * (high - low);
            of_left = likelihood(left);
        } else {
            (low, left, of_left) = (left, right, of_right);
            right = low + RATIO * (high - low);
            of_right = likelihood(right);
        }
    }
    let found = (f64::midpoint(low, high) * 1_000.0).round() / 1_000.0;
    Candidate::new(of(found), is_reversed, bins)
}

/// The likeliest hot window in the middle, on a grid that becomes finer.
fn special(bins: &Bins, counts: &[u64]) -> Candidate {
    let of = |rows: u32, keys: u32| {
        let special = Distribution::Special {
            iterations: 12,
            hot_rows_percent: rows,
            hot_keys_percent: keys,
        };
        Candidate::new(special, false, bins)
    };
    let mut best = (1, 75);
    let mut found = of(best.0, best.1);
    let mut likelihood = found.log_likelihood(counts);
    let mut attempt = |rows: u32, keys: u32, best: &mut (u32, u32)| {
        if !(1..=100).contains(&rows) || !(1..=99).contains(&keys) {
            return;
        }
        let candidate = of(rows, keys);
        let of_candidate = candidate.log_likelihood(counts);
        if of_candidate > likelihood {
            (found, likelihood, *best) = (candidate, of_candidate, (rows, keys));
        }
    };
    for rows in [1, 2, 4, 8, 16, 32] {
        for keys in [15, 35, 55, 75, 90] {
            attempt(rows, keys, &mut best);
        }
    }
    for step in [4, 2, 1] {
        let (rows, keys) = best;
        for row_step in [-1_i64, 0, 1] {
            for key_step in [-2_i64, -1, 0, 1, 2] {
                let near = |at: u32, by: i64| u32::try_from(i64::from(at) + by * step).unwrap_or(0);
                attempt(near(rows, row_step), near(keys, key_step), &mut best);
            }
        }
    }
    found
}

fn histogram(bins: &Bins, counts: &[u64]) -> Candidate {
    let total = counts.iter().sum::<u64>();
    let parts = (total / KEYS_PER_PART as u64)
        .clamp(1, PARTS_MAX)
        .min(bins.rows);
    let weights = bins.parts(counts, parts);
    // A part that no key fell on may get some all the same.
    let sum: f64 = weights.iter().map(|weight| weight + 0.5).sum();
    let mut up_to = vec![0.0];
    for weight in &weights {
        up_to.push(up_to[up_to.len() - 1] + (weight + 0.5) / sum);
    }
    let share = |edge: u64| {
        let at = edge as f64 / bins.rows as f64 * parts as f64;
        let part = (at as usize).min(weights.len() - 1);
        up_to[part] + (up_to[part + 1] - up_to[part]) * (at - part as f64).min(1.0)
    };
    Candidate {
        masses: bins.masses(share),
        shape: KeyShape::Histogram(weights.iter().map(|weight| weight.round() as u32).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_workload::{KeyOrder, KeyStream, Keys, seeded};

    const ROWS: u64 = 100_000;
    const KEYS: usize = 20_000;

    fn stream(distribution: Distribution) -> Vec<u32> {
        KeyStream::new(distribution, ROWS, 7)
            .unwrap()
            .take(KEYS)
            .collect()
    }

    #[test]
    fn the_load_engines_distributions_are_named_with_their_parameters() {
        for distribution in [
            Distribution::Uniform,
            Distribution::Zipfian { exponent: 0.8 },
            Distribution::Zipfian { exponent: 1.2 },
            Distribution::Pareto { h: 0.2 },
            Distribution::Gaussian { iterations: 12 },
            Distribution::default(),
        ] {
            let fit = fit_keys(&stream(distribution), ROWS, true);
            let KeyShape::Distribution(found, KeyPlace::First) = fit.shape else {
                panic!("{distribution:?}: {fit:?}");
            };
            assert!(fit.distance < 0.015, "{distribution:?}: {}", fit.distance);
            let near = |found: f64, real: f64| {
                assert!((found / real - 1.0).abs() < 0.05, "{found} {real}");
            };
            match (found, distribution) {
                (Distribution::Zipfian { exponent: a }, Distribution::Zipfian { exponent: b })
                | (Distribution::Pareto { h: a }, Distribution::Pareto { h: b }) => near(a, b),
                (
                    Distribution::Special {
                        hot_rows_percent: a,
                        hot_keys_percent: c,
                        ..
                    },
                    Distribution::Special {
                        hot_rows_percent: b,
                        hot_keys_percent: d,
                        ..
                    },
                ) => {
                    near(f64::from(a), f64::from(b));
                    near(f64::from(c), f64::from(d));
                }
                (found, real) => assert_eq!(found, real),
            }
        }
    }

    #[test]
    fn hot_keys_at_the_end_or_anywhere_are_told() {
        let zipfian = Distribution::Zipfian { exponent: 0.9 };
        let last: Vec<u32> = stream(zipfian)
            .into_iter()
            .map(|key| ROWS as u32 + 1 - key)
            .collect();
        let fit = fit_keys(&last, ROWS, true);
        assert!(
            matches!(
                fit.shape,
                KeyShape::Distribution(Distribution::Zipfian { .. }, KeyPlace::Last)
            ),
            "{fit:?}"
        );
        let keys = Keys::new(zipfian, ROWS)
            .unwrap()
            .in_order(KeyOrder::scattered(ROWS));
        let mut rng = seeded(3, 3);
        let anywhere: Vec<u32> = (0..KEYS).map(|_| keys.next(&mut rng)).collect();
        for is_ordered in [true, false] {
            let fit = fit_keys(&anywhere, ROWS, is_ordered);
            let KeyShape::Distribution(Distribution::Zipfian { exponent }, KeyPlace::Anywhere) =
                fit.shape
            else {
                panic!("{fit:?}");
            };
            assert!(
                (exponent / 0.9 - 1.0).abs() < 0.05 && fit.distance < 0.03,
                "{fit:?}"
            );
        }
    }

    #[test]
    fn what_no_family_describes_becomes_a_histogram() {
        // Two humps.
        let keys: Vec<u32> = stream(Distribution::Gaussian { iterations: 6 })
            .into_iter()
            .enumerate()
            .map(|(at, key)| {
                if at % 3 == 0 {
                    key / 4 + 1
                } else {
                    50_000 + key / 2
                }
            })
            .collect();
        let fit = fit_keys(&keys, ROWS, true);
        let KeyShape::Histogram(weights) = &fit.shape else {
            panic!("{fit:?}");
        };
        assert!(weights.len() <= 200 && fit.distance < 0.02, "{fit:?}");
        // Values of a few kinds have a part each.
        let few: Vec<u32> = (0..1_000)
            .map(|at| if at % 10 == 0 { 3 } else { 1 })
            .collect();
        let fit = fit_keys(&few, 3, true);
        assert_eq!(fit.shape, KeyShape::Histogram(vec![900, 0, 100]), "{fit:?}");
    }
}

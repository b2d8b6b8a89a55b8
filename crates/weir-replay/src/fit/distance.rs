//! Distance of two samples of values, whatever numbers stand for them.

use std::collections::HashMap;

use crate::fit::load_profile::Mark;

/// Share of the values at each end that does not decide where the range is.
const TRIMMED: f64 = 0.001;
/// Largest distance of places, as a share of the range.
const SHIFT: f64 = 0.1;

/// Returns the distance of Kolmogorov and Smirnov that chance alone makes, at its 1 % level.
pub(crate) fn noise(a: usize, b: usize) -> f64 {
    1.63 * (1.0 / a as f64 + 1.0 / b as f64).sqrt()
}

/// The distance of the shares that the most frequent values have, of samples of the same size.
pub(crate) fn popularity_distance(a: &[Mark], b: &[Mark]) -> f64 {
    let size = a.len().min(b.len());
    let (a, b) = (sorted_counts(&a[..size]), sorted_counts(&b[..size]));
    let (mut of_a, mut of_b, mut distance) = (0.0, 0.0, 0.0_f64);
    for rank in 0..a.len().max(b.len()) {
        of_a += a.get(rank).copied().unwrap_or(0.0) / size as f64;
        of_b += b.get(rank).copied().unwrap_or(0.0) / size as f64;
        distance = distance.max((of_a - of_b).abs());
    }
    distance
}

fn sorted_counts(values: &[Mark]) -> Vec<f64> {
    let mut counts: HashMap<Mark, u32> = HashMap::new();
    for value in values {
        *counts.entry(*value).or_default() += 1;
    }
    let mut counts: Vec<f64> = counts.into_values().map(f64::from).collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    counts
}

/// The distance of the places that values have between their least and their greatest; `None` for texts. Where these two
/// are is a matter of chance, so that places count as the same within [`SHIFT`].
pub(crate) fn place_distance(a: &[Mark], b: &[Mark]) -> Option<f64> {
    let (a, b) = (places(a)?, places(b)?);
    Some(ahead(&a, &b).max(ahead(&b, &a)))
}

/// By how much more of `a` than of `b` lies before a place, at most.
fn ahead(a: &[f64], b: &[f64]) -> f64 {
    let share = |at: usize, of: &[f64]| at as f64 / of.len() as f64;
    let places = a.iter().enumerate();
    places
        .map(|(at, place)| {
            let of_b = b.partition_point(|other| *other <= place + SHIFT);
            share(at + 1, a) - share(of_b, b)
        })
        .fold(0.0, f64::max)
}

fn places(values: &[Mark]) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = values
        .iter()
        .map(|value| match value {
            Mark::Number(number) => Some(*number as f64),
            _ => None,
        })
        .collect();
    let mut numbers = numbers?;
    numbers.sort_by(f64::total_cmp);
    let trimmed = (TRIMMED * numbers.len() as f64) as usize;
    let (least, most) = (numbers[trimmed], numbers[numbers.len() - 1 - trimmed]);
    let span = (most - least).max(f64::MIN_POSITIVE);
    Some(
        numbers
            .iter()
            .map(|number| (number - least) / span)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_popularity_and_place_count() {
        let a: Vec<Mark> = (0..1_000).map(|at| Mark::Number(at % 100)).collect();
        let b: Vec<Mark> = (0..1_000)
            .map(|at| Mark::Number(7_000 + 3 * (at % 100)))
            .collect();
        assert!(popularity_distance(&a, &b) < 1e-9);
        assert!(place_distance(&a, &b).unwrap() < 1e-9);
        let hot: Vec<Mark> = (0..1_000)
            .map(|at| Mark::Number(if at % 2 == 0 { 5 } else { at % 100 }))
            .collect();
        assert!(popularity_distance(&a, &hot) > 0.4);
        assert!(place_distance(&a, &hot).unwrap() > 0.3);
        assert_eq!(place_distance(&[Mark::Text(1)], &[Mark::Text(2)]), None);
    }
}

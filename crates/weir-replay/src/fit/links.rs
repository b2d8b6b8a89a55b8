//! Values that follow from others of the same transaction: the same as before, a constant more, or the number of a new row.

use std::collections::HashMap;

use crate::fit::datum::Datum;
use crate::fit::shapes::Sample;

/// Transactions that are looked at.
const LOOKED_AT: usize = 2_000;
/// Fewer show no link.
const SAMPLES_MIN: usize = 20;
/// Share of the transactions in which a link holds.
const HOLDS: f64 = 0.95;
/// Share in which it would hold by chance, at most: between values of different transactions.
const BY_CHANCE: f64 = 0.8;
/// Number of earlier values that are compared.
const REACH: usize = 64;
/// Largest constant that is added.
const DIFFERENCE_MAX: i64 = 1_000_000;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// It is that of an earlier slot.
    Same(usize),
    /// So much more than that of an earlier slot.
    Plus(usize, i64),
    /// The number that an `AUTO_INCREMENT` column gave last.
    InsertId,
}

/// The link of each slot of a kind of transaction. `statements`: the statement of each slot.
pub(crate) fn links(samples: &[Sample], statements: &[usize]) -> Vec<Option<Link>> {
    let looked_at = &samples[..samples.len().min(LOOKED_AT)];
    let slots = statements.len();
    if looked_at.len() < SAMPLES_MIN {
        return vec![None; slots];
    }
    let mut found: Vec<Option<Link>> = Vec::with_capacity(slots);
    for slot in 0..slots {
        let link = if is_constant(looked_at, slot) {
            None
        } else {
            link_of(looked_at, statements, slot, &found)
        };
        found.push(link);
    }
    found
}

fn link_of(
    samples: &[Sample],
    statements: &[usize],
    slot: usize,
    found: &[Option<Link>],
) -> Option<Link> {
    let holds = |of: &dyn Fn(&Sample) -> bool| {
        samples.iter().filter(|sample| of(sample)).count() as f64 >= HOLDS * samples.len() as f64
    };
    let statement = statements[slot];
    let is_insert_id = |sample: &Sample| {
        let number = sample.data[slot].number();
        let given = sample.insert_ids[statement];
        number.is_some() && number.map(i64::cast_unsigned) == given
    };
    if holds(&is_insert_id) {
        return Some(Link::InsertId);
    }
    let before = (slot.saturating_sub(REACH)..slot).filter(|earlier| !is_derived(found[*earlier]));
    for earlier in before.clone() {
        let same = |sample: &Sample| {
            sample.data[slot] != Datum::Null && sample.data[slot] == sample.data[earlier]
        };
        if holds(&same) && chance(samples, slot, earlier) < BY_CHANCE {
            return Some(Link::Same(earlier));
        }
    }
    before.rev().find_map(|earlier| {
        let difference = common_difference(samples, slot, earlier)?;
        Some(Link::Plus(earlier, difference))
    })
}

/// A value that is only another one needs no second name.
fn is_derived(link: Option<Link>) -> bool {
    link.is_some()
}

fn is_constant(samples: &[Sample], slot: usize) -> bool {
    let first = samples.first().map(|sample| sample.data[slot]);
    samples
        .iter()
        .all(|sample| Some(sample.data[slot]) == first)
}

/// Returns how often a value is that of the earlier slot in another transaction.
fn chance(samples: &[Sample], slot: usize, earlier: usize) -> f64 {
    let others = samples.iter().zip(samples.iter().skip(1));
    let same = others
        .filter(|(a, b)| a.data[slot] == b.data[earlier])
        .count();
    same as f64 / (samples.len() - 1) as f64
}

fn common_difference(samples: &[Sample], slot: usize, earlier: usize) -> Option<i64> {
    if is_constant(samples, earlier) {
        return None;
    }
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for sample in samples {
        let (Datum::Integer(a), Datum::Integer(b)) = (sample.data[slot], sample.data[earlier])
        else {
            return None;
        };
        *counts.entry(a.checked_sub(b)?).or_default() += 1;
    }
    let (difference, count) = counts
        .into_iter()
        .max_by_key(|(difference, count)| (*count, *difference))?;
    let holds = count as f64 >= HOLDS * samples.len() as f64;
    (holds && difference != 0 && difference.abs() <= DIFFERENCE_MAX).then_some(difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_follow_from_others_are_found() {
        let samples: Vec<_> = (0..100_i64)
            .map(|at| {
                let key = at * 7_919 % 10_007;
                Sample {
                    at_us: vec![0, 0],
                    data: [key, 5, key, key + 99, at % 2, 1_000 + at]
                        .map(Datum::Integer)
                        .to_vec(),
                    insert_ids: vec![None, Some(1_000 + at as u64)],
                }
            })
            .collect();
        let found = links(&samples, &[0, 0, 0, 0, 0, 1]);
        assert_eq!(
            found,
            [
                None,
                None,
                Some(Link::Same(0)),
                Some(Link::Plus(0, 99)),
                None,
                Some(Link::InsertId)
            ]
        );
        assert_eq!(links(&samples[..5], &[0; 6]), [None; 6]);
    }
}

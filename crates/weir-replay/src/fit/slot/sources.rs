//! Sources of values that follow no distribution of keys.

use std::collections::HashSet;

use crate::fit::datum::{Datum, TextDatum};
use crate::fit::toml_text::quoted;

/// Keys of new rows: ascending as they came, or in no order.
pub(super) fn new_numbers(numbers: &[i64], rows: u64) -> String {
    let ascents = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
    if ascents as f64 >= 0.9 * numbers.len().saturating_sub(1) as f64 {
        format!("{{ sequence = {} }}", rows + 1)
    } else {
        format!("{{ unique = [{}, {}] }}", rows + 1, i32::MAX)
    }
}

/// Letters of the lengths that nearly all have.
pub(super) fn letters(texts: &[TextDatum], less: u32) -> String {
    let mut lengths: Vec<u32> = texts
        .iter()
        .map(|text| text.characters.saturating_sub(less).min(65_535))
        .collect();
    lengths.sort_unstable();
    let at = |share: f64| {
        lengths
            .get((share * lengths.len() as f64) as usize)
            .or(lengths.last())
            .copied()
            .unwrap_or(0)
    };
    format!("{{ letters = [{}, {}] }}", at(0.05), at(0.95))
}

/// Members as often as they came.
pub(super) fn choice(values: &[Datum], members: &[String]) -> String {
    let counted: Vec<(String, usize)> = members
        .iter()
        .map(|member| {
            let same = Datum::of_value(&weir_capture::Value::Bytes(member.clone().into_bytes()));
            (
                quoted(member),
                values.iter().filter(|value| **value == same).count(),
            )
        })
        .collect();
    let met: HashSet<_> = counted.iter().filter(|(_, count)| *count > 0).collect();
    let weights: Vec<_> = counted
        .iter()
        .map(|(member, count)| format!("{member} = {}", if met.is_empty() { 1 } else { *count }))
        .collect();
    format!("{{ choice = {{ {} }} }}", weights.join(", "))
}

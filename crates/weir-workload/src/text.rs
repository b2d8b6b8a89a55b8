//! The texts of sysbench's columns: groups of eleven digits, joined by dashes.

use super::Rng;

/// Length of `c`: ten groups.
pub const C_BYTES: usize = 119;
/// Length of `pad`: five groups.
pub const PAD_BYTES: usize = 59;

const GROUP_DIGITS: usize = 11;
/// Of these, those that are made apart from the others.
const HIGH_DIGITS: usize = 5;

/// Fills `out` with groups of random digits. Its length decides how many there are.
pub(crate) fn write_groups(rng: &mut Rng, out: &mut [u8]) {
    for group in out.chunks_mut(GROUP_DIGITS + 1) {
        let number = rng.below(100_000_000_000);
        // Two chains of divisions instead of one, each of half the length.
        let (high, low) = group.split_at_mut(group.len().min(HIGH_DIGITS));
        put_digits((number / 1_000_000) as u32, high);
        let digits = low.len().min(GROUP_DIGITS - HIGH_DIGITS);
        put_digits((number % 1_000_000) as u32, &mut low[..digits]);
        if let Some(dash) = low.get_mut(digits) {
            *dash = b'-';
        }
    }
}

/// Fills `out` with the last digits of a number.
fn put_digits(mut number: u32, out: &mut [u8]) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded;

    #[test]
    fn columns_are_groups_of_eleven_digits() {
        let mut rng = seeded(1, 1);
        for (length, groups) in [(C_BYTES, 10), (PAD_BYTES, 5)] {
            let mut text = vec![0; length];
            write_groups(&mut rng, &mut text);
            let text = String::from_utf8(text).unwrap();
            let parts: Vec<_> = text.split('-').collect();
            assert_eq!(parts.len(), groups, "{text}");
            for part in parts {
                assert_eq!(part.len(), 11, "{text}");
                assert!(part.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
            }
        }
    }

    #[test]
    fn all_digits_are_equally_likely_in_every_place() {
        let mut rng = seeded(7, 0);
        let mut counts = [[0_u32; 10]; C_BYTES];
        let mut text = [0; C_BYTES];
        for _ in 0..20_000 {
            write_groups(&mut rng, &mut text);
            for (place, digit) in text.iter().enumerate().filter(|(_, digit)| **digit != b'-') {
                counts[place][usize::from(digit - b'0')] += 1;
            }
        }
        // Expected 2,000 with a standard deviation of 42.
        for place in counts.iter().filter(|place| place[0] > 0) {
            assert!(
                place.iter().all(|n| (1_750..2_250).contains(n)),
                "{place:?}"
            );
        }
    }
}

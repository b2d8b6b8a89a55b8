//! DECIMAL values: groups of nine digits in four bytes, fewer digits in fewer bytes.
//!
//! MySQL: "Fixed-Point Types" of the manual's storage requirements. The first bit is set for what is not negative;
//! all bits of a negative value are inverted.

use std::fmt::Write as _;

use crate::binlog::MalformedEvent;
use crate::binlog::bytes::Bytes;

/// Digits of a full group.
const GROUP: u8 = 9;
/// Bytes of a group by its digits.
const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// Bytes of a value with `precision` digits, `scale` of them decimals.
pub(crate) fn length(precision: u8, scale: u8) -> Result<usize, MalformedEvent> {
    Ok(groups(precision, scale)?
        .map(|group| BYTES[usize::from(group)])
        .sum())
}

/// The value as the server prints it.
pub(crate) fn text(value: &[u8], precision: u8, scale: u8) -> Result<String, MalformedEvent> {
    let is_negative = value.first().is_some_and(|first| first & 0x80 == 0);
    let mut plain = value.to_vec();
    if let Some(first) = plain.first_mut() {
        *first ^= 0x80;
    }
    if is_negative {
        for byte in &mut plain {
            *byte = !*byte;
        }
    }
    let mut bytes = Bytes(&plain);
    let mut digits = String::new();
    for group in groups(precision, scale)?.filter(|group| *group > 0) {
        let number = bytes.uint_big_endian(BYTES[usize::from(group)])?;
        if number >= 10_u64.pow(u32::from(group)) {
            return Err(MalformedEvent("a DECIMAL has more than its digits"));
        }
        let width = usize::from(group);
        let _ = write!(digits, "{number:0width$}");
    }
    let (whole, decimals) = digits.split_at(digits.len() - usize::from(scale));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let sign = if is_negative { "-" } else { "" };
    let point = if decimals.is_empty() { "" } else { "." };
    Ok(format!("{sign}{whole}{point}{decimals}"))
}

/// Digits of each group, in the order of the bytes.
fn groups(precision: u8, scale: u8) -> Result<impl Iterator<Item = u8>, MalformedEvent> {
    let whole = precision
        .checked_sub(scale)
        .ok_or(MalformedEvent("a DECIMAL has more decimals than digits"))?;
    let full = usize::from(whole / GROUP) + usize::from(scale / GROUP);
    Ok(std::iter::once(whole % GROUP)
        .chain(std::iter::repeat_n(GROUP, full))
        .chain(std::iter::once(scale % GROUP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The manual's example of 1234567890.1234 in DECIMAL(14,4), and its negative.
    #[test]
    fn values_by_hand() {
        let positive = [0x81, 0x0D, 0xFB, 0x38, 0xD2, 0x04, 0xD2];
        assert_eq!(length(14, 4), Ok(positive.len()));
        assert_eq!(text(&positive, 14, 4).as_deref(), Ok("1234567890.1234"));
        let negative = positive.map(|byte| !byte);
        assert_eq!(text(&negative, 14, 4).as_deref(), Ok("-1234567890.1234"));
        assert_eq!(text(&[0x80], 1, 0).as_deref(), Ok("0"));
        assert_eq!(text(&[0x80, 0x05], 3, 2).as_deref(), Ok("0.05"));
        assert!(text(&[0xFF], 1, 0).is_err());
    }
}

//! Amounts: whole numbers of their last decimal place, such as cents.

use crate::put_integer;

/// Appends `units` of the last of `places` decimal places: 12345 with 2 is `123.45`.
pub fn put_decimal(out: &mut Vec<u8>, units: i64, places: u32) {
    let scale = 10_u64.pow(places);
    let magnitude = units.unsigned_abs();
    if units < 0 {
        out.push(b'-');
    }
    put_integer(out, (magnitude / scale).cast_signed());
    if places == 0 {
        return;
    }
    out.push(b'.');
    let mut rest = magnitude % scale;
    let start = out.len();
    out.resize(start + places as usize, b'0');
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// The number of units of the last of `places` decimal places; `None` if `text` is no decimal, or has more
/// places.
pub fn read_decimal(text: &[u8], places: u32) -> Option<i64> {
    let (is_negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        _ => (false, text),
    };
    let mut units = 0_i64;
    let mut after_point: Option<u32> = None;
    for byte in digits {
        match byte {
            b'.' if after_point.is_none() => after_point = Some(0),
            b'0'..=b'9' => {
                units = units.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
                after_point = after_point.map(|places| places + 1);
            }
            _ => return None,
        }
    }
    let missing = places.checked_sub(after_point.unwrap_or(0))?;
    let units = units.checked_mul(10_i64.checked_pow(missing)?)?;
    Some(if is_negative { -units } else { units })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_as_they_are_written() {
        for (units, places, text) in [
            (12_345, 2, "123.45"),
            (-1_000, 2, "-10.00"),
            (-5, 2, "-0.05"),
            (500, 4, "0.0500"),
            (7, 0, "7"),
        ] {
            let mut out = Vec::new();
            put_decimal(&mut out, units, places);
            assert_eq!(out, text.as_bytes());
            assert_eq!(read_decimal(&out, places), Some(units));
        }
        assert_eq!(read_decimal(b"12", 2), Some(1_200));
        assert_eq!(read_decimal(b"12.5", 2), Some(1_250));
        for wrong in ["", "1.234", "x", "1.2.3", "99999999999999999999"] {
            assert_eq!(read_decimal(wrong.as_bytes(), 2), None, "{wrong}");
        }
    }
}

//! Numbers as a reader needs them: no more digits than are known.

use serde::{Serialize, Serializer};

/// A number for the page, rounded to a few significant digits; written without `.0`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RoundedNumber(f64);

impl RoundedNumber {
    /// `value` to `digits` significant digits; `None` if it is not finite.
    pub(crate) fn new(value: f64, digits: i32) -> Option<Self> {
        value.is_finite().then(|| Self(significant(value, digits)))
    }

    /// Five digits: finer than any figure can show.
    pub(crate) fn fine(value: f64) -> Option<Self> {
        Self::new(value, 5)
    }

    /// The number, for text.
    pub(crate) fn get(self) -> f64 {
        self.0
    }
}

impl Serialize for RoundedNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Integers below 2^53 are exact in a double, in Rust as in JavaScript.
        if self.0.fract() == 0.0 && self.0.abs() < 9e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

/// `value` rounded to `digits` significant digits.
///
/// By way of text, because only the decimal form has the short representation that JSON then keeps.
fn significant(value: f64, digits: i32) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let decimals = digits - 1 - value.abs().log10().floor() as i32;
    if decimals >= 0 {
        format!("{value:.0$}", decimals as usize)
            .parse()
            .unwrap_or(value)
    } else {
        let step = 10f64.powi(-decimals);
        (value / step).round() * step
    }
}

/// Decimals that an interval from `low` to `high` allows: one digit of its half-width, at least
/// two decimals and at most four.
pub(crate) fn interval_decimals(low: f64, high: f64) -> usize {
    let half_width = (high - low).abs() / 2.0;
    let wanted = if half_width > 0.0 {
        (-half_width.log10().floor()).max(0.0) as usize
    } else {
        2
    };
    wanted.clamp(2, 4)
}

/// An end of an interval with `decimals`; up to six if it would otherwise read as 1 although it is
/// not, because the verdict depends on whether the interval contains 1.
pub(crate) fn interval_end(value: f64, decimals: usize) -> String {
    let is_one = (value - 1.0).abs() < 1e-6;
    let text = format!("{value:.decimals$}");
    if !is_one && decimals < 6 && text == format!("{:.decimals$}", 1.0) {
        interval_end(value, decimals + 1)
    } else {
        text
    }
}

/// A number with thousands separated by commas and as many decimals as its size deserves.
pub fn grouped(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut out = String::from(sign);
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A share from 0 to 1 as per cent: `97 %`; a decimal below 10 %.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 || value.abs() >= 9.95 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
}

/// A size with binary units: `1.5 GiB`.
pub(crate) fn bytes_words(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.iter().find(|(_, shift)| bytes >> shift > 0);
    let Some((name, shift)) = unit else {
        return format!("{bytes} bytes");
    };
    let size = bytes as f64 / (1_u64 << shift) as f64;
    if size.fract() == 0.0 {
        format!("{size:.0} {name}")
    } else {
        format!("{} {name}", grouped(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64, digits: i32) -> String {
        serde_json::to_string(&RoundedNumber::new(value, digits)).unwrap()
    }

    #[test]
    fn rounded_numbers_are_short_in_json() {
        assert_eq!(written(4_482.391_22, 5), "4482.4");
        assert_eq!(written(123_456.7, 4), "123500");
        assert_eq!(written(0.000_123_456, 3), "0.000123");
        assert_eq!(written(12.0, 5), "12");
        assert_eq!(written(-2.55, 2), "-2.5");
        assert_eq!(written(0.0, 3), "0");
        assert_eq!(written(f64::NAN, 3), "null");
    }

    #[test]
    fn decimals_follow_the_width_of_the_interval() {
        assert_eq!(interval_decimals(1.24, 1.39), 2);
        assert_eq!(interval_decimals(1.240, 1.244), 3);
        assert_eq!(interval_decimals(0.5, 3.0), 2);
        assert_eq!(interval_end(1.3, 2), "1.30");
        assert_eq!(interval_end(0.9996, 2), "0.9996");
        assert_eq!(interval_end(1.0, 2), "1.00");
        assert_eq!(interval_decimals(1.0, 1.0), 2);
    }

    #[test]
    fn numbers_are_grouped_and_shares_are_per_cent() {
        assert_eq!(grouped(1_234_567.4), "1,234,567");
        assert_eq!(grouped(-4482.0), "-4,482");
        assert_eq!(grouped(12.345), "12.3");
        assert_eq!(grouped(0.126), "0.13");
        assert_eq!(percent(0.974), "97 %");
        assert_eq!(percent(0.0312), "3.1 %");
        assert_eq!(percent(0.0), "0 %");
    }

    #[test]
    fn sizes_are_binary_and_short() {
        assert_eq!(bytes_words(128 << 20), "128 MiB");
        assert_eq!(bytes_words(3 << 29), "1.50 GiB");
        assert_eq!(bytes_words(512), "512 bytes");
    }
}

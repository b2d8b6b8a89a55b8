//! Values that take the place of others: same kind, same length, equal for equal.
//!
//! Digits go through a Feistel network over HMAC-SHA-256 with cycle walking (Black and Rogaway, "Ciphers with
//! Arbitrary Finite Domains", 2002), so that different numbers stay different; texts take the bytes of an HMAC.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::ToSpan as _;
use jiff::civil::Date;
use mysql_common::Value;
use sha2::Sha256;

/// Rounds of the network.
const ROUNDS: u8 = 8;
/// Longest run of digits that is permuted; more become digits of a text.
const DIGITS_MAX: usize = 18;
/// Dates move by up to so many days.
const DAYS_MAX: u64 = 3_650;
const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// The key of one capture, and what it does.
pub(super) struct Mask {
    key: [u8; 32],
    days: i64,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mask")
    }
}

impl Mask {
    pub(super) fn new() -> Self {
        let mut mask = Self {
            key: rand::random(),
            days: 0,
        };
        mask.days = 1 + (mask.word(b"days", 0) % DAYS_MAX).cast_signed();
        mask
    }

    /// A literal of a statement, with its quotes.
    pub(super) fn literal(&self, literal: &[u8]) -> Vec<u8> {
        match literal {
            [quote @ (b'\'' | b'"'), inner @ .., _] if literal.len() >= 2 => {
                let inner = self.text(&unquoted(inner));
                [&[*quote][..], &inner, &[*quote]].concat()
            }
            [b'0', b'x' | b'X', digits @ ..] => [&literal[..2], &self.hex(digits)].concat(),
            _ => self.number(literal),
        }
    }

    /// A value of a prepared statement; the same one as its literal would be.
    pub(super) fn value(&self, value: Value) -> Value {
        match value {
            Value::Bytes(bytes) => Value::Bytes(self.text(&bytes)),
            Value::Int(number) => self.parsed(&number).map_or(Value::Int(0), Value::Int),
            Value::UInt(number) => self.parsed(&number).map_or(Value::UInt(0), Value::UInt),
            Value::Float(number) => self.parsed(&number).map_or(Value::Float(0.0), Value::Float),
            Value::Double(number) => self
                .parsed(&number)
                .map_or(Value::Double(0.0), Value::Double),
            Value::Date(year, month, day, ..) => self.date(year, month, day),
            Value::Time(..) => Value::Time(false, 0, 0, 0, 0, 0),
            Value::NULL => Value::NULL,
        }
    }

    fn parsed<T: ToString + std::str::FromStr>(&self, number: &T) -> Option<T> {
        let text = self.number(number.to_string().as_bytes());
        String::from_utf8(text).ok()?.parse().ok()
    }

    fn date(&self, year: u16, month: u8, day: u8) -> Value {
        let date = Date::new(year.cast_signed(), month.cast_signed(), day.cast_signed()).ok();
        let Some(date) = date.and_then(|date| date.checked_sub(self.days.days()).ok()) else {
            return Value::Date(year, 1, 1, 0, 0, 0, 0);
        };
        Value::Date(
            date.year().cast_unsigned(),
            date.month().cast_unsigned(),
            date.day().cast_unsigned(),
            0,
            0,
            0,
            0,
        )
    }

    /// A text: a date that is moved, digits that are permuted, or letters.
    fn text(&self, text: &[u8]) -> Vec<u8> {
        if let Some(date) = self.date_text(text) {
            return date;
        }
        if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
            return self.digits(text);
        }
        let letter = |(at, byte): (usize, &u8)| match byte {
            b'0'..=b'9' => b'0' + (self.word(text, at) % 10) as u8,
            b'A'..=b'Z' => LETTERS[(self.word(text, at) % 26) as usize].to_ascii_uppercase(),
            b' ' | b'-' | b'@' | b'.' | b':' | b'/' | b'_' | b'%' | b',' => *byte,
            _ => LETTERS[(self.word(text, at) % 26) as usize],
        };
        text.iter().enumerate().map(letter).collect()
    }

    /// A text that begins with a date; what follows it loses its digits.
    fn date_text(&self, text: &[u8]) -> Option<Vec<u8>> {
        let (date, rest) = text.split_at_checked(10)?;
        let date: Date = std::str::from_utf8(date).ok()?.parse().ok()?;
        let moved = date.checked_sub(self.days.days()).ok()?;
        let zero = |byte: &u8| if byte.is_ascii_digit() { b'0' } else { *byte };
        let is_time = rest
            .iter()
            .all(|c| c.is_ascii_digit() || b" :.TZ+-".contains(c));
        is_time.then(|| {
            moved
                .to_string()
                .into_bytes()
                .into_iter()
                .chain(rest.iter().map(zero))
                .collect()
        })
    }

    fn hex(&self, digits: &[u8]) -> Vec<u8> {
        let digit = |at: usize| b"0123456789ABCDEF"[(self.word(digits, at) % 16) as usize];
        (0..digits.len()).map(digit).collect()
    }

    /// A number as it is written: each run of digits by itself.
    fn number(&self, number: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(number.len());
        for run in number.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
            if run[0].is_ascii_digit() {
                out.extend(self.digits(run));
            } else {
                out.extend_from_slice(run);
            }
        }
        out
    }

    /// Digits, permuted among those of the same length that do not begin with a zero if these do not.
    fn digits(&self, digits: &[u8]) -> Vec<u8> {
        let length = digits.len();
        if length > DIGITS_MAX {
            let digit = |at: usize| b'1' + (self.word(digits, at) % 9) as u8;
            return (0..length).map(digit).collect();
        }
        let number = digits
            .iter()
            .fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        let top = 10_u64.pow(length as u32);
        let least = if length > 1 && digits[0] != b'0' {
            top / 10
        } else {
            0
        };
        let other = self.permuted(number - least, top - least) + least;
        format!("{other:0length$}").into_bytes()
    }

    /// A permutation of the numbers below `top`.
    fn permuted(&self, number: u64, top: u64) -> u64 {
        let half = (64 - (top - 1).leading_zeros()).div_ceil(2).max(1);
        let low = (1_u64 << half) - 1;
        let mut number = number;
        loop {
            let (mut left, mut right) = (number >> half, number & low);
            for round in 0..ROUNDS {
                let input = [&[round][..], &top.to_le_bytes(), &right.to_le_bytes()].concat();
                (left, right) = (right, left ^ (self.word(&input, 0) & low));
            }
            number = left << half | right;
            if number < top {
                return number;
            }
        }
    }

    /// A pseudo-random number of an input and a place in it.
    fn word(&self, input: &[u8], at: usize) -> u64 {
        let Ok(mut hmac) = Hmac::<Sha256>::new_from_slice(&self.key) else {
            // A key of any length is one.
            return 0;
        };
        hmac.update(&(at as u64).to_le_bytes());
        hmac.update(input);
        let bytes = hmac.finalize().into_bytes();
        bytes[..8]
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

/// Returns the text in quotes, without escapes.
fn unquoted(inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let escaped = bytes.peek().copied();
        if byte == b'\\' || matches!(byte, b'\'' | b'"') && escaped == Some(byte) {
            bytes.next();
            out.extend(escaped);
        } else {
            out.push(byte);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_length_are_permuted() {
        let mask = Mask::new();
        let mut seen: Vec<u64> = (100..1_000)
            .map(|number: u64| {
                let masked = mask.literal(number.to_string().as_bytes());
                String::from_utf8(masked).unwrap().parse().unwrap()
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, (100..1_000).collect::<Vec<_>>());
        let same = seen.iter().filter(|number| {
            mask.literal(number.to_string().as_bytes()) == number.to_string().as_bytes()
        });
        assert!(same.count() < 30);
    }

    #[test]
    fn a_literal_and_a_parameter_become_the_same() {
        let mask = Mask::new();
        let masked = String::from_utf8(mask.literal(b"4711")).unwrap();
        assert_eq!(
            mask.value(Value::Int(4_711)),
            Value::Int(masked.parse().unwrap())
        );
        assert_eq!(
            mask.value(Value::Bytes(b"4711".to_vec())),
            Value::Bytes(masked.into_bytes())
        );
        assert_eq!(mask.literal(b"'it''s'").len(), b"'it s'".len());
        let date = mask.literal(b"'2026-11-25 10:00:00'");
        assert!(date.ends_with(b" 00:00:00'") && !date.starts_with(b"'2026-11-25"));
        assert_ne!(
            Mask::new().literal(b"123456789012"),
            mask.literal(b"123456789012")
        );
    }
}

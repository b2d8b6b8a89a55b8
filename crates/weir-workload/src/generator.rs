//! Sources of the values of parameters and columns.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{Keys, Lines, Parts, Pattern, Rng, Sequence, Unique, write_groups};

/// A source of values.
#[derive(Debug, Clone)]
pub enum Generator {
    /// The number of a row, by a distribution.
    Key(Keys),
    /// The number of a row in the connection's own part of the table.
    PartKey(Parts),
    /// An integer from `first` on, as far as the keys go.
    Integer {
        /// The least.
        first: i64,
        /// Distance above it, counted from 1.
        keys: Keys,
    },
    /// The number of the row that is being made. Only tables have one.
    Row,
    /// Ascending, shared by all connections of a run.
    Sequence(Arc<Sequence>),
    /// No number twice in a run, in no order; shared by all connections of a run.
    Unique(Arc<Unique>),
    /// sysbench's groups of digits, of this length together.
    Groups(usize),
    /// Letters and digits in a pattern.
    Pattern(Arc<Pattern>),
    /// Small letters, from so many to so many.
    Letters(u32, u32),
    /// So many letters and digits that a number decides: the same for the same number.
    Code(usize, Box<Generator>),
    /// A line of a text.
    Line(Arc<Lines>),
    /// One of these, by their weights.
    Choice(Arc<Choice>),
    /// The time, in UTC, as a `DATETIME(6)`.
    Now,
}

/// For whom a value is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drawer {
    /// The connection, from 0.
    pub connection: u32,
    /// The row that is being made, from 1.
    pub row: u64,
}

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// An `INTEGER`.
    Integer,
    /// A `BIGINT`.
    BigInteger,
    /// A `DECIMAL`.
    Decimal,
    /// A string.
    Text,
}

/// A value as it was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number.
    Integer(i64),
    /// A string.
    Text(&'a [u8]),
}

impl Value<'_> {
    /// Appends it as a literal of SQL that means the same in every `sql_mode`: whether a backslash
    /// escapes depends on `NO_BACKSLASH_ESCAPES`, so that texts with one are written in hexadecimal.
    pub fn put_literal(self, out: &mut Vec<u8>) {
        match self {
            Self::Integer(number) => put_integer(out, number),
            Self::Text(text) if text.contains(&b'\\') => {
                out.extend_from_slice(b"_utf8mb4 X'");
                for byte in text {
                    let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble)];
                    out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
                }
                out.push(b'\'');
            }
            Self::Text(text) => {
                out.push(b'\'');
                for byte in text {
                    if *byte == b'\'' {
                        out.push(b'\'');
                    }
                    out.push(*byte);
                }
                out.push(b'\'');
            }
        }
    }
}

impl Generator {
    /// The type of its values.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Key(_) | Self::PartKey(_) => ValueKind::Integer,
            Self::Integer { .. } | Self::Row | Self::Sequence(_) | Self::Unique(_) => {
                ValueKind::BigInteger
            }
            Self::Groups(_)
            | Self::Pattern(_)
            | Self::Letters(..)
            | Self::Code(..)
            | Self::Line(_)
            | Self::Choice(_)
            | Self::Now => ValueKind::Text,
        }
    }

    /// The next value. `scratch` holds it if it has to be put together.
    pub fn draw<'a>(
        &'a self,
        drawer: Drawer,
        rng: &mut Rng,
        scratch: &'a mut Vec<u8>,
    ) -> Value<'a> {
        match self {
            Self::Key(keys) => Value::Integer(keys.next(rng).into()),
            Self::PartKey(parts) => Value::Integer(parts.key_of(drawer.connection, rng).into()),
            Self::Integer { first, keys } => {
                Value::Integer(first.wrapping_add(i64::from(keys.next(rng)) - 1))
            }
            Self::Sequence(sequence) => Value::Integer(sequence.draw().cast_signed()),
            Self::Row => Value::Integer(drawer.row.cast_signed()),
            Self::Unique(unique) => Value::Integer(unique.next()),
            Self::Groups(length) => {
                scratch.resize(*length, 0);
                write_groups(rng, scratch);
                Value::Text(scratch)
            }
            Self::Pattern(pattern) => {
                scratch.clear();
                pattern.write(rng, scratch);
                Value::Text(scratch)
            }
            Self::Letters(least, most) => {
                scratch.clear();
                let length = least + rng.below(u64::from(most - least) + 1) as u32;
                scratch.extend((0..length).map(|_| b'a' + rng.below(26) as u8));
                Value::Text(scratch)
            }
            Self::Code(length, of) => {
                let number = match of.draw(drawer, rng, scratch) {
                    Value::Integer(number) => number,
                    Value::Text(_) => 0,
                };
                scratch.clear();
                put_code(scratch, number, *length);
                Value::Text(scratch)
            }
            Self::Line(lines) => Value::Text(lines.choose(rng)),
            Self::Choice(choice) => Value::Text(choice.choose(rng)),
            Self::Now => {
                scratch.clear();
                put_datetime(scratch, Timestamp::now().to_zoned(TimeZone::UTC).datetime());
                Value::Text(scratch)
            }
        }
    }
}

/// Texts with weights.
#[derive(Debug)]
pub struct Choice {
    texts: Vec<String>,
    /// Sums of the weights up to and with each.
    up_to: Vec<u64>,
}

impl Choice {
    /// One of `texts`, which are not empty and do not all weigh nothing.
    pub fn new(texts: Vec<(String, u32)>) -> Self {
        let mut sum = 0;
        let (texts, up_to) = texts
            .into_iter()
            .map(|(text, weight)| {
                sum += u64::from(weight);
                (text, sum)
            })
            .unzip();
        Self { texts, up_to }
    }

    fn choose(&self, rng: &mut Rng) -> &[u8] {
        self.texts[rng.choose_by_weight(&self.up_to)].as_bytes()
    }
}

/// Appends a number in decimal digits.
pub fn put_integer(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Appends letters and digits that a number decides. The number itself stands in the last of them, so that two
/// numbers have two codes where there is room.
fn put_code(out: &mut Vec<u8>, number: i64, length: usize) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let start = out.len();
    out.resize(start + length, b'0');
    let mut rest = number.unsigned_abs();
    let mut mixed = rest;
    for byte in out[start..].iter_mut().rev() {
        if rest > 0 {
            *byte = DIGITS[(rest % 16) as usize];
            rest /= 16;
        } else {
            // A linear congruential generator (Knuth, MMIX): letters before the number, none of its digits,
            // so that prefixes differ.
            mixed = mixed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *byte = b'g' + (mixed >> 33) as u8 % 20;
        }
    }
}

/// Appends a date and time of microseconds.
fn put_datetime(out: &mut Vec<u8>, time: DateTime) {
    let (date, clock) = (time.date(), time.time());
    let microsecond = clock.subsec_nanosecond() / 1_000;
    for (number, width, after) in [
        (i32::from(date.year()), 4, b'-'),
        (i32::from(date.month()), 2, b'-'),
        (i32::from(date.day()), 2, b' '),
        (i32::from(clock.hour()), 2, b':'),
        (i32::from(clock.minute()), 2, b':'),
        (i32::from(clock.second()), 2, b'.'),
        (microsecond, 6, 0),
    ] {
        let start = out.len();
        out.resize(start + width, b'0');
        let mut rest = number;
        for digit in out[start..].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        if after != 0 {
            out.push(after);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::seeded;

    #[test]
    fn choices_come_in_proportion_to_their_weights() {
        let choice = Choice::new(vec![
            ("never".to_owned(), 0),
            ("rarely".to_owned(), 1),
            ("often".to_owned(), 9),
        ]);
        let mut rng = seeded(5, 0);
        let often = (0..10_000)
            .filter(|_| match choice.choose(&mut rng) {
                b"often" => true,
                b"rarely" => false,
                other => panic!("{other:?}"),
            })
            .count();
        // 9,000 with a standard deviation of 30.
        assert!((8_850..9_150).contains(&often), "{often}");
    }

    #[test]
    fn literals_are_escaped() {
        let mut out = Vec::new();
        Value::Text(b"it's ?").put_literal(&mut out);
        assert_eq!(out, b"'it''s ?'");
        out.clear();
        Value::Text(br"it's \").put_literal(&mut out);
        assert_eq!(out, b"_utf8mb4 X'69742773205C'");
        out.clear();
        for number in [i64::MIN, -1, 0, 1_234_567_890] {
            Value::Integer(number).put_literal(&mut out);
            out.push(b' ');
        }
        assert_eq!(out, b"-9223372036854775808 -1 0 1234567890 ");
    }

    #[test]
    fn a_sequence_ascends_and_integers_stay_in_range() {
        let mut rng = seeded(1, 1);
        let mut scratch = Vec::new();
        let sequence = Generator::Sequence(Arc::new(Sequence::new(7)));
        for expected in 7..10 {
            let value = sequence.draw(Drawer::default(), &mut rng, &mut scratch);
            assert_eq!(value, Value::Integer(expected));
        }
        let keys = Keys::new(weir_model::Distribution::Uniform, 3).unwrap();
        let integer = Generator::Integer { first: -1, keys };
        let seen: HashSet<_> = (0..100)
            .map(
                |_| match integer.draw(Drawer::default(), &mut rng, &mut scratch) {
                    Value::Integer(number) => number,
                    Value::Text(text) => panic!("{text:?}"),
                },
            )
            .collect();
        assert_eq!(seen, HashSet::from([-1, 0, 1]));
    }

    #[test]
    fn times_are_written_as_the_server_writes_them() {
        let mut out = Vec::new();
        put_datetime(
            &mut out,
            jiff::civil::datetime(2026, 1, 2, 3, 4, 5, 6_007_000),
        );
        assert_eq!(out, b"2026-01-02 03:04:05.006007");
    }
}

//! A value of a statement without what it says: numbers stay numbers, a text is its length and a hash.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use weir_capture::Value;

/// A value as a fit sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Datum {
    Null,
    Integer(i64),
    /// A number of `units`, of which 10 to the power of `scale` are one.
    Decimal {
        units: i64,
        scale: u8,
    },
    /// A date and time as if it were UTC, microseconds since 1970.
    Moment(i64),
    Text(TextDatum),
}

/// A text without its letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TextDatum {
    pub(crate) characters: u32,
    pub(crate) hash: u64,
    /// The integer that it may be.
    pub(crate) number: Option<i64>,
    /// It begins, and it ends, with a percent sign, as patterns of `LIKE` do.
    pub(crate) open_ends: (bool, bool),
}

impl Datum {
    /// Of a literal as it stands in a statement.
    pub(crate) fn of_literal(literal: &[u8]) -> Self {
        match literal {
            [quote @ (b'\'' | b'"'), inner @ .., last] if last == quote => {
                Self::of_bytes(&unescaped(inner, *quote))
            }
            _ => Self::of_number(literal).unwrap_or_else(|| Self::of_bytes(literal)),
        }
    }

    /// Of a prepared statement's parameter.
    pub(crate) fn of_value(value: &Value) -> Self {
        match value {
            Value::NULL => Self::Null,
            Value::Bytes(bytes) => Self::of_bytes(bytes),
            Value::Int(number) => Self::Integer(*number),
            Value::UInt(number) => Self::Integer(i64::try_from(*number).unwrap_or(i64::MAX)),
            Value::Float(number) => Self::of_float(f64::from(*number)),
            Value::Double(number) => Self::of_float(*number),
            Value::Date(year, month, day, hour, minute, second, us) => {
                let small = |number: u8| i8::try_from(number).unwrap_or(0);
                let civil = DateTime::new(
                    i16::try_from(*year).unwrap_or(1970),
                    small(*month),
                    small(*day),
                    small(*hour),
                    small(*minute),
                    small(*second),
                    i32::try_from(*us).unwrap_or(0) * 1_000,
                );
                civil.ok().and_then(moment_of).unwrap_or(Self::Null)
            }
            Value::Time(..) => Self::of_bytes(b"00:00:00"),
        }
    }

    fn of_number(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        if let Ok(number) = text.parse::<i64>() {
            return Some(Self::Integer(number));
        }
        if let Some((whole, fraction)) = text.split_once('.')
            && fraction.len() <= 6
            && let Ok(units) = format!("{whole}{fraction}").parse::<i64>()
        {
            let scale = fraction.len() as u8;
            return Some(Self::Decimal { units, scale });
        }
        let is_number = text
            .bytes()
            .all(|c| c.is_ascii_digit() || b".eE+-".contains(&c));
        is_number.then(|| text.parse().ok().map(Self::of_float))?
    }

    fn of_float(number: f64) -> Self {
        Self::Decimal {
            units: (number * 100.0).round() as i64,
            scale: 2,
        }
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok();
        if let Some(moment) = text.and_then(moment) {
            return moment;
        }
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let characters = text.map_or(bytes.len(), |text| text.chars().count());
        Self::Text(TextDatum {
            characters: u32::try_from(characters).unwrap_or(u32::MAX),
            hash: hasher.finish(),
            number: text.and_then(|text| text.parse().ok()),
            open_ends: (bytes.first() == Some(&b'%'), bytes.last() == Some(&b'%')),
        })
    }

    /// The integer that it is, or that its text is.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => text.number,
            _ => None,
        }
    }
}

/// `2026-11-25`, perhaps with a time of day.
fn moment(text: &str) -> Option<Datum> {
    let is_date = (10..=26).contains(&text.len())
        && text.as_bytes()[..4].iter().all(u8::is_ascii_digit)
        && text.as_bytes()[4] == b'-';
    if !is_date {
        return None;
    }
    if text.len() == 10 {
        let date: jiff::civil::Date = text.parse().ok()?;
        return moment_of(date.at(0, 0, 0, 0));
    }
    moment_of(text.parse().ok()?)
}

fn moment_of(civil: DateTime) -> Option<Datum> {
    let zoned = civil.to_zoned(TimeZone::UTC).ok()?;
    Some(Datum::Moment(zoned.timestamp().as_microsecond()))
}

/// The text within quotes.
fn unescaped(inner: &[u8], quote: u8) -> Vec<u8> {
    let mut text = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => text.extend(bytes.next()),
            byte if byte == quote => {
                bytes.next();
                text.push(byte);
            }
            byte => text.push(byte),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_each_kind_are_known() {
        assert_eq!(Datum::of_literal(b"15"), Datum::Integer(15));
        let decimal = Datum::Decimal {
            units: 1_050,
            scale: 2,
        };
        assert_eq!(Datum::of_literal(b"10.50"), decimal);
        assert_eq!(
            Datum::of_literal(b"'1970-01-01 00:00:01.5'"),
            Datum::Moment(1_500_000)
        );
        assert_eq!(
            Datum::of_literal(b"'1970-01-02'"),
            Datum::Moment(86_400_000_000)
        );
        let Datum::Text(text) = Datum::of_literal(b"'it''s%'") else {
            panic!("a text");
        };
        assert_eq!((text.characters, text.open_ends), (5, (false, true)));
        assert_eq!(Datum::of_literal(b"\"7\"").number(), Some(7));
        let same = Datum::of_value(&Value::Bytes(b"it's%".to_vec()));
        assert_eq!(same, Datum::of_literal(br"'it\'s%'"));
    }
}

//! Quantities as users write them: `8G`, `300s`, `1/500`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// A quantity that could not be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnitError {
    /// Not a size.
    #[error("`{0}` is not a size; write a number and K, M, G or T, such as `8G`")]
    Bytes(String),
    /// Not a length of time.
    #[error("`{0}` is not a length of time; write a number and ms, s, m or h, such as `300s`")]
    Duration(String),
    /// Not a scale.
    #[error("`{0}` is not a scale; write `1` or a fraction such as `1/500`")]
    Scale(String),
}

/// A number of bytes, written with the binary suffixes that MySQL uses (`K` = 1,024).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    const SUFFIXES: [(char, u64); 4] = [
        ('T', 1 << 40),
        ('G', 1 << 30),
        ('M', 1 << 20),
        ('K', 1 << 10),
    ];
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::Bytes(text.to_owned());
        let trimmed = without_byte(text.trim());
        let upper = trimmed.to_ascii_uppercase();
        let suffix = Self::SUFFIXES
            .iter()
            .find(|(letter, _)| upper.ends_with(*letter));
        let (number, factor) = match suffix {
            Some((_, factor)) => (&trimmed[..trimmed.len() - 1], *factor),
            None => (trimmed, 1),
        };
        let number: f64 = number.trim().parse().map_err(|_| error())?;
        let bytes = number * factor as f64;
        if !bytes.is_finite() || bytes < 0.0 || bytes >= u64::MAX as f64 {
            return Err(error());
        }
        Ok(Self(bytes.round() as u64))
    }
}

/// `2G` of `2GB` and `2GiB`: the powers are always of 1024, as servers read both.
fn without_byte(text: &str) -> &str {
    let Some(rest) = text.strip_suffix(['b', 'B']) else {
        return text;
    };
    let rest = rest.strip_suffix('i').unwrap_or(rest);
    let has_power = rest.ends_with(|last: char| last.is_ascii_alphabetic());
    if has_power { rest } else { text }
}

impl fmt::Display for Bytes {
    /// The shortest exact form with a suffix, else two decimals: `128M`, `1.50G`, `512`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, factor) in Self::SUFFIXES {
            if self.0 >= factor {
                return if self.0.is_multiple_of(factor) {
                    write!(f, "{}{letter}", self.0 / factor)
                } else {
                    write!(f, "{:.2}{letter}", self.0 as f64 / factor as f64)
                };
            }
        }
        write!(f, "{}", self.0)
    }
}

/// A size as people write it, where one of `like` has a unit or the number is a large one of whole mebibytes; other
/// text as it is.
pub fn in_units(value: &str, like: &[&str]) -> String {
    let has_unit = |text: &&&str| text.ends_with(|last: char| last.is_ascii_alphabetic());
    let is_size = like.iter().any(|text| has_unit(&text));
    match value.parse::<u64>() {
        Ok(bytes) if is_size || bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => {
            Bytes(bytes).to_string()
        }
        _ => value.to_owned(),
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "not a size; write a number of bytes, or text such as `8G`"
        )]
        enum Raw {
            Number(u64),
            Text(String),
        }
        match Raw::deserialize(deserializer)? {
            Raw::Number(number) => Ok(Self(number)),
            Raw::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// A length of time that is written as `300s`, `5m`, `1h`, `250ms` or `500us`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Duration(pub std::time::Duration);

impl Duration {
    /// A duration of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(std::time::Duration::from_secs(seconds))
    }

    /// Length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0.as_secs_f64()
    }
}

impl From<std::time::Duration> for Duration {
    fn from(length: std::time::Duration) -> Self {
        Self(length)
    }
}

impl FromStr for Duration {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::Duration(text.to_owned());
        let text = text.trim();
        // `us` and `ms` stand before `s`, which is their ending.
        let units = [
            ("us", 1e-6),
            ("ms", 1e-3),
            ("s", 1.0),
            ("m", 60.0),
            ("h", 3600.0),
        ];
        let (number, factor) = units
            .iter()
            .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))
            .ok_or_else(error)?;
        let number: f64 = number.trim().parse().map_err(|_| error())?;
        std::time::Duration::try_from_secs_f64(number * factor)
            .map(Self)
            .map_err(|_| error())
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.subsec_nanos() == 0 {
            write!(f, "{}s", self.0.as_secs())
        } else {
            write!(f, "{}ms", self.0.as_secs_f64() * 1e3)
        }
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Size relative to the original: `1/500`, or `1` for full size. In (0, 1].
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Scale(f64);

impl Scale {
    /// Full size.
    pub const FULL: Self = Self(1.0);

    /// The factor by which an amount shrinks.
    pub fn factor(self) -> f64 {
        self.0
    }

    /// `amount`, scaled and rounded to a whole number, at least 1.
    pub fn apply(self, amount: u64) -> u64 {
        ((amount as f64 * self.0).round() as u64).max(1)
    }

    /// The amount of which [`Self::apply`] made `amount`, up to its rounding.
    pub fn undo(self, amount: u64) -> u64 {
        (amount as f64 / self.0).round() as u64
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self::FULL
    }
}

impl FromStr for Scale {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::Scale(text.to_owned());
        let number = |part: &str| part.trim().parse::<f64>().map_err(|_| error());
        let factor = match text.split_once('/') {
            Some((above, below)) => number(above)? / number(below)?,
            None => number(text)?,
        };
        if factor > 0.0 && factor <= 1.0 {
            Ok(Self(factor))
        } else {
            Err(error())
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = 1.0 / self.0;
        if (below - 1.0).abs() < 1e-9 {
            f.write_str("1")
        } else if (below - below.round()).abs() < 1e-6 {
            write!(f, "1/{}", below.round())
        } else {
            write!(f, "1/{below}")
        }
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_print_as_mysql_writes_them() {
        for (text, bytes) in [
            ("8G", 8 << 30),
            ("128m", 128 << 20),
            ("512", 512),
            ("1.5K", 1536),
            ("2GB", 2 << 30),
            ("2 GiB", 2 << 30),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
        assert_eq!(Bytes(128 << 20).to_string(), "128M");
        assert_eq!(Bytes(3 << 29).to_string(), "1.50G");
        for text in ["", "G", "-1", "8X", "8B", "iB", "1e30T", "NaN"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn durations_read_with_their_unit() {
        assert_eq!("300s".parse(), Ok(Duration::from_secs(300)));
        assert_eq!("5m".parse(), Ok(Duration::from_secs(300)));
        assert_eq!("250ms".parse::<Duration>().unwrap().0.as_millis(), 250);
        for text in ["300", "-1s", "s", "1e99h"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }

    #[test]
    fn scales_shrink_and_never_reach_zero() {
        let scale: Scale = "1/500".parse().unwrap();
        assert_eq!(scale.apply(40_000_000), 80_000);
        assert_eq!(scale.apply(1), 1);
        assert_eq!(scale.to_string(), "1/500");
        assert_eq!(Scale::FULL.to_string(), "1");
        for text in ["0", "2", "1/0", "-1/5", "x"] {
            assert!(text.parse::<Scale>().is_err(), "{text}");
        }
    }
}

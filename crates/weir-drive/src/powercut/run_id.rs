//! Identity of one run of the writer: it authenticates what the witness hears, and marks every sector.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A random number of 128 bits, as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub(crate) u128);

impl RunId {
    pub(crate) fn random() -> Self {
        Self(rand::random())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_whole = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = is_whole.then(|| u128::from_str_radix(text, 16).ok());
        let number = number.flatten();
        number
            .map(Self)
            .ok_or_else(|| format!("run id `{text}`: not 32 hexadecimal digits"))
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

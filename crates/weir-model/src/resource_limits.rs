//! Limits of a server on its machine.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// Processors, by the kernel's numbers; written as in `taskset -c`: `0-3,6`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(Vec<u32>);

/// The largest number of a processor that the kernel's masks hold here.
const CPU_MAX: u32 = 1023;

impl CpuList {
    /// The numbers, ascending.
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }
}

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no list of processors; write numbers such as `0-3,6`");
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n <= CPU_MAX);
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err(wrong());
            };
            numbers.extend(first..=last);
            if first > last {
                return Err(wrong());
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Self(numbers))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.0.chunk_by(|a, b| a + 1 == *b);
        let texts = ranges.map(|range| match range {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        });
        f.write_str(&texts.collect::<Vec<_>>().join(","))
    }
}

impl Serialize for CpuList {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuList {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Limits of a private server; none by default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The processors that it may run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuList>,
    /// The memory that it may have, with the pages of files that it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

impl Limits {
    /// Returns true if there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_and_written_as_taskset_does() {
        for (text, again) in [("0", "0"), ("3,0-1", "0-1,3"), ("2,1,1", "1-2")] {
            let list: CpuList = text.parse().unwrap();
            assert_eq!(list.to_string(), again);
        }
        for wrong in ["", "a", "2-1", "1,,2", "5000"] {
            assert!(wrong.parse::<CpuList>().is_err(), "{wrong}");
        }
    }
}

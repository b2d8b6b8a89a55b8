//! Means of keeping the replica warm that takes over after a failover.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Duration;

/// Source of pages for the pool of a replica before it takes over, beside the changes that it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub enum Warm {
    /// Nothing.
    #[default]
    None,
    /// Reads of its own: as many connections read there as the share of the load's, in percent, says; at least one.
    OwnReads(u8),
    /// The primary's list of this share of its pool, in percent, once when the load begins, by the numbers of the pages.
    Dump(u8),
    /// The primary's whole pool, by the ranges of keys, again and again after this time.
    Ship(Duration),
}

/// Share of the load's connections that read on the replica, percent, if the study does not say.
const READS_USUAL: u8 = 25;

impl fmt::Display for Warm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "none"),
            Self::OwnReads(percent) => write!(f, "own reads {percent}"),
            Self::Dump(percent) => write!(f, "dump {percent}"),
            Self::Ship(every) => write!(f, "ship every {every}"),
        }
    }
}

impl FromStr for Warm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = |text: &str| {
            let number = text.trim().parse().ok();
            let number = number.filter(|percent| (1..=100).contains(percent));
            number.ok_or_else(|| "must have a share of 1 to 100 percent".to_owned())
        };
        match text {
            "none" => Ok(Self::None),
            "own reads" => Ok(Self::OwnReads(READS_USUAL)),
            _ if let Some(share) = text.strip_prefix("own reads ") => {
                percent(share).map(Self::OwnReads)
            }
            _ if let Some(share) = text.strip_prefix("dump ") => percent(share).map(Self::Dump),
            _ if let Some(every) = text.strip_prefix("ship every ") => {
                let every: Duration = every.parse().map_err(|error| format!("{error}"))?;
                if every.0.is_zero() {
                    return Err("must ship after some time".to_owned());
                }
                Ok(Self::Ship(every))
            }
            _ => Err("must be `none`, `own reads 25`, `dump 25` or `ship every 10s`".to_owned()),
        }
    }
}

impl TryFrom<String> for Warm {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Warm> for String {
    fn from(warm: Warm) -> Self {
        warm.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_to_keep_warm_is_read_as_it_is_written() {
        for text in ["none", "own reads 10", "dump 25", "ship every 10s"] {
            assert_eq!(text.parse::<Warm>().unwrap().to_string(), text);
        }
        assert_eq!("own reads".parse(), Ok(Warm::OwnReads(READS_USUAL)));
        for wrong in [
            "",
            "dump",
            "dump 0",
            "dump 101",
            "ship every",
            "ship every 0s",
        ] {
            wrong.parse::<Warm>().unwrap_err();
        }
    }
}

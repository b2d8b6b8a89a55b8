//! The names of the rules: what they ask stands in `weir explain` and `docs/rules.md`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A rule that judges a design, a comparison or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[allow(missing_docs, reason = "each is documented by its rule in weir-judge")]
pub enum RuleId {
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    R16,
    R17,
    R18,
    R19,
    R20,
    R21,
    R22,
    R23,
    R24,
    #[serde(rename = "drive")]
    Drive,
    #[serde(rename = "profile")]
    Profile,
    #[serde(rename = "hosts")]
    Hosts,
}

impl RuleId {
    /// All rules, in the order of their numbers.
    pub const ALL: [Self; 27] = [
        Self::R1,
        Self::R2,
        Self::R3,
        Self::R4,
        Self::R5,
        Self::R6,
        Self::R7,
        Self::R8,
        Self::R9,
        Self::R10,
        Self::R11,
        Self::R12,
        Self::R13,
        Self::R14,
        Self::R15,
        Self::R16,
        Self::R17,
        Self::R18,
        Self::R19,
        Self::R20,
        Self::R21,
        Self::R22,
        Self::R23,
        Self::R24,
        Self::Drive,
        Self::Profile,
        Self::Hosts,
    ];
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drive => f.pad("drive"),
            Self::Profile => f.pad("profile"),
            Self::Hosts => f.pad("hosts"),
            numbered => f.pad(&format!("{numbered:?}")),
        }
    }
}

impl FromStr for RuleId {
    type Err = UnknownRule;

    /// The rule that is called `name`, in capitals or not.
    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|rule| rule.to_string().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownRule(name.to_owned()))
    }
}

/// No rule has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no rule `{0}`; `weir explain` lists all")]
pub struct UnknownRule(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_written_and_read_by_its_name() {
        for rule in RuleId::ALL {
            let name = rule.to_string();
            assert_eq!(name.to_lowercase().parse(), Ok(rule));
            let json = format!("\"{name}\"");
            assert_eq!(serde_json::to_string(&rule).unwrap(), json);
            assert_eq!(serde_json::from_str::<RuleId>(&json).unwrap(), rule);
        }
        let unknown = "R99".parse::<RuleId>().unwrap_err();
        assert!(unknown.to_string().contains("`R99`"));
    }
}

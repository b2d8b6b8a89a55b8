//! The two sysbenches that users have scripts for.

use std::str::FromStr;

/// Version whose defaults and words are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// 1.0.20, the last release, which distributions ship.
    #[default]
    Release,
    /// 1.1, which was never released and which many build themselves.
    Development,
}

impl Compat {
    /// Returns the version, as `--version` and the report's first line have it.
    pub(super) const fn version(self) -> &'static str {
        match self {
            Self::Release => "1.0.20",
            Self::Development => "1.1.0",
        }
    }
}

impl FromStr for Compat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "1.0.20" | "1.0" => Ok(Self::Release),
            "1.1" | "1.1.0" => Ok(Self::Development),
            _ => Err("must be 1.0.20 or 1.1"),
        }
    }
}

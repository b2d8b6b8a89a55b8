//! Faults that a drive can be given while it is mounted.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Table;

use super::settings::parse_value;
use crate::{OpKind, parse_toml};

/// Faults of a drive; by default none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Seed of all that is random.
    pub seed: u64,
    /// Share of operations that fail with `EIO`, 0 to 1. A write that fails writes nothing.
    pub error_rate: f64,
    /// Operations that may fail so.
    pub error_operations: Operations,
    /// Files that may fail so: a pattern (`*`, `?`, `[..]`) of names, or of paths if it has a `/`.
    pub error_files: String,
    /// Share of operations that take longer, 0 to 1.
    pub spike_rate: f64,
    /// By how much, microseconds.
    pub spike_us: f64,
    /// No operation completes until this is false again.
    pub stuck: bool,
    /// Speed at which the write buffer drains: a share of its usual speed, above 0 to 1.
    pub drain_share: f64,
    /// Share of reads before which one bit of the stored data that they read flips, 0 to 1.
    pub rot_rate: f64,
    /// Files whose bits flip; a pattern as in `error_files`.
    pub rot_files: String,
    /// Writes that need more space fail with `ENOSPC`.
    pub full: bool,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            seed: 1,
            error_rate: 0.0,
            error_operations: Operations::All,
            error_files: "*".to_owned(),
            spike_rate: 0.0,
            spike_us: 0.0,
            stuck: false,
            drain_share: 1.0,
            rot_rate: 0.0,
            rot_files: "*".to_owned(),
            full: false,
        }
    }
}

/// Kinds of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operations {
    /// Reads, writes and flushes.
    All,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// fsync and fdatasync.
    Flush,
}

impl Operations {
    /// Returns true if `kind` is one of them.
    pub fn contain(self, kind: OpKind) -> bool {
        matches!(
            (self, kind),
            (Self::All, _)
                | (Self::Read, OpKind::Read)
                | (Self::Write, OpKind::Write)
                | (Self::Flush, OpKind::Flush)
        )
    }
}

/// A setting that no drive has.
#[derive(Debug, Error, PartialEq)]
pub enum FaultError {
    /// Not a fault, or not a value of its type.
    #[error("fault `{key}={value}`: {message}")]
    Syntax {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// Problem in one line.
        message: String,
    },
    /// Out of its bounds.
    #[error("fault `{key}` = {value} ({why})")]
    Value {
        /// The key.
        key: &'static str,
        /// The value.
        value: f64,
        /// Permitted values.
        why: &'static str,
    },
}

impl Faults {
    /// Returns true if a drive with these behaves as without.
    pub fn are_none(&self) -> bool {
        let idle = Self {
            seed: self.seed,
            error_operations: self.error_operations,
            error_files: self.error_files.clone(),
            rot_files: self.rot_files.clone(),
            spike_us: self.spike_us,
            ..Self::default()
        };
        *self == idle
    }

    /// These with `key` set to `value`, written as in TOML; text may do without quotes.
    ///
    /// # Errors
    /// If the key is unknown, or the value of another type.
    pub fn with(&self, key: &str, value: &str) -> Result<Self, FaultError> {
        let syntax = |message: String| FaultError::Syntax {
            key: key.to_owned(),
            value: value.to_owned(),
            message,
        };
        let mut table = Table::try_from(self).map_err(|error| syntax(error.to_string()))?;
        table.insert(key.to_owned(), parse_value(value));
        let text = toml::to_string(&table).map_err(|error| syntax(error.to_string()))?;
        let faults: Self =
            parse_toml(&text).map_err(|message| syntax(super::settings::without_line(&message)))?;
        faults.check()?;
        Ok(faults)
    }

    fn check(&self) -> Result<(), FaultError> {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let checks = [
            ("error_rate", self.error_rate, share(self.error_rate)),
            ("spike_rate", self.spike_rate, share(self.spike_rate)),
            ("rot_rate", self.rot_rate, share(self.rot_rate)),
            (
                "drain_share",
                self.drain_share,
                share(self.drain_share) && self.drain_share > 0.0,
            ),
            (
                "spike_us",
                self.spike_us,
                (0.0..=SPIKE_US_MAX).contains(&self.spike_us),
            ),
        ];
        for (key, value, possible) in checks {
            if !possible {
                let why = match key {
                    "spike_us" => "must be 0 to 1,000,000,000",
                    "drain_share" => "must be above 0 and at most 1",
                    _ => "must be a share, 0 to 1",
                };
                return Err(FaultError::Value { key, value, why });
            }
        }
        Ok(())
    }
}

/// A thousand seconds: what is longer is a stuck drive.
const SPIKE_US_MAX: f64 = 1e9;

/// Counters of injected faults.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultStatistics {
    /// The faults as they are set now.
    pub set: Faults,
    /// Operations that failed with `EIO`.
    pub errors: u64,
    /// Operations that took longer.
    pub spikes: u64,
    /// Bits that flipped.
    pub flipped_bits: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_set_one_by_one() {
        let faults = Faults::default().with("error_rate", "0.5").unwrap();
        let faults = faults.with("error_files", "#ib_redo*").unwrap();
        let faults = faults.with("error_operations", "write").unwrap();
        assert!((faults.error_rate - 0.5).abs() < 1e-12 && faults.error_files == "#ib_redo*");
        assert!(faults.error_operations.contain(OpKind::Write));
        assert!(!faults.error_operations.contain(OpKind::Flush));
        assert!(!faults.are_none());
        assert!(faults.with("error_rate", "0").unwrap().are_none());
        assert!(!Faults::default().with("stuck", "true").unwrap().are_none());
    }

    #[test]
    fn what_is_no_fault_is_refused_in_one_line() {
        let refused = |key: &str, value: &str| {
            let error = Faults::default().with(key, value).unwrap_err().to_string();
            assert_eq!(error.lines().count(), 1);
            error
        };
        assert!(refused("eror_rate", "1").contains("did you mean `error_rate`?"));
        assert!(refused("error_rate", "2").contains("must be a share, 0 to 1"));
        assert!(refused("drain_share", "0").contains("above 0"));
        assert!(refused("stuck", "maybe").contains("stuck"));
    }
}

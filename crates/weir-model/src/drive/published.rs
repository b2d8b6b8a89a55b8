//! Trust in a profile: the evidence for its figures, and measurements by others.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// Evidence for the figures of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Measurements of such a drive.
    Measured,
    /// The maker's or provider's figures, looked up.
    DataSheet,
    /// Memory or derivation, for most of them.
    Recalled,
}

impl Grade {
    /// In words, after "rests on".
    pub fn words(self) -> &'static str {
        match self {
            Self::Measured => "measurements",
            Self::DataSheet => "its maker's figures",
            Self::Recalled => "recalled figures",
        }
    }
}

/// One figure that an independent party measured, and that the profile was not made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedPoint {
    /// Place where it was read.
    pub source: String,
    /// When it was published: a day, a month or a year, as `2017-04-24`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub date: String,
    /// Reads or writes.
    pub operation: PublishedOperation,
    /// Bytes of one operation.
    pub bytes: Bytes,
    /// Operations under way.
    pub depth: u32,
    /// In sequence; else random.
    #[serde(default)]
    pub sequential: bool,
    /// Bytes over which random operations spread. Left out, many times what a buffer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Capacity of the model that was measured, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_capacity: Option<Bytes>,
    /// The drive was new or empty. Sequential operations always are on such a drive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Kind of the figure.
    pub figure: PublishedFigure,
    /// Measured value.
    pub measured: f64,
    /// Value of the emulated drive, in virtual time; a test holds it to the model.
    pub emulated: f64,
    /// Other differences: a file system, another size of the same model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caveat: String,
}

/// The operations of a published measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PublishedOperation {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// Figure of a published measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PublishedFigure {
    /// Operations a second.
    Iops,
    /// Mean latency, microseconds.
    LatencyUs,
    /// 10^6 bytes a second.
    MbPerS,
}

impl PublishedPoint {
    /// The emulated figure's distance from the measured one, as a share of it.
    pub fn error(&self) -> f64 {
        self.emulated / self.measured - 1.0
    }

    /// Within 10 %.
    pub fn agrees(&self) -> bool {
        self.error().abs() <= 0.1
    }

    /// Unit of its figures, as it follows a number.
    pub fn unit(&self) -> &'static str {
        match self.figure {
            PublishedFigure::Iops => "/s",
            PublishedFigure::LatencyUs => " us",
            PublishedFigure::MbPerS => " MB/s",
        }
    }

    /// Operation, size and depth in words.
    pub fn what(&self) -> String {
        let order = if self.sequential {
            "sequential"
        } else {
            "random"
        };
        let operation = match self.operation {
            PublishedOperation::Read => "reads",
            PublishedOperation::Write => "writes",
        };
        format!(
            "{order} {operation} of {}, depth {}",
            self.bytes, self.depth
        )
    }

    /// In one line.
    pub fn words(&self) -> String {
        let (what, unit) = (self.what(), self.unit());
        let verdict = if self.agrees() { "agrees" } else { "disagrees" };
        let caveat = if self.caveat.is_empty() {
            String::new()
        } else {
            format!("; {}", self.caveat)
        };
        format!(
            "{what}: {}{unit} measured, {}{unit} emulated ({:+.0} %, {verdict}; {}{caveat})",
            self.measured,
            self.emulated,
            self.error() * 100.0,
            self.source
        )
    }
}

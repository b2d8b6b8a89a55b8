//! A sentence about a server, with the values that it follows from.

use serde::Serialize;

/// Unit of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Events a second.
    #[serde(rename = "/s")]
    PerSecond,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Fraction of 1.
    #[serde(rename = "fraction")]
    Fraction,
    /// A number of things.
    #[serde(rename = "")]
    Count,
}

/// A value that the server told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterValue {
    /// The server's name for it.
    pub name: String,
    /// Value in its unit.
    pub value: f64,
    /// Unit of the value.
    pub unit: Unit,
}

impl CounterValue {
    pub(super) fn new(name: &str, value: f64, unit: Unit) -> Self {
        Self {
            name: name.to_owned(),
            value,
            unit,
        }
    }
}

/// Weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// The counters of the window show it.
    Problem,
    /// The counters show it since the server started, and not in the window.
    SinceStart,
    /// Nothing is wrong with it.
    Fact,
}

/// A sentence about a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Short name, such as `log buffer`.
    pub name: String,
    /// Weight of the finding.
    pub weight: Weight,
    /// The sentence.
    pub text: String,
    /// Values that it follows from.
    pub readings: Vec<CounterValue>,
    /// Settings that belong to it, as `name = value`.
    pub settings: Vec<String>,
    /// Statement or table of the server that has the values.
    pub source: String,
}

impl Finding {
    pub(super) fn new(
        name: &str,
        weight: Weight,
        text: impl Into<String>,
        readings: Vec<CounterValue>,
        source: &str,
    ) -> Self {
        Self {
            name: name.to_owned(),
            weight,
            text: text.into(),
            readings,
            settings: Vec::new(),
            source: source.to_owned(),
        }
    }
}

/// A part of the server that could not be seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unseen {
    /// The part.
    pub what: String,
    /// Reason.
    pub why: String,
    /// Statement or setting that would show it; the user's to run.
    pub remedy: String,
}

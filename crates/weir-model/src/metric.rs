//! Metrics that probes sample: one constant per metric, with unit, kind and source.

mod names;
mod series;

use serde::{Deserialize, Serialize};

pub use names::metrics;
pub use series::{Gap, Series};

/// How a metric's values are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Only grows: the difference of two samples over their distance in time is a rate.
    Counter,
    /// A level at an instant.
    Gauge,
}

/// A metric: what is measured, in which unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Name, unit last: `server.cpu_s`.
    pub name: &'static str,
    /// What it says, for a reader of the report.
    pub title: &'static str,
    /// Unit of the stored values.
    pub unit: &'static str,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// What it has a series for each of: `core`, `kind of file`; empty: there is only one.
    pub per: &'static str,
    /// Where the value comes from.
    pub source: &'static str,
}

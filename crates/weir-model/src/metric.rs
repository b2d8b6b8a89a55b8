//! Metrics that probes sample: one constant per metric, with unit, kind and source.

mod names;
mod series;

use serde::{Deserialize, Serialize};

pub use names::metrics;
pub use series::{Gap, Series};

/// Meaning of a metric's values.
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
    /// Title for a reader of the report.
    pub title: &'static str,
    /// Unit of the stored values.
    pub unit: &'static str,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// Thing that has a series each: `core`, `kind of file`; empty: there is only one.
    pub per: &'static str,
    /// Source of the value.
    pub source: &'static str,
}

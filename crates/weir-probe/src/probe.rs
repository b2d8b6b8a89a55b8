//! What every probe can do.

use weir_model::Metric;

use crate::ProbeError;

/// One value of one metric, in the metric's unit.
pub type Reading = (Metric, f64);

/// Reads the metrics of one source.
pub trait Probe: Send {
    /// What is probed, for messages: `server status`.
    fn name(&self) -> &'static str;

    /// Reads all metrics of the source once. A metric that the source does not have is left out.
    fn sample(&mut self) -> Result<Vec<Reading>, ProbeError>;
}

//! Interface of every probe.

use crate::{ProbeError, Readings};

/// Reads the metrics of one source.
pub trait Probe: Send {
    /// Returns the name for messages: `server status`.
    fn name(&self) -> &'static str;

    /// Reads all metrics of the source once. A metric that the source does not have is left out.
    ///
    /// # Errors
    /// If the source cannot be read: the sample is a gap.
    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError>;
}

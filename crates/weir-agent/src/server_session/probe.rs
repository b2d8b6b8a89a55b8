//! The sources of a server on another host, each as a probe of its own.

use std::sync::Arc;

use weir_model::ServerHost;
use weir_probe::{Probe, ProbeError, Readings};

use crate::line::Line;
use crate::server_host::read;

/// Asks for the samples of one source on the server's host.
#[derive(Debug)]
pub struct RemoteProbe {
    pub(super) line: Arc<Line>,
    /// Agent, host and source.
    pub(super) name: String,
    pub(super) watch: String,
}

impl Probe for RemoteProbe {
    fn name(&self) -> &'static str {
        ServerHost::SOURCE
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        read(readings, &self.name, self.line.sample(&self.watch))
    }
}

//! The sources of a server on another host, each as a probe of its own.

use std::sync::Arc;

use weir_model::ServerHost;
use weir_probe::{Probe, ProbeError, Readings};

use super::line::Line;
use crate::crew::unexpected;
use crate::error::AgentError;
use crate::messages::{Answer, Order, Sample};
use crate::server_host::{SAMPLE_PATIENCE, read};

/// Asks for the samples of one source on the server's host.
#[derive(Debug)]
pub struct RemoteProbe {
    pub(super) line: Arc<Line>,
    pub(super) agent: String,
    /// Agent, host and source.
    pub(super) name: String,
    pub(super) watch: String,
}

impl RemoteProbe {
    fn ask(&self) -> Result<Sample, AgentError> {
        let watch = self.watch.clone();
        match self
            .line
            .ask(Order::Sample { watch }, "sample", SAMPLE_PATIENCE)?
        {
            Answer::Sample(sample) => Ok(sample),
            answer => Err(unexpected(&self.agent, &answer)),
        }
    }
}

impl Probe for RemoteProbe {
    fn name(&self) -> &'static str {
        ServerHost::SOURCE
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        read(readings, &self.name, self.ask())
    }
}

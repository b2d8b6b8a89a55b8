//! How far a replica of the measured server is behind.

use weir_model::Endpoint;

use super::login::Login;
use super::replication::Replication;
use crate::{Probe, ProbeError, Readings};

/// Reads a replica's lag, under the replica's name.
#[derive(Debug)]
pub struct ReplicaProbe {
    login: Login,
    replication: Replication,
}

impl ReplicaProbe {
    /// The replica called `name`, which listens at `endpoint`; it is connected to at the first sample, and
    /// again after a failure.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            login: Login::new(endpoint),
            replication: Replication::of(name),
        }
    }
}

impl Probe for ReplicaProbe {
    fn name(&self) -> &'static str {
        "replica"
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        let replication = &mut self.replication;
        self.login
            .read(|connection| replication.sample(connection, readings))
    }
}

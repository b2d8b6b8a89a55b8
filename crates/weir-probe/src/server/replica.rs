//! How far a replica of the measured server is behind.

use mysql::Conn;
use weir_model::Endpoint;

use super::PATIENCE;
use super::replication::Replication;
use crate::{Probe, ProbeError, Readings};

/// Reads a replica's lag, under the replica's name.
#[derive(Debug)]
pub struct ReplicaProbe {
    endpoint: Endpoint,
    connection: Option<Conn>,
    replication: Replication,
}

impl ReplicaProbe {
    /// The replica called `name`, which listens at `endpoint`; it is connected to at the first sample, and
    /// again after a failure.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            connection: None,
            replication: Replication::of(name),
        }
    }

    fn read(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        if self.connection.is_none() {
            let new = weir_control::connect(&self.endpoint, PATIENCE);
            self.connection = Some(new.map_err(ProbeError::server)?);
        }
        let connection = self.connection.as_mut();
        let connection = connection.expect("invariant: it was just connected");
        self.replication.sample(connection, readings)
    }
}

impl Probe for ReplicaProbe {
    fn name(&self) -> &'static str {
        "replica"
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        let read = self.read(readings);
        if read.is_err() {
            self.connection = None;
        }
        read
    }
}

//! Lag of a replica of the measured server.

use weir_model::{Endpoint, metrics};

use super::login::Login;
use super::replication::Replication;
use crate::{Probe, ProbeError, Readings};

/// Reads a replica's lag, under the replica's name.
#[derive(Debug)]
pub struct ReplicaProbe {
    login: Login,
    replication: Replication,
    /// The replica's name, if its newest heartbeat is read.
    heartbeat: Option<String>,
}

/// Milliseconds since the newest heartbeat; both servers have one clock.
const HEARTBEAT_AGE: &str = "SELECT CAST(TIMESTAMPDIFF(MICROSECOND, written_at, UTC_TIMESTAMP(6)) AS DOUBLE) / 1000 \
                             FROM weir_heartbeat.beat";

impl ReplicaProbe {
    /// The replica called `name`, which listens at `endpoint`; it is connected to at the first sample, and
    /// again after a failure.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            login: Login::new(endpoint),
            replication: Replication::new(name),
            heartbeat: None,
        }
    }

    /// Also reads the newest heartbeat that the replica called `name` has applied.
    #[must_use]
    pub fn with_heartbeat(mut self, name: impl Into<String>) -> Self {
        self.heartbeat = Some(name.into());
        self
    }
}

impl Probe for ReplicaProbe {
    fn name(&self) -> &'static str {
        "replica"
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        let (replication, heartbeat) = (&mut self.replication, &self.heartbeat);
        self.login.read(|connection| {
            replication.sample(connection, readings)?;
            if let Some(name) = heartbeat {
                let age: Option<f64> = connection
                    .first(HEARTBEAT_AGE)
                    .map_err(ProbeError::server)?;
                if let Some(age_ms) = age {
                    readings.add_of(metrics::REPLICATION_HEARTBEAT_LAG, name, age_ms);
                }
            }
            Ok(())
        })
    }
}

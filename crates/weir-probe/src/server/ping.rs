//! Time of the way to the server and back, with nothing to do there.

use std::time::Instant;

use weir_model::metrics;
use weir_mysql::Connection;

use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

/// `COM_PING`, timed.
#[derive(Debug)]
pub(super) struct Ping;

impl Part<Connection> for Ping {
    fn name(&self) -> &'static str {
        "ping"
    }

    fn read(
        &mut self,
        connection: &mut Connection,
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        let began = Instant::now();
        connection.ping().map_err(ProbeError::server)?;
        let took_us = began.elapsed().as_secs_f64() * 1e6;
        readings.add(metrics::STATUS_ROUND_TRIP, took_us);
        Ok(())
    }
}

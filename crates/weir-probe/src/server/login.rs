//! A probe's own connection to its server.

use mysql::Conn;
use weir_model::Endpoint;

use super::PATIENCE;
use crate::ProbeError;

/// Connects when it is first needed, and again after a failure.
#[derive(Debug)]
pub(super) struct Login {
    endpoint: Endpoint,
    connection: Option<Conn>,
}

impl Login {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            connection: None,
        }
    }

    /// What `read` reads over the connection. One that failed is dropped: an answer that comes after all
    /// would be taken for the next one's.
    pub(super) fn read(
        &mut self,
        read: impl FnOnce(&mut Conn) -> Result<(), ProbeError>,
    ) -> Result<(), ProbeError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => weir_control::connect(&self.endpoint, PATIENCE).map_err(ProbeError::server)?,
        };
        read(&mut connection)?;
        self.connection = Some(connection);
        Ok(())
    }
}

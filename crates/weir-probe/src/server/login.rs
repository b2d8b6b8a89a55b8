//! A probe's own connection to its server.

use weir_model::Endpoint;
use weir_mysql::{Connection, Gate};

use super::PATIENCE;
use crate::ProbeError;

/// Connects when it is first needed, and again after a failure.
#[derive(Debug)]
pub(super) struct Login {
    endpoint: Endpoint,
    connection: Option<Connection>,
}

impl Login {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            connection: None,
        }
    }

    /// Runs `read` over the connection. One that failed is dropped: an answer that comes after all would be taken for
    /// the next one's.
    pub(super) fn read(
        &mut self,
        read: impl FnOnce(&mut Connection) -> Result<(), ProbeError>,
    ) -> Result<(), ProbeError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.endpoint, &Gate::reading(), PATIENCE)
                .map_err(ProbeError::server)?,
        };
        read(&mut connection)?;
        self.connection = Some(connection);
        Ok(())
    }
}

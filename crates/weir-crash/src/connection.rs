//! Connections to the servers that the crash lab starts.

use weir_model::Endpoint;
use weir_mysql::{ClientError, Connection, Connector, Gate, Patience};

/// A connection to `endpoint`, a server of the test's own, and its schema.
pub(crate) fn connect(endpoint: &Endpoint) -> Result<Connection, ClientError> {
    let connector = Connector::new(endpoint.clone(), None, Gate::own())?;
    Connection::connect(&connector, true, Patience::Endless)
}

/// Returns true if the error is that of a killed server's clients.
pub(crate) fn is_broken(error: &ClientError) -> bool {
    error.is_lost()
}

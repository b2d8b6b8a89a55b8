//! The schema that a load works in.

use weir_model::Endpoint;
use weir_mysql::{Connection, Connector, Gate, Patience, identifier, text_literal};

use crate::LoadError;

/// Makes the schema of `endpoint` if it is missing.
///
/// # Errors
///
/// A server that refuses or dies.
pub fn make_missing_schema(endpoint: &Endpoint, gate: &Gate) -> Result<(), LoadError> {
    let connector = Connector::new(endpoint.clone(), None, gate.clone())?;
    let mut control = Connection::connect(&connector, false, Patience::Endless)?;
    make_schema(&mut control, &endpoint.database)
}

/// Makes the schema if it is missing: `IF NOT EXISTS` alone would also be written to the binary log where
/// it is there.
pub(crate) fn make_schema(control: &mut Connection, schema: &str) -> Result<(), LoadError> {
    let count = format!(
        "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = {}",
        text_literal(schema)
    );
    if control.first::<u64>(&count)? != Some(0) {
        return Ok(());
    }
    control.run(format!(
        "CREATE DATABASE IF NOT EXISTS {}",
        identifier(schema)
    ))?;
    Ok(())
}

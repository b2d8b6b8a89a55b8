//! The schema that a load works in.

use weir_mysql::{Connection, identifier, text_literal};

use crate::LoadError;

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

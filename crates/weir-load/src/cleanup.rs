//! Drops what [`prepare`](crate::prepare) has made.

use weir_model::Endpoint;

use crate::LoadError;
use crate::connect::Connector;
use crate::control::Control;
use crate::workload::table_name;

/// Drops the first `tables` tables; one that does not exist is no error. The schema stays.
pub fn cleanup(endpoint: &Endpoint, tables: u32) -> Result<(), LoadError> {
    let mut control = Control::connect(&Connector::new(endpoint.clone())?, true, None)?;
    for number in 1..=tables {
        control.run(&format!("DROP TABLE IF EXISTS {}", table_name(number)))?;
    }
    Ok(())
}

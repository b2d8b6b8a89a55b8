//! Check that the tables of order entry are as large as the run demands.

use weir_model::OrderEntryWorkload;
use weir_mysql::{ClientError, Connection};

use super::NO_SUCH_TABLE;
use crate::LoadError;
use crate::prepare::MARK;

/// Refuses tables with fewer warehouses, items or customers than the workload has, and tables that are half loaded.
/// Highest keys are read, since counting rows would read whole tables into the buffer pool.
pub(super) fn check(
    workload: &OrderEntryWorkload,
    schema: &str,
    control: &mut Connection,
) -> Result<(), LoadError> {
    let OrderEntryWorkload {
        warehouses,
        items,
        customers,
        ..
    } = *workload;
    let refused = |table: &str, why: String| LoadError::Table {
        table: format!("{schema}.{table}"),
        why,
    };
    for (table, what, asked, query) in [
        (
            "warehouse",
            "warehouses",
            warehouses,
            "SELECT MAX(w_id) FROM warehouse",
        ),
        ("item", "items", items, "SELECT MAX(i_id) FROM item"),
        (
            "customer",
            "customers of a district",
            customers,
            "SELECT MAX(c_id) FROM customer WHERE c_w_id = 1 AND c_d_id = 1",
        ),
    ] {
        let found = match control.first::<Option<u32>>(query) {
            Ok(found) => found.flatten().unwrap_or(0),
            Err(ClientError::Statement {
                code: NO_SUCH_TABLE,
                ..
            }) => return Err(refused(table, "does not exist".to_owned())),
            Err(error) => return Err(error.into()),
        };
        // Further warehouses are left alone; an item beyond the last must not exist.
        let fits = match what {
            "warehouses" => found >= asked,
            _ => found == asked,
        };
        if !fits {
            let why = format!("has {found} {what}, but {asked} are asked for");
            return Err(refused(table, why));
        }
    }
    let half_loaded = control.first::<String>(format!(
        "SELECT table_name FROM information_schema.tables \
         WHERE table_schema = DATABASE() AND table_comment LIKE '{MARK}%'"
    ))?;
    match half_loaded {
        Some(table) => Err(refused(&table, "is half loaded".to_owned())),
        None => Ok(()),
    }
}

//! Foreign keys of tables that the account does not see: their rows would go with a parent, or not come back with it.

use weir_mysql::{Connection, text_literal};

use crate::foreign_keys::ForeignKey;
use crate::step::Step;
use crate::{FlashbackError, Table};

/// Checks that all tables are known that refer to rows which these steps remove, bring back or change in an index.
///
/// # Errors
///
/// An account that does not see all tables, or a server that is gone.
pub(crate) fn check(
    connection: &mut Connection,
    tables: &[Table],
    seen: &[ForeignKey],
    steps: &[&Step],
) -> Result<(), FlashbackError> {
    for (number, table) in tables.iter().enumerate() {
        let indexed = indexed_columns(connection, table)?;
        let moved = steps
            .iter()
            .find(|step| step.table == number && moves(step, &indexed));
        let Some(step) = moved else { continue };
        if !sees_all(connection, table, seen)? {
            return Err(FlashbackError::refused(
                format!(
                    "{}: rows of tables that the account does not see may refer to it",
                    step.row_name(tables)
                ),
                "GRANT PROCESS, and SELECT on tables that refer to it, or pass --ignore-cascades if no other schema has such a table",
            ));
        }
    }
    Ok(())
}

/// Numbers of the columns to which a foreign key may refer.
fn indexed_columns(
    connection: &mut Connection,
    table: &Table,
) -> Result<Vec<usize>, FlashbackError> {
    let names: Vec<Option<String>> = connection.rows(format!(
        "SELECT DISTINCT COLUMN_NAME FROM information_schema.STATISTICS WHERE {}",
        table.name.condition("TABLE_SCHEMA", "TABLE_NAME")
    ))?;
    let is_indexed = |name: &str| names.iter().flatten().any(|one| one == name);
    let columns = table.columns.iter().enumerate();
    Ok(columns
        .filter(|(_, column)| is_indexed(&column.name))
        .map(|(at, _)| at)
        .collect())
}

fn moves(step: &Step, indexed: &[usize]) -> bool {
    match (&step.before, &step.after) {
        (Some(before), Some(after)) => indexed.iter().any(|at| before[*at] != after[*at]),
        _ => true,
    }
}

/// Returns true if no foreign key to the table can be hidden.
fn sees_all(
    connection: &mut Connection,
    table: &Table,
    seen: &[ForeignKey],
) -> Result<bool, FlashbackError> {
    let of_account = "GRANTEE = CONCAT(QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@', \
                      QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))";
    let reads_all: Option<u64> = connection.first(format!(
        "SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'SELECT' AND {of_account}"
    ))?;
    if reads_all > Some(0) {
        return Ok(true);
    }
    let parent = text_literal(&format!("{}/{}", table.name.schema, table.name.table));
    let known = seen.iter().filter(|key| key.parent == table.name).count();
    // The names of MySQL and of MariaDB. They need PROCESS; MariaDB encodes names that are no words.
    for keys in ["INNODB_FOREIGN", "INNODB_SYS_FOREIGN"] {
        let query = format!(
            "SELECT COALESCE(SUM(REF_NAME = {parent}), 0), COALESCE(SUM(REF_NAME LIKE '%@%'), 0) FROM information_schema.{keys}"
        );
        match connection.first::<(usize, usize)>(query) {
            Ok(found) => return Ok(found == Some((known, 0))),
            Err(error) if error.is_lost() => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(false)
}

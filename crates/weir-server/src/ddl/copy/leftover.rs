//! Objects that a copier makes beside the table, by names that show their origin, and their
//! removal.

use weir_mysql::Connection;

use crate::ddl::DdlError;
use crate::ddl::schema_objects::{self, Leftover, qualified};

/// Longest name of a table or a trigger, characters.
const NAME_MAX: usize = 64;
/// Ends of the names of tables. They begin with the table's own name: a RENAME locks tables in the order of their
/// names, and has to wait for that one first (`swap`).
const TABLES: [&str; 2] = ["_weir_new", "_weir_old"];
/// Ends of the names of triggers.
const TRIGGERS: [&str; 3] = ["_weir_ins", "_weir_upd", "_weir_del"];

/// Names in SQL, with their schema.
#[derive(Debug)]
pub(super) struct Names {
    schema: String,
    plain: String,
    /// The table.
    pub(super) table: String,
    /// The new one.
    pub(super) new: String,
    /// The table after the swap.
    pub(super) old: String,
}

impl Names {
    pub(super) fn for_table(schema: &str, table: &str) -> Result<Self, DdlError> {
        if table.chars().count() + TABLES[0].len() > NAME_MAX {
            return Err(DdlError::Table {
                table: format!("{schema}.{table}"),
                why: "its name is too long for a copy".to_owned(),
                remedy: "take a table with a shorter name",
            });
        }
        let own = |end: &str| qualified(schema, &format!("{table}{end}"));
        Ok(Self {
            schema: schema.to_owned(),
            plain: table.to_owned(),
            table: qualified(schema, table),
            new: own(TABLES[0]),
            old: own(TABLES[1]),
        })
    }

    /// The new table's name alone.
    pub(super) fn new_plain(&self) -> String {
        format!("{}{}", self.plain, TABLES[0])
    }

    /// A trigger, by the end of its name.
    pub(super) fn trigger(&self, number: usize) -> String {
        let end = TRIGGERS[number];
        qualified(&self.schema, &format!("{}{end}", self.plain))
    }

    /// Removes what a copier of this table has made: triggers first, which would miss their table.
    pub(super) fn remove(&self, connection: &mut Connection) -> Result<(), DdlError> {
        for number in 0..TRIGGERS.len() {
            connection.run(format!("DROP TRIGGER IF EXISTS {}", self.trigger(number)))?;
        }
        for table in [&self.new, &self.old] {
            connection.run(format!("DROP TABLE IF EXISTS {table}"))?;
        }
        Ok(())
    }
}

/// Returns the objects that copiers left in a schema, triggers first.
///
/// # Errors
///
/// A server that is gone, or an account that may not look.
pub fn leftovers(connection: &mut Connection, schema: &str) -> Result<Vec<Leftover>, DdlError> {
    let mut found = schema_objects::all(connection, schema)?;
    found.retain(is_of_a_copier);
    Ok(found)
}

/// Returns true if a copier of Weir names its tables or triggers so.
pub(crate) fn is_of_a_copier(object: &Leftover) -> bool {
    let endings: &[&str] = match object {
        Leftover::Trigger(_) => &TRIGGERS,
        Leftover::Table(_) => &TABLES,
    };
    endings.iter().any(|ending| object.name().ends_with(ending))
}

/// Removes what copiers left in a schema, and says what that was.
///
/// # Errors
///
/// As [`leftovers`].
pub fn remove_leftovers(
    connection: &mut Connection,
    schema: &str,
) -> Result<Vec<Leftover>, DdlError> {
    let found = leftovers(connection, schema)?;
    schema_objects::remove(connection, schema, &found)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A RENAME locks in the order of names: it has to wait for the table before it has locked a copy.
    #[test]
    fn copies_sort_behind_their_table() {
        for table in ["a", "zz", "t_weir", "sbtest1", "\u{10ffff}"] {
            let names = Names::for_table("shop", table).unwrap();
            for copy in [&names.new, &names.old] {
                let plain = copy.trim_start_matches("`shop`.").trim_matches('`');
                assert!(plain > table, "{copy}");
            }
        }
    }
}

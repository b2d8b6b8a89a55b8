//! What a copier makes beside the table, by names that say whose it is, and how that goes.

use weir_mysql::{Connection, identifier, text_literal};

use crate::DdlError;

/// Longest name of a table or a trigger.
const NAME_MAX: usize = 64;
/// Ends of the names of tables. They begin with the table's own name: a RENAME locks tables in the order of their
/// names, and has to wait for that one first (`swap`).
const TABLES: [&str; 2] = ["_weir_new", "_weir_old"];
/// Ends of the names of triggers.
const TRIGGERS: [&str; 3] = ["_weir_ins", "_weir_upd", "_weir_del"];

/// Something that a copier left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// A trigger, which writes to a table of the copier's.
    Trigger(String),
    /// A table.
    Table(String),
}

impl Leftover {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Trigger(name) | Self::Table(name) => name,
        }
    }
}

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
    pub(super) fn of(schema: &str, table: &str) -> Result<Self, DdlError> {
        if table.len() + TABLES[0].len() > NAME_MAX {
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

fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", identifier(schema), identifier(name))
}

/// What copiers left in a schema, triggers first.
///
/// # Errors
///
/// A server that is gone, or an account that may not look.
pub fn leftovers(connection: &mut Connection, schema: &str) -> Result<Vec<Leftover>, DdlError> {
    let names = |column: &str, table: &str, of: &str| {
        format!(
            "SELECT {column} FROM information_schema.{table} WHERE {of} = {}",
            text_literal(schema)
        )
    };
    let triggers: Vec<String> =
        connection.rows(names("TRIGGER_NAME", "TRIGGERS", "TRIGGER_SCHEMA"))?;
    let tables: Vec<String> = connection.rows(names("TABLE_NAME", "TABLES", "TABLE_SCHEMA"))?;
    let ends = |name: &String, ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let triggers = triggers.into_iter().filter(|name| ends(name, &TRIGGERS));
    let tables = tables.into_iter().filter(|name| ends(name, &TABLES));
    let triggers = triggers.map(Leftover::Trigger);
    Ok(triggers.chain(tables.map(Leftover::Table)).collect())
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
    for leftover in &found {
        let what = match leftover {
            Leftover::Trigger(_) => "TRIGGER",
            Leftover::Table(_) => "TABLE",
        };
        let name = qualified(schema, leftover.name());
        connection.run(format!("DROP {what} IF EXISTS {name}"))?;
    }
    Ok(found)
}

//! Tables and triggers of a schema: what a copy has left is found among them.

use weir_mysql::{Connection, identifier};

use crate::ddl::DdlError;
use crate::ddl::table_name::is_name;

/// Something that a copy left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// A trigger, which writes to a table of the copy's.
    Trigger(String),
    /// A table.
    Table(String),
}

impl Leftover {
    /// Returns the name of the object.
    pub fn name(&self) -> &str {
        match self {
            Self::Trigger(name) | Self::Table(name) => name,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Trigger(_) => "TRIGGER",
            Self::Table(_) => "TABLE",
        }
    }
}

/// `trigger pt_osc_shop_orders_del`.
impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind().to_ascii_lowercase(), self.name())
    }
}

/// A name with its schema, in SQL.
pub(crate) fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", identifier(schema), identifier(name))
}

/// All triggers of a schema, then all tables.
pub(crate) fn all(connection: &mut Connection, schema: &str) -> Result<Vec<Leftover>, DdlError> {
    let names = |column: &str, table: &str, of: &str| {
        format!(
            "SELECT {column} FROM information_schema.{table} WHERE {} ORDER BY 1",
            is_name(of, schema)
        )
    };
    let triggers: Vec<String> =
        connection.rows(names("TRIGGER_NAME", "TRIGGERS", "TRIGGER_SCHEMA"))?;
    let tables: Vec<String> = connection.rows(names("TABLE_NAME", "TABLES", "TABLE_SCHEMA"))?;
    let triggers = triggers.into_iter().map(Leftover::Trigger);
    Ok(triggers
        .chain(tables.into_iter().map(Leftover::Table))
        .collect())
}

/// Removes them in their order.
pub(crate) fn remove(
    connection: &mut Connection,
    schema: &str,
    objects: &[Leftover],
) -> Result<(), DdlError> {
    for object in objects {
        let name = qualified(schema, object.name());
        connection.run(format!("DROP {} IF EXISTS {name}", object.kind()))?;
    }
    Ok(())
}

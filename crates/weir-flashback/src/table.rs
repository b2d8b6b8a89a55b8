//! A table as the server has it now, and whether its past can be told.

use weir_model::Flavor;
use weir_mysql::{Connection, NameCase, Row, identifier, is_system_schema, text_literal};

use crate::definition::{definition_text, with_quoted_names, without_stored_expressions};
use crate::source::Variables;
use crate::{FlashbackError, Source};

/// Rules of a foreign key by which a change of the parent changes rows of the child.
pub(crate) const CASCADES: [&str; 3] = ["CASCADE", "SET NULL", "SET DEFAULT"];

/// The name of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// Schema of the table.
    pub schema: String,
    /// Name of the table.
    pub table: String,
}

impl TableName {
    /// Reads `SCHEMA.TABLE`, or `TABLE` of the schema `usual`; backquotes are taken off.
    pub fn read(text: &str, usual: &str) -> Self {
        let plain = |name: &str| name.trim().trim_matches('`').to_owned();
        match text.split_once('.') {
            Some((schema, table)) => Self {
                schema: plain(schema),
                table: plain(table),
            },
            None => Self {
                schema: usual.to_owned(),
                table: plain(text),
            },
        }
    }

    /// As SQL names it.
    pub fn sql(&self) -> String {
        format!("{}.{}", identifier(&self.schema), identifier(&self.table))
    }

    /// A condition on columns of the server's own tables that hold the names of a schema and a table as the server
    /// writes them. Some of these columns compare without the case of letters, whatever the server does with tables.
    pub(crate) fn condition(&self, schema: &str, table: &str) -> String {
        let names = [(schema, &self.schema), (table, &self.table)];
        let conditions = names.map(|(column, name)| {
            let name = text_literal(name);
            format!("{column} = {name} AND CAST({column} AS BINARY) = CAST({name} AS BINARY)")
        });
        conditions.join(" AND ")
    }
}

impl std::fmt::Display for TableName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}", self.schema, self.table)
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Name of the column's type, in lower case: `varchar`.
    pub data_type: String,
    /// Whole type of the column: `enum('a','b')`.
    pub column_type: String,
    /// The character set of its texts.
    pub charset: Option<String>,
    /// The server computes it.
    pub is_generated: bool,
    /// It computes it when it is read.
    pub is_virtual: bool,
}

impl Column {
    /// Returns true if the column's numbers have no sign.
    pub fn is_unsigned(&self) -> bool {
        self.column_type.contains("unsigned") || self.column_type.contains("zerofill")
    }
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name of the table.
    pub name: TableName,
    /// Columns of the table, in their order.
    pub columns: Vec<Column>,
    /// Numbers of the columns of a key that every row has; of all that are stored if there is none.
    pub key: Vec<usize>,
    /// It has no such key: rows that are equal are only counted.
    pub is_keyless: bool,
    /// The statement that makes it.
    pub create: String,
    /// It keeps its own past (`WITH SYSTEM VERSIONING`).
    pub is_versioned: bool,
    /// Which foreign key changes its rows without a word in the log, in words.
    pub unlogged: Option<String>,
}

impl Table {
    /// Reads what the server says of a table.
    ///
    /// # Errors
    ///
    /// A table that is not there, or whose changes the log does not have.
    pub(crate) fn read(
        connection: &mut Connection,
        source: &Source,
        variables: &Variables,
        name: &TableName,
        ignore_cascades: bool,
    ) -> Result<Self, FlashbackError> {
        if is_system_schema(&name.schema) {
            return Err(FlashbackError::refused(
                format!("{name} is one of the server's own tables"),
                "ask for a table of a schema of yours",
            ));
        }
        let (name, is_versioned) = kind(connection, name, variables.name_case())?;
        let name = &name;
        let columns = columns(connection, name)?;
        let key = key(connection, name, &columns)?;
        let is_keyless = key.is_none();
        let stored = columns.iter().enumerate();
        let stored = stored.filter(|(_, column)| !column.is_virtual);
        let key = key.unwrap_or_else(|| stored.map(|(at, _)| at).collect());
        let unlogged = if is_versioned {
            None
        } else {
            unlogged(connection, source, variables, name)?
        };
        if let Some(what) = unlogged.as_ref().filter(|_| !ignore_cascades) {
            return Err(FlashbackError::refused(
                what,
                "pass --ignore-cascades if no row of the parent was deleted or got another key since",
            ));
        }
        let create: Option<(String, Vec<u8>)> =
            connection.first(format!("SHOW CREATE TABLE {}", name.sql()))?;
        let keys: Vec<String> = connection.rows(format!(
            "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE {} AND CONSTRAINT_TYPE = 'FOREIGN KEY' \
             AND CONSTRAINT_NAME LIKE '%`%'",
            name.condition("TABLE_SCHEMA", "TABLE_NAME")
        ))?;
        let create = create.map(|(_, create)| with_quoted_names(create, &keys));
        Ok(Self {
            name: name.clone(),
            columns,
            key,
            is_keyless,
            create: definition_text(&create.unwrap_or_default()),
            is_versioned,
            unlogged,
        })
    }

    /// An error if its rows cannot be told apart.
    pub(crate) fn check_key(&self) -> Result<(), FlashbackError> {
        if !self.is_keyless {
            return Ok(());
        }
        Err(FlashbackError::refused(
            format!(
                "{} has neither a primary key nor a unique key without NULL, so that its rows cannot be told apart",
                self.name
            ),
            "ask for the table as it was: a query, --serve and --into can tell it",
        ))
    }

    /// The table with stored generated columns as plain ones, so that they hold what was stored: the result of an
    /// expression may hang on the session (`time_zone`, `sql_mode`).
    pub(crate) fn with_plain_columns(&self) -> Self {
        let mut plain = self.clone();
        for column in &mut plain.columns {
            column.is_generated = column.is_virtual;
        }
        plain.create = without_stored_expressions(&self.create);
        plain
    }

    /// Columns that are no results of others.
    pub(crate) fn stored(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.is_generated)
    }
}

/// The name as the server writes it, and whether the table is system-versioned; an error if it is none that can be told
/// the past of.
fn kind(
    connection: &mut Connection,
    name: &TableName,
    case: NameCase,
) -> Result<(TableName, bool), FlashbackError> {
    let either = |name: &str| {
        let folded = case.fold(name);
        format!("({}, {})", text_literal(name), text_literal(&folded))
    };
    let query = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, '') FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA IN {} AND TABLE_NAME IN {}",
        either(&name.schema),
        either(&name.table)
    );
    let found: Vec<(String, String, String, String)> = connection.rows(query)?;
    let found = found.into_iter().find(|(schema, table, ..)| {
        case.is_same(schema, &name.schema) && case.is_same(table, &name.table)
    });
    let Some((schema, table, kind, engine)) = found else {
        return Err(FlashbackError::refused(
            format!("there is no table {name}, or the account may not see it"),
            "write SCHEMA.TABLE, and GRANT SELECT on it to the account",
        ));
    };
    match (kind.as_str(), engine.as_str()) {
        ("SYSTEM VERSIONED", _) => Ok((TableName { schema, table }, true)),
        ("BASE TABLE", "InnoDB") => Ok((TableName { schema, table }, false)),
        ("BASE TABLE", _) => Err(FlashbackError::refused(
            format!("{name} is a table of the engine {engine}, which has no consistent snapshot"),
            "only InnoDB tables can be read as of a time",
        )),
        _ => Err(FlashbackError::refused(
            format!("{name} is a {}, not a table", kind.to_lowercase()),
            "name the tables that it reads",
        )),
    }
}

/// Facts of the server about a column: name, type, whole type, character set, expression, more.
type ColumnRow = (String, String, String, Option<String>, String, String);

fn columns(connection: &mut Connection, name: &TableName) -> Result<Vec<Column>, FlashbackError> {
    let query = format!(
        "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_SET_NAME, COALESCE(GENERATION_EXPRESSION, ''), EXTRA \
         FROM information_schema.COLUMNS WHERE {} ORDER BY ORDINAL_POSITION",
        name.condition("TABLE_SCHEMA", "TABLE_NAME")
    );
    let found: Vec<ColumnRow> = connection.rows(query)?;
    let columns = found.into_iter();
    Ok(columns
        .map(
            |(name, data_type, column_type, charset, expression, extra)| Column {
                name,
                data_type: data_type.to_ascii_lowercase(),
                column_type: column_type.to_ascii_lowercase_outside_quotes(),
                charset,
                is_generated: !expression.is_empty(),
                is_virtual: !expression.is_empty() && extra.to_uppercase().contains("VIRTUAL"),
            },
        )
        .collect())
}

/// Keywords of a column's type are looked for in lower case; its members stay as they are.
trait LowerOutsideQuotes {
    fn to_ascii_lowercase_outside_quotes(&self) -> String;
}

impl LowerOutsideQuotes for String {
    fn to_ascii_lowercase_outside_quotes(&self) -> String {
        let mut is_quoted = false;
        self.chars()
            .map(|c| {
                is_quoted ^= c == '\'';
                if is_quoted { c } else { c.to_ascii_lowercase() }
            })
            .collect()
    }
}

/// The columns of the primary key, else of the first unique key without NULL, if there is one.
fn key(
    connection: &mut Connection,
    name: &TableName,
    columns: &[Column],
) -> Result<Option<Vec<usize>>, FlashbackError> {
    // In the server's order: it finds the rows of an event by the first of these keys.
    let rows: Vec<Row> = connection.rows(format!("SHOW INDEX FROM {}", name.sql()))?;
    let unique = rows
        .iter()
        .filter(|row| named(row, "Non_unique").as_deref() == Some("0"));
    let parts: Vec<(String, Option<String>, Option<String>)> = unique
        .map(|row| {
            let index = named(row, "Key_name").unwrap_or_default();
            (index, named(row, "Column_name"), named(row, "Null"))
        })
        .collect();
    for chosen in parts.chunk_by(|a, b| a.0 == b.0) {
        let position = |part: &(String, Option<String>, Option<String>)| {
            let is_null = part.2.as_deref() == Some("YES");
            let named = part.1.as_ref().filter(|_| !is_null)?;
            let found = columns
                .iter()
                .position(|column| column.name.eq_ignore_ascii_case(named))?;
            (!columns[found].is_virtual).then_some(found)
        };
        if let Some(key) = chosen.iter().map(position).collect::<Option<Vec<_>>>() {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// Changes that a foreign key makes in the child do not stand in the log, but for MySQL from 9.6 on.
fn unlogged(
    connection: &mut Connection,
    source: &Source,
    variables: &Variables,
    name: &TableName,
) -> Result<Option<String>, FlashbackError> {
    let version = (source.version.major, source.version.minor);
    let is_logged = source.flavor == Flavor::Mysql
        && version >= (9, 6)
        && !variables.is_on("innodb_native_foreign_keys");
    if is_logged {
        return Ok(None);
    }
    let query = format!(
        "SELECT CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE, REFERENCED_TABLE_NAME \
         FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE {}",
        name.condition("CONSTRAINT_SCHEMA", "TABLE_NAME")
    );
    let found: Vec<(String, String, String, String)> = connection.rows(query)?;
    let cascading = found.into_iter().find(|(_, on_delete, on_update, _)| {
        CASCADES.contains(&&**on_delete) || CASCADES.contains(&&**on_update)
    });
    Ok(cascading.map(|(constraint, on_delete, on_update, parent)| {
        format!(
            "{name} has the foreign key {constraint} to {parent} (ON DELETE {on_delete} ON UPDATE {on_update}), and this \
             server does not log what that changes"
        )
    }))
}

/// A value of a row by its column's name, as text.
pub(crate) fn named(row: &Row, name: &str) -> Option<String> {
    let at = row
        .columns_ref()
        .iter()
        .position(|column| column.name_str().eq_ignore_ascii_case(name))?;
    row.get_opt::<Option<String>, _>(at)?.ok()?
}

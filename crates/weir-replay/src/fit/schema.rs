//! Tables of a server as numbers: how many rows, how many different values, how long texts are. Texts of rows stay on the
//! server; of integers some are read, and only how they are distributed is written.

mod definition;

use std::collections::BTreeMap;

use weir_mysql::{Connection, identifier, text_literal};

use crate::fit::FitError;
pub(crate) use definition::Definition;

/// Rows of a table whose columns are looked at, from the first on.
const SAMPLE_ROWS: u64 = 100_000;
/// Integers of a column that are read.
const INTEGERS_READ: u64 = 20_000;
/// The greatest that is counted by itself.
const INTEGER_MAX: i64 = i64::MAX;

/// A table.
#[derive(Debug, Clone)]
pub(crate) struct TableFacts {
    pub(crate) name: String,
    pub(crate) rows: u64,
    pub(crate) definition: Definition,
    pub(crate) columns: BTreeMap<String, ColumnFacts>,
}

/// A column.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnFacts {
    /// Name of the column's type, in small letters.
    pub(crate) data_type: String,
    /// Type of the column with all that belongs to it.
    pub(crate) full_type: String,
    /// It is computed from others.
    pub(crate) is_generated: bool,
    /// Least and greatest, of integers and, in seconds since 1970, of dates.
    pub(crate) range: Option<(i64, i64)>,
    /// The key of another table, if its values are such keys.
    pub(crate) referenced: Option<ReferencedKey>,
    /// Some of an integer column's values.
    pub(crate) integers: Vec<i64>,
    /// Different values of all rows, by those of the sample.
    pub(crate) distinct: u64,
    /// Share of rows without a value.
    pub(crate) null_share: f64,
    /// Characters of texts, least, mean and most.
    pub(crate) lengths: Option<(u32, u32, u32)>,
}

/// The integer key of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReferencedKey {
    /// Least and greatest.
    pub(crate) range: (i64, i64),
    pub(crate) rows: u64,
}

impl ColumnFacts {
    pub(crate) fn is_integer(&self) -> bool {
        matches!(
            self.data_type.as_str(),
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint"
        )
    }

    pub(crate) fn is_decimal(&self) -> bool {
        matches!(self.data_type.as_str(), "decimal" | "float" | "double")
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(
            self.data_type.as_str(),
            "char"
                | "varchar"
                | "tinytext"
                | "text"
                | "mediumtext"
                | "longtext"
                | "binary"
                | "varbinary"
                | "tinyblob"
                | "blob"
                | "mediumblob"
                | "longblob"
        )
    }

    pub(crate) fn is_date(&self) -> bool {
        matches!(self.data_type.as_str(), "date" | "datetime" | "timestamp")
    }
}

impl TableFacts {
    /// Reads a table of the connection's schema by the name that the server has for it.
    pub(crate) fn read(
        connection: &mut Connection,
        schema: &str,
        name: &str,
    ) -> Result<Self, FitError> {
        let (schema_text, name_text) = (text_literal(schema), text_literal(name));
        let described: Vec<(String, String, String, String)> = connection.rows(format!(
            "SELECT column_name, data_type, column_type, extra FROM information_schema.columns \
             WHERE table_schema = {schema_text} AND table_name = {name_text} ORDER BY ordinal_position"
        ))?;
        let table = identifier(name);
        let shown: Option<(String, String)> =
            connection.first(format!("SHOW CREATE TABLE {table}"))?;
        let definition = Definition::read(&shown.map(|(_, text)| text).unwrap_or_default());
        let counted: Option<(u64,)> = connection.first(format!("SELECT COUNT(*) FROM {table}"))?;
        let rows = counted.map_or(0, |(rows,)| rows);
        let mut columns = BTreeMap::new();
        for (column, data_type, full_type, extra) in described {
            let mut facts = ColumnFacts {
                data_type: data_type.to_ascii_lowercase(),
                full_type,
                is_generated: extra.to_ascii_uppercase().contains("GENERATED")
                    && !extra.to_ascii_uppercase().contains("DEFAULT_GENERATED"),
                ..ColumnFacts::default()
            };
            if rows > 0 {
                look(connection, &table, &column, rows, &mut facts)?;
            }
            columns.insert(column, facts);
        }
        Ok(Self {
            name: name.to_owned(),
            rows,
            definition,
            columns,
        })
    }

    /// The integer column that alone is the primary key.
    pub(crate) fn integer_key(&self) -> Option<&str> {
        match self.definition.primary.as_slice() {
            [column] if self.columns.get(column)?.is_integer() => Some(column),
            _ => None,
        }
    }

    /// Returns the table's key, for the columns of other tables that hold such keys.
    pub(crate) fn as_referenced(&self) -> Option<ReferencedKey> {
        let key = self.columns.get(self.integer_key()?)?;
        Some(ReferencedKey {
            range: key.range?,
            rows: self.rows,
        })
    }
}

/// Looks at the values of a column, which stay on the server.
fn look(
    connection: &mut Connection,
    table: &str,
    column: &str,
    rows: u64,
    facts: &mut ColumnFacts,
) -> Result<(), FitError> {
    let name = identifier(column);
    // An index of the column would give its least values first.
    let first = format!("{name} AS v FROM {table} USE INDEX ()");
    let sample = format!("(SELECT {first} LIMIT {SAMPLE_ROWS}) AS sampled");
    let [least, most] = ends(facts, &name, table);
    let mean = if facts.is_text() {
        "CAST(AVG(CHAR_LENGTH(v)) AS SIGNED)"
    } else {
        "NULL"
    };
    let seen: Option<ColumnCounts> = connection.first(format!(
        "SELECT COUNT(*), COUNT(v), COUNT(DISTINCT v), {least}, {mean}, {most} FROM {sample}"
    ))?;
    let Some((all, valued, distinct, least, mean, most)) = seen else {
        return Ok(());
    };
    facts.null_share = 1.0 - valued as f64 / all.max(1) as f64;
    // Of values that hardly repeat, the rest of the table has as many more.
    facts.distinct = if distinct * 2 > valued && all < rows {
        (distinct as f64 / all as f64 * rows as f64) as u64
    } else {
        distinct
    };
    if facts.is_text() {
        let length = |number: Option<i64>| u32::try_from(number?).ok();
        let lengths = [least, mean, most].map(length);
        if let [Some(least), Some(mean), Some(most)] = lengths {
            facts.lengths = Some((least, mean, most));
        }
    } else {
        facts.range = least.zip(most);
    }
    if facts.is_integer() {
        let read: Vec<(i64,)> = connection.rows(format!(
            "SELECT CAST(LEAST(v, {INTEGER_MAX}) AS SIGNED) FROM (SELECT {first} WHERE {name} IS NOT NULL LIMIT \
             {INTEGERS_READ}) AS sampled"
        ))?;
        facts.integers = read.into_iter().map(|(integer,)| integer).collect();
    }
    Ok(())
}

/// Rows of the sample, those with a value, different values; then least, mean and greatest.
type ColumnCounts = (u64, u64, u64, Option<i64>, Option<i64>, Option<i64>);

/// Least and greatest in SQL: of the whole column for integers, which an index may know; of the sample for others. Of
/// dates they are seconds since 1970, of texts characters.
fn ends(facts: &ColumnFacts, name: &str, table: &str) -> [String; 2] {
    let signed = |text: String| format!("CAST({text} AS SIGNED)");
    let both = |of: &dyn Fn(&str) -> String| ["MIN", "MAX"].map(of);
    if facts.is_integer() {
        both(&|end| {
            let whole = format!("(SELECT {end}({name}) FROM {table})");
            signed(format!("LEAST({whole}, {INTEGER_MAX})"))
        })
    } else if facts.is_date() {
        both(&|end| format!("TIMESTAMPDIFF(SECOND, '1970-01-01', {end}(v))"))
    } else if facts.is_decimal() {
        ["FLOOR(MIN(v))", "CEIL(MAX(v))"].map(|end| signed(end.to_owned()))
    } else if facts.is_text() {
        both(&|end| signed(format!("{end}(CHAR_LENGTH(v))")))
    } else {
        ["NULL", "NULL"].map(str::to_owned)
    }
}

//! Foreign keys of tables, and those that refer to them.

use weir_mysql::{Connection, identifier, text_literal};

use crate::render::{Cell, literal};
use crate::step::Step;
use crate::table::CASCADES;
use crate::{FlashbackError, Table, TableName};

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignKey {
    /// Name of the key.
    pub(crate) name: String,
    /// The table that refers.
    pub(crate) child: TableName,
    /// The table that is referred to.
    pub(crate) parent: TableName,
    /// Columns of the child, each with that of the parent.
    columns: Vec<(String, String)>,
    on_delete: String,
    on_update: String,
}

/// Schema, table, name, column, then schema, table and column of the parent.
type Part = (String, String, String, String, String, String, String);

impl ForeignKey {
    /// Reads all that the account sees.
    ///
    /// # Errors
    ///
    /// A server that does not say.
    pub(crate) fn read(
        connection: &mut Connection,
        tables: &[Table],
    ) -> Result<Vec<Self>, FlashbackError> {
        let is_one = |schema: &str, table: &str| {
            let pairs = tables.iter().map(|one| {
                format!(
                    "({schema} = {} AND {table} = {})",
                    text_literal(&one.name.schema),
                    text_literal(&one.name.table)
                )
            });
            pairs.collect::<Vec<_>>().join(" OR ")
        };
        let query = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, \
             REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
             WHERE REFERENCED_TABLE_NAME IS NOT NULL AND ({} OR {}) \
             ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION",
            is_one("TABLE_SCHEMA", "TABLE_NAME"),
            is_one("REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME")
        );
        let parts: Vec<Part> = connection.rows(query)?;
        let mut keys = Vec::new();
        for parts in parts.chunk_by(|a, b| (&a.0, &a.1, &a.2) == (&b.0, &b.1, &b.2)) {
            let key = Self::from_parts(connection, parts)?;
            // A server compares these names without their case, whatever it does with tables.
            let is_near = |name: &TableName| tables.iter().any(|table| table.name == *name);
            if is_near(&key.child) || is_near(&key.parent) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    fn from_parts(connection: &mut Connection, parts: &[Part]) -> Result<Self, FlashbackError> {
        let first = &parts[0];
        let table = |schema: &str, table: &str| TableName {
            schema: schema.to_owned(),
            table: table.to_owned(),
        };
        let rules = format!(
            "SELECT DELETE_RULE, UPDATE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS \
             WHERE {} AND CONSTRAINT_NAME = {}",
            table(&first.0, &first.1).condition("CONSTRAINT_SCHEMA", "TABLE_NAME"),
            text_literal(&first.2)
        );
        let rules: Option<(String, String)> = connection.first(rules)?;
        // Who does not see the rule takes the worst.
        let (on_delete, on_update) =
            rules.unwrap_or_else(|| ("CASCADE".to_owned(), "CASCADE".to_owned()));
        Ok(Self {
            name: first.2.clone(),
            child: table(&first.0, &first.1),
            parent: table(&first.4, &first.5),
            columns: parts
                .iter()
                .map(|part| (part.3.clone(), part.6.clone()))
                .collect(),
            on_delete,
            on_update,
        })
    }

    /// A change of the parent changes rows of the child by itself.
    pub(crate) fn is_cascading(&self) -> bool {
        let rules = [&self.on_delete, &self.on_update];
        rules.iter().any(|rule| CASCADES.contains(&rule.as_str()))
    }

    /// `FROM ... WHERE ...` of the child's rows with one of these values that have no parent.
    pub(crate) fn orphans(&self, values: &[String]) -> String {
        let joined = self.columns.iter().map(|(child, parent)| {
            format!(
                "parent.{} = child.{}",
                identifier(parent),
                identifier(child)
            )
        });
        format!(
            "FROM {} AS child LEFT JOIN {} AS parent ON {} WHERE {} AND parent.{} IS NULL",
            self.child.sql(),
            self.parent.sql(),
            joined.collect::<Vec<_>>().join(" AND "),
            self.has_value("child.", true, values),
            identifier(&self.columns[0].1)
        )
    }

    /// A condition on the rows of the child, else of the parent, that they have one of these values.
    pub(crate) fn has_value(&self, alias: &str, is_child: bool, values: &[String]) -> String {
        let columns = self.columns.iter().map(|(child, parent)| {
            let column = if is_child { child } else { parent };
            format!("{alias}{}", identifier(column))
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        format!("({columns}) IN ({})", values.join(", "))
    }

    /// Values that the steps take from the parent or give to the child, as literals in parentheses.
    pub(crate) fn changed_values(&self, tables: &[Table], steps: &[&Step]) -> Vec<String> {
        let mut values: Vec<_> = steps
            .iter()
            .flat_map(|step| self.values_of(tables, step))
            .collect();
        values.sort();
        values.dedup();
        values
    }

    /// As [`Self::changed_values`], and the values of all rows of the child that the steps write: a server looks for the
    /// parent of a row also if only its primary key or another column of the index changes.
    pub(crate) fn written_values(&self, tables: &[Table], steps: &[&Step]) -> Vec<String> {
        let of_child = steps.iter().filter_map(|step| {
            let table = &tables[step.table];
            let (old, _) = self.values_around(table, step, true);
            old.filter(|_| table.name == self.child)
        });
        let mut values = self.changed_values(tables, steps);
        values.extend(of_child);
        values.sort();
        values.dedup();
        values
    }

    /// The values of one step, at most one for each side.
    pub(crate) fn values_of(&self, tables: &[Table], step: &Step) -> Vec<String> {
        let table = &tables[step.table];
        let mut values = Vec::new();
        if table.name == self.parent {
            let (old, new) = self.values_around(table, step, false);
            values.extend(new.filter(|new| old.as_ref() != Some(new)));
        }
        if table.name == self.child {
            let (old, new) = self.values_around(table, step, true);
            values.extend(old.filter(|old| new.as_ref() != Some(old)));
        }
        values
    }

    /// The change that a step takes back removed a value of the parent, and with it changed the child's rows.
    pub(crate) fn has_cascaded(&self, tables: &[Table], step: &Step) -> bool {
        let table = &tables[step.table];
        let (old, new) = self.values_around(table, step, false);
        let is_parent = table.name == self.parent && self.is_cascading();
        is_parent && old.is_some() && old != new
    }

    /// Values of the child's columns, else of the parent's, before and after the change of a step.
    fn values_around(
        &self,
        table: &Table,
        step: &Step,
        is_child: bool,
    ) -> (Option<String>, Option<String>) {
        let columns = self.columns.iter();
        let columns: Vec<_> = columns
            .map(|(child, parent)| if is_child { child } else { parent }.as_str())
            .collect();
        let of_row = |row: &Option<Vec<Cell>>| value(table, &columns, row.as_deref());
        (of_row(&step.before), of_row(&step.after))
    }
}

/// The columns' values as a row of literals; none if one is NULL, which refers to nothing.
fn value(table: &Table, columns: &[&str], row: Option<&[Cell]>) -> Option<String> {
    let row = row?;
    let literals = columns.iter().map(|name| {
        let mut all = table.columns.iter().zip(row);
        let (column, cell) = all.find(|(column, _)| column.name.eq_ignore_ascii_case(name))?;
        matches!(cell, Cell::Value(_)).then(|| literal(column, cell))
    });
    let literals = literals.collect::<Option<Vec<_>>>()?;
    Some(format!("({})", literals.join(", ")))
}

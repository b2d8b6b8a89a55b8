//! A statement and where its parameters come from.

use weir_mysql::StatementText;

use super::{Generator, ValueKind, table_name};

/// Stands for the table's name in a statement that each table has.
const TABLE: &str = "{table}";

/// Protocol by which a statement is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementProtocol {
    /// Prepared on each connection; as text if the server can't prepare it and it has no
    /// parameters.
    Prepared,
    /// As text, with its values as literals.
    Text,
}

/// A statement of a workload.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Name in reports.
    pub name: String,
    /// Text, with `{table}` for the table if there are several.
    sql: String,
    /// Tables that it exists for; 1 if it names its table itself.
    pub tables: u32,
    /// The values of its question marks, in order.
    pub parameters: Vec<Parameter>,
    /// Protocol by which it is sent.
    pub sending: StatementProtocol,
}

/// Source of a parameter's value.
#[derive(Debug, Clone)]
pub enum Parameter {
    /// The transaction's value of this number, which is of this kind.
    Slot(usize, ValueKind),
    /// The same plus so much, at most the largest `INTEGER`.
    SlotPlus(usize, u32),
    /// A value of its own each time.
    Draw(Generator),
}

impl Parameter {
    /// Returns the type of its values.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Slot(_, kind) => *kind,
            Self::SlotPlus(..) => ValueKind::Integer,
            Self::Draw(generator) => generator.kind(),
        }
    }
}

impl Statement {
    /// A statement for each of `tables` tables, which `sql` calls `{table}`.
    pub fn on_tables(
        name: &str,
        sql: impl Into<String>,
        tables: u32,
        parameters: Vec<Parameter>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            sql: sql.into(),
            tables,
            parameters,
            sending: StatementProtocol::Prepared,
        }
    }

    /// A statement without parameters that concerns no table.
    pub fn plain(name: &str, sql: &str) -> Self {
        Self::on_tables(name, sql, 1, Vec::new())
    }

    /// Returns its text for a table, counted from 0.
    pub fn sql(&self, table: u32) -> String {
        self.sql.replace(TABLE, &table_name(table + 1))
    }

    /// Position of its handle for a table among its handles.
    pub fn handle(&self, table: u32) -> usize {
        if self.tables == 1 { 0 } else { table as usize }
    }

    /// The kinds of its parameters.
    pub fn kinds(&self) -> Vec<ValueKind> {
        self.parameters.iter().map(Parameter::kind).collect()
    }

    /// Returns true if it opens a transaction.
    pub fn opens_transaction(&self) -> bool {
        StatementText::read(&self.sql).opens_transaction()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_a_text_for_each_table() {
        let statement =
            Statement::on_tables("x", "SELECT c FROM {table} WHERE id=?", 3, Vec::new());
        assert_eq!(statement.sql(2), "SELECT c FROM sbtest3 WHERE id=?");
        assert_eq!(statement.handle(2), 2);
        assert_eq!(Statement::plain("commit", "COMMIT").handle(2), 0);
    }
}

//! The table of statements: what each does, by flavour and version, and whether a server agrees.

mod page;

use serde::{Deserialize, Serialize};
use weir_model::{Flavor, ServerVersion};

use crate::ddl::{
    Algorithm, AlterStatement, DdlError, EmptyTable, EmptyTables, Lock, TrialServer, Way, Work,
};

/// The schema of the tables.
const SCHEMA: &str = "facts";
/// The table that each statement alters.
const TABLE: &str = "t";
/// The table that Weir has.
const STATEMENTS: &str = include_str!("facts/statements.toml");

/// All rows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// The statement that makes the table, where a row has none of its own.
    create: String,
    /// The rows.
    #[serde(rename = "operation")]
    pub operations: Vec<Operation>,
}

/// A kind of statement.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// In words.
    pub name: String,
    /// Text after `ALTER TABLE t`.
    pub alter: String,
    /// Statements that make the table, if the usual one does not do.
    #[serde(default)]
    pub create: Vec<String>,
    /// Behavior of MySQL, by version; empty: it has no such statement.
    #[serde(default)]
    mysql: Vec<DocumentedBehavior>,
    /// Behavior of `MariaDB`, by version.
    #[serde(default)]
    mariadb: Vec<DocumentedBehavior>,
}

/// Behavior of a server, from a version on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentedBehavior {
    /// The first version of which that is true; `None`: all that Weir knows.
    from: Option<String>,
    /// The fastest algorithm; `None`: the statement takes none.
    pub algorithm: Option<Algorithm>,
    /// The weakest lock.
    pub lock: Option<Lock>,
    /// Work of InnoDB.
    pub work: Work,
}

impl std::fmt::Display for DocumentedBehavior {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&said(self.algorithm, self.lock, self.work))
    }
}

/// A row and what a server said.
#[derive(Debug, Clone, Serialize)]
pub struct FactCheck {
    /// The row.
    pub operation: String,
    /// Statement of the row.
    pub alter: String,
    /// As the server did it; `None`: it refused.
    pub way: Option<Way>,
    /// Difference of the row from that; `None`: it holds.
    pub differs: Option<String>,
}

impl Facts {
    /// The table that Weir has.
    ///
    /// # Errors
    ///
    /// None, as a test reads it.
    pub fn of_weir() -> Result<Self, DdlError> {
        Self::read(STATEMENTS)
    }

    /// Reads a table.
    ///
    /// # Errors
    ///
    /// A text that is none, or a version that is none.
    pub fn read(text: &str) -> Result<Self, DdlError> {
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let facts: Self =
            toml::from_str(text).map_err(|error| DdlError::Facts(one_line(error.to_string())))?;
        for operation in &facts.operations {
            for expected in operation.mysql.iter().chain(&operation.mariadb) {
                if let Some(from) = &expected.from {
                    let read: Result<ServerVersion, _> = from.parse();
                    read.map_err(DdlError::Facts)?;
                }
            }
        }
        Ok(facts)
    }

    /// The table as a page of the documents, in Markdown.
    pub fn as_markdown(&self) -> String {
        page::as_markdown(self)
    }

    /// The tables that a row's statement alters.
    pub fn tables(&self, operation: &Operation) -> EmptyTables {
        let create = match operation.create.as_slice() {
            [] => std::slice::from_ref(&self.create),
            own => own,
        };
        let table = |create: &String| EmptyTable {
            schema: SCHEMA.to_owned(),
            create: create.clone(),
        };
        EmptyTables(create.iter().map(table).collect())
    }

    /// Tries the statement of each row that is about this server.
    ///
    /// # Errors
    ///
    /// Tables that cannot be made, or a server that is gone. A refused statement is a row that differs.
    pub fn check(
        &self,
        server: &TrialServer,
        version: ServerVersion,
    ) -> Result<Vec<FactCheck>, DdlError> {
        let mut checked = Vec::new();
        for operation in &self.operations {
            let Some(expected) = operation.expected(server.flavor, version) else {
                continue;
            };
            let alter = operation.statement()?;
            let (way, differs) = match server.try_out(&self.tables(operation), &alter, &[]) {
                Ok(trial) => {
                    let differs = expected.differs_from(&trial.way);
                    (Some(trial.way), differs)
                }
                Err(DdlError::Refused { why, .. }) => (None, Some(format!("refused: {why}"))),
                Err(error) => return Err(error),
            };
            checked.push(FactCheck {
                operation: operation.name.clone(),
                alter: operation.alter.clone(),
                way,
                differs,
            });
        }
        Ok(checked)
    }
}

impl Operation {
    /// Returns the behavior of a server of this version; `None`: it has no such statement.
    pub fn expected(&self, flavor: Flavor, version: ServerVersion) -> Option<&DocumentedBehavior> {
        let rows = match flavor {
            Flavor::Mysql => &self.mysql,
            Flavor::Mariadb => &self.mariadb,
        };
        rows.iter().rfind(|row| row.holds_from() <= version)
    }

    /// Returns the statement.
    ///
    /// # Errors
    ///
    /// A text that alters no table.
    pub fn statement(&self) -> Result<AlterStatement, DdlError> {
        AlterStatement::read(&format!("ALTER TABLE {TABLE} {}", self.alter), SCHEMA)
    }
}

impl DocumentedBehavior {
    fn holds_from(&self) -> ServerVersion {
        let from = self.from.as_deref().and_then(|from| from.parse().ok());
        from.unwrap_or(ServerVersion::new(0, 0, 0))
    }

    /// In words, if the server did something else.
    pub fn differs_from(&self, way: &Way) -> Option<String> {
        let is_so = (self.algorithm, self.lock, self.work) == (way.algorithm, way.lock, way.work);
        (!is_so).then(|| {
            format!(
                "the table says {self}, the server {}",
                said(way.algorithm, way.lock, way.work)
            )
        })
    }
}

fn said(algorithm: Option<Algorithm>, lock: Option<Lock>, work: Work) -> String {
    format!(
        "{} {} {}",
        algorithm.map_or("-", Algorithm::name),
        lock.map_or("-", Lock::name),
        work.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_the_table() {
        const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ddl-facts.md");
        let page = Facts::of_weir().unwrap().as_markdown();
        if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
            std::fs::write(DOCUMENT, &page).unwrap();
        }
        let kept = std::fs::read_to_string(DOCUMENT).unwrap_or_default();
        assert!(
            kept == page,
            "docs/ddl-facts.md is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo nextest run -p weir-server the_document`"
        );
    }

    #[test]
    fn the_last_row_that_fits_a_version_counts() {
        let facts = Facts::of_weir().unwrap();
        let found = facts
            .operations
            .iter()
            .find(|one| one.name == "drop a column");
        let algorithm = |version: &str| {
            let expected = found
                .unwrap()
                .expected(Flavor::Mysql, version.parse().unwrap());
            expected.unwrap().algorithm.unwrap()
        };
        assert_eq!(algorithm("8.0.28"), Algorithm::InPlace);
        assert_eq!(algorithm("8.0.29"), Algorithm::Instant);
    }

    #[test]
    fn a_table_that_cannot_be_read_is_told_in_one_line() {
        for text in [
            "operation = 3",
            "create = ''\n[[operation]]\nname = 'x'\nalter = 'y'\nmysql = [{ from = 'new', work = 'index' }]",
        ] {
            let error = Facts::read(text).unwrap_err().to_string();
            assert!(error.contains("; ") && !error.contains('\n'), "{error}");
        }
    }
}

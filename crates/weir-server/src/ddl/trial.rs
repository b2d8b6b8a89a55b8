//! A statement tried on empty tables, from the fastest algorithm and the weakest lock on, until the server takes it.
//! What it did is read from InnoDB's dictionary: identifiers of tables and of indexes.

mod dictionary;

use serde::Serialize;
use weir_model::Flavor;
use weir_mysql::{ClientError, Connection, identifier, sql_words};

use self::dictionary::Dictionary;
use crate::ddl::{Algorithm, AlterStatement, DdlError, Lock, TrialServer, Work};

/// `ER_PARSE_ERROR`: some statements take no algorithm.
const SYNTAX: u16 = 1064;
/// `ER_ALTER_OPERATION_NOT_SUPPORTED` and the same with a reason; `ER_WRONG_USAGE` of two clauses together;
/// `ER_UNKNOWN_ALTER_ALGORITHM` of servers that are older than the algorithm.
const NOT_SO: [u16; 4] = [1845, 1846, 1221, 1800];
/// MySQL: `ER_INNODB_MAX_ROW_VERSION`; the table's own limit, no property of the statement.
const ROW_VERSIONS: u16 = 4092;

/// Tables to make, in this order.
#[derive(Debug, Clone, Default)]
pub struct EmptyTables(pub Vec<EmptyTable>);

/// One of them.
#[derive(Debug, Clone)]
pub struct EmptyTable {
    /// Schema of the table.
    pub schema: String,
    /// The statement that makes it, or changes it.
    pub create: String,
}

/// A try that the server refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedTry {
    /// Algorithm that was asked for.
    pub algorithm: Algorithm,
    /// And with which lock; `None`: with the server's choice.
    pub lock: Option<Lock>,
    /// The server's words.
    pub why: String,
}

/// The first way that the server takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Way {
    /// `None`: the statement takes no algorithm or does not heed it, and the server chose.
    pub algorithm: Option<Algorithm>,
    /// Lock on the table meanwhile; `None`: not known.
    pub lock: Option<Lock>,
    /// Work of InnoDB.
    pub work: Work,
    /// Indexes that are built beside the table, or with it.
    pub indexes_built: usize,
    /// Versions of rows that the table has more (MySQL).
    pub row_versions: u64,
    /// The statement as it was taken.
    pub statement: String,
}

/// Trial of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// Tries that were refused, before it.
    pub refused: Vec<RefusedTry>,
    /// The first one that was not.
    pub way: Way,
}

impl TrialServer {
    /// Tries `alter` on `tables`, but not with the algorithms of `without`.
    ///
    /// # Errors
    ///
    /// Tables that cannot be made, or a statement that is refused whatever the algorithm.
    pub fn try_out(
        &self,
        tables: &EmptyTables,
        alter: &AlterStatement,
        without: &[Algorithm],
    ) -> Result<Trial, DdlError> {
        let mut connection = self.connect()?;
        // What a try before this one may have left.
        drop_schemas(&mut connection, tables, &alter.schema)?;
        let mut connection = self.connect()?;
        make(&mut connection, tables)?;
        let tried = self.tries(&mut connection, alter, without);
        let cleaned = drop_schemas(&mut connection, tables, &alter.schema);
        let trial = tried?;
        cleaned?;
        Ok(trial)
    }

    /// Versions of its rows that a table may have: as many INSTANT changes of columns as the server takes.
    ///
    /// # Errors
    ///
    /// A server that is gone, or one that takes any number.
    pub(crate) fn row_versions_max(&self) -> Result<u64, DdlError> {
        let mut connection = self.connect()?;
        connection.run("CREATE DATABASE IF NOT EXISTS versions")?;
        connection.run("DROP TABLE IF EXISTS versions.t")?;
        connection.run("CREATE TABLE versions.t (id INT NOT NULL PRIMARY KEY) ENGINE = InnoDB")?;
        let mut versions = 0;
        loop {
            self.stop.check()?;
            let change = match versions % 2 {
                0 => "ADD COLUMN a INT",
                _ => "DROP COLUMN a",
            };
            match connection.run(format!(
                "ALTER TABLE versions.t ALGORITHM=INSTANT, {change}"
            )) {
                Ok(_) => versions += 1,
                Err(error) if error.code() == Some(ROW_VERSIONS) => break,
                Err(error) => return Err(error.into()),
            }
        }
        connection.run("DROP DATABASE versions")?;
        Ok(versions)
    }

    fn tries(
        &self,
        connection: &mut Connection,
        alter: &AlterStatement,
        without: &[Algorithm],
    ) -> Result<Trial, DdlError> {
        let before = Dictionary::read(connection)?;
        let mut refused = Vec::new();
        let algorithms = Algorithm::for_flavor(self.flavor).iter();
        for algorithm in algorithms.filter(|algorithm| !without.contains(algorithm)) {
            for lock in locks(self.flavor, *algorithm) {
                self.stop.check()?;
                let statement = alter.sql(Some(*algorithm), *lock);
                match connection.run(&statement) {
                    Ok(_) => {
                        let after = Dictionary::read(connection)?;
                        // MySQL's INSTANT takes no lock; others may write.
                        let lock = lock.unwrap_or(Lock::None);
                        let mut way =
                            after.way_from(&before, Some(*algorithm), Some(lock), statement);
                        if is_unheeded(&way) {
                            way.algorithm = None;
                            way.statement = alter.sql(None, Some(lock));
                        }
                        return Ok(Trial { refused, way });
                    }
                    Err(error) if is_not_so(&error) => refused.push(RefusedTry {
                        algorithm: *algorithm,
                        lock: *lock,
                        why: words(&error),
                    }),
                    Err(error) if error.code() == Some(SYNTAX) => {
                        return unforced(connection, alter, &before);
                    }
                    Err(error) => return Err(refusal(alter, error)),
                }
            }
        }
        let last = refused.pop();
        Err(DdlError::Refused {
            statement: alter.changes(),
            why: last.map_or_else(|| "no algorithm is left".to_owned(), |last| last.why),
        })
    }
}

/// Returns true if the server took the clause and did something else: `MariaDB` copies a table that is divided into
/// partitions, whatever the algorithm.
fn is_unheeded(way: &Way) -> bool {
    let is_fast = matches!(way.algorithm, Some(Algorithm::Instant | Algorithm::NoCopy));
    is_fast && way.work == Work::Rebuild
}

/// Statements about partitions take no algorithm on some servers.
fn unforced(
    connection: &mut Connection,
    alter: &AlterStatement,
    before: &Dictionary,
) -> Result<Trial, DdlError> {
    let statement = alter.sql(None, None);
    connection
        .run(&statement)
        .map_err(|error| refusal(alter, error))?;
    let after = Dictionary::read(connection)?;
    Ok(Trial {
        refused: Vec::new(),
        way: after.way_from(before, None, None, statement),
    })
}

/// The locks to try with an algorithm; `None`: without the clause.
fn locks(flavor: Flavor, algorithm: Algorithm) -> &'static [Option<Lock>] {
    match (flavor, algorithm) {
        (Flavor::Mysql, Algorithm::Instant) => &[None],
        _ => &[Some(Lock::None), Some(Lock::Shared), Some(Lock::Exclusive)],
    }
}

fn is_not_so(error: &ClientError) -> bool {
    let code = error.code().unwrap_or_default();
    NOT_SO.contains(&code) || code == ROW_VERSIONS
}

fn words(error: &ClientError) -> String {
    match error {
        ClientError::Statement { message, .. } => message.clone(),
        other => other.words(),
    }
}

/// A statement that the server refuses is the user's to correct; all else is a failure.
fn refusal(alter: &AlterStatement, error: ClientError) -> DdlError {
    match error.code() {
        Some(_) => DdlError::Refused {
            statement: weir_mysql::shorten(&alter.changes()),
            why: words(&error),
        },
        None => error.into(),
    }
}

/// Makes the tables. Paths in their options are not followed (`NO_DIR_IN_CREATE`), and parents may be missing.
fn make(connection: &mut Connection, tables: &EmptyTables) -> Result<(), DdlError> {
    connection.run(
        "SET @usual_sql_mode = @@SESSION.sql_mode, @usual_checks = @@SESSION.foreign_key_checks",
    )?;
    connection.run(
        "SET SESSION sql_mode = 'NO_DIR_IN_CREATE,ALLOW_INVALID_DATES', foreign_key_checks = 0",
    )?;
    for EmptyTable { schema, create } in &tables.0 {
        let schema = identifier(schema);
        connection.run(format!("CREATE DATABASE IF NOT EXISTS {schema}"))?;
        connection.run(format!("USE {schema}"))?;
        connection.run(create).map_err(|error| match error.code() {
            Some(_) => DdlError::Copy {
                table: made_by(create),
                why: words(&error),
                remedy: "look what the table needs that an empty server lacks, such as a key ring or a tablespace",
            },
            None => error.into(),
        })?;
    }
    connection.run(
        "SET SESSION sql_mode = CONCAT_WS(',', NULLIF(@usual_sql_mode, ''), 'NO_DIR_IN_CREATE'), foreign_key_checks = @usual_checks",
    )?;
    Ok(())
}

/// The name in a `CREATE TABLE`.
fn made_by(create: &str) -> String {
    let words = sql_words(create);
    let name = words.iter().skip(2).find_map(weir_mysql::SqlWord::name);
    name.unwrap_or_default()
}

fn drop_schemas(
    connection: &mut Connection,
    tables: &EmptyTables,
    altered: &str,
) -> Result<(), DdlError> {
    let mut schemas: Vec<_> = tables.0.iter().map(|table| table.schema.as_str()).collect();
    schemas.push(altered);
    schemas.sort_unstable();
    schemas.dedup();
    connection.run("SET SESSION foreign_key_checks = 0")?;
    for schema in schemas {
        connection.run(format!("DROP DATABASE IF EXISTS {}", identifier(schema)))?;
    }
    Ok(())
}

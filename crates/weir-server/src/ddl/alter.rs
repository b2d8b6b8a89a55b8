//! An `ALTER TABLE` taken apart: its table, and what it does without the algorithm and the lock that it asks for.

use weir_mysql::{Connection, SqlWord, identifier, sql_words};

use crate::ddl::table_name::server_spelling;
use crate::ddl::{Algorithm, DdlError, Lock};

/// A statement that alters one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterStatement {
    /// The table's schema.
    pub schema: String,
    /// The table.
    pub table: String,
    /// Changes to the table: items between commas.
    items: Vec<String>,
}

impl AlterStatement {
    /// Reads `ALTER TABLE [SCHEMA.]TABLE ...`; `usual`: the schema of a name without one.
    ///
    /// # Errors
    ///
    /// Another statement, or a name without a schema where `usual` is empty.
    pub fn read(sql: &str, usual: &str) -> Result<Self, DdlError> {
        let sql = sql.trim().trim_end_matches(';').trim_end();
        let words = sql_words(sql);
        let refused = |why: &str| DdlError::Statement {
            statement: weir_mysql::shorten(sql),
            why: why.to_owned(),
        };
        if words.iter().any(SqlWord::is_unreadable) {
            return Err(refused(
                "it has a comment that servers execute, or a quote that does not close",
            ));
        }
        if words.iter().any(|word| word.is_sign(';')) {
            return Err(refused("it is more than one statement"));
        }
        let mut rest = words.as_slice();
        if !take(&mut rest, "ALTER") {
            return Err(refused("it is no ALTER TABLE"));
        }
        while take(&mut rest, "ONLINE") || take(&mut rest, "IGNORE") {}
        if !take(&mut rest, "TABLE") {
            return Err(refused("it is no ALTER TABLE"));
        }
        if take(&mut rest, "IF") {
            take(&mut rest, "EXISTS");
        }
        let name = |word: Option<&SqlWord<'_>>| {
            let name = word.and_then(SqlWord::name);
            name.ok_or_else(|| refused("it names no table"))
        };
        let first = name(rest.first())?;
        let (schema, table, used) = match rest.get(1) {
            Some(dot) if dot.is_sign('.') => (first, name(rest.get(2))?, 3),
            _ => (usual.to_owned(), first, 1),
        };
        if schema.is_empty() {
            return Err(refused("the table has no schema; write SCHEMA.TABLE"));
        }
        rest = &rest[used..];
        if take(&mut rest, "WAIT") {
            rest = rest.get(1..).unwrap_or_default();
        }
        take(&mut rest, "NOWAIT");
        let items: Vec<_> = items(sql, rest)
            .into_iter()
            .filter(|item| !is_modifier(item))
            .collect();
        if items.is_empty() {
            return Err(refused("it changes nothing"));
        }
        Ok(Self {
            schema,
            table,
            items,
        })
    }

    /// The statement with its table's name as the server spells it; unchanged if there is no such table.
    ///
    /// # Errors
    ///
    /// A server that is gone.
    pub fn spelled_by_server(self, connection: &mut Connection) -> Result<Self, DdlError> {
        let Some((schema, table)) = server_spelling(connection, &self.schema, &self.table)? else {
            return Ok(self);
        };
        let items = self.items;
        Ok(Self {
            schema,
            table,
            items,
        })
    }

    /// Returns the changes, without algorithm and lock.
    pub fn changes(&self) -> String {
        self.items.join(", ")
    }

    /// The statement with an algorithm and a lock, or without them.
    pub fn sql(&self, algorithm: Option<Algorithm>, lock: Option<Lock>) -> String {
        let algorithm = algorithm.map(|algorithm| format!("ALGORITHM={}", algorithm.name()));
        let lock = lock.map(|lock| format!("LOCK={}", lock.name()));
        let modifiers: Vec<_> = algorithm.into_iter().chain(lock).collect();
        let between = match (modifiers.is_empty(), self.is_about_partitioning()) {
            (true, _) => "",
            // The clause that divides a table follows without a comma.
            (false, true) => " ",
            (false, false) => ", ",
        };
        format!(
            "ALTER TABLE {}.{} {}{between}{}",
            identifier(&self.schema),
            identifier(&self.table),
            modifiers.join(", "),
            self.changes()
        )
    }

    fn is_about_partitioning(&self) -> bool {
        let first = self
            .items
            .first()
            .map(|item| sql_words(item))
            .unwrap_or_default();
        first
            .first()
            .is_some_and(|word| word.is_any(&["PARTITION", "REMOVE"]))
    }
}

fn take(words: &mut &[SqlWord<'_>], keyword: &str) -> bool {
    let is = words.first().is_some_and(|word| word.is(keyword));
    if is {
        *words = &words[1..];
    }
    is
}

/// The texts between commas outside parentheses.
fn items(sql: &str, words: &[SqlWord<'_>]) -> Vec<String> {
    let mut items = Vec::new();
    let mut depth = 0_i32;
    let mut from: Option<usize> = None;
    let mut end = 0;
    for word in words {
        if word.is_sign('(') {
            depth += 1;
        } else if word.is_sign(')') {
            depth -= 1;
        }
        if word.is_sign(',') && depth == 0 {
            items.extend(from.take().map(|from| sql[from..end].to_owned()));
            continue;
        }
        from.get_or_insert(word.start);
        end = word.end;
    }
    items.extend(from.map(|from| sql[from..end].to_owned()));
    items
}

/// `ALGORITHM = x` or `LOCK = x`.
fn is_modifier(item: &str) -> bool {
    let words = sql_words(item);
    let is_named = words
        .first()
        .is_some_and(|word| word.is_any(&["ALGORITHM", "LOCK"]));
    is_named && words.len() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str) -> AlterStatement {
        AlterStatement::read(sql, "shop").unwrap()
    }

    #[test]
    fn a_statement_loses_the_algorithm_and_the_lock_that_it_asked_for() {
        let alter = read("ALTER TABLE orders ADD INDEX k (a, b), ALGORITHM=INPLACE, LOCK = NONE;");
        assert_eq!(alter.changes(), "ADD INDEX k (a, b)");
        let alter = read(
            "alter online table `my``shop`.`or.ders` wait 5 lock none, add lock int, algorithm copy",
        );
        assert_eq!((&*alter.schema, &*alter.table), ("my`shop", "or.ders"));
        assert_eq!(
            alter.sql(Some(Algorithm::Copy), Some(Lock::Shared)),
            "ALTER TABLE `my``shop`.`or.ders` ALGORITHM=COPY, LOCK=SHARED, add lock int"
        );
        assert_eq!(
            read("ALTER TABLE t ADD c INT COMMENT 'a, b', DROP d").sql(None, None),
            "ALTER TABLE `shop`.`t` ADD c INT COMMENT 'a, b', DROP d"
        );
        assert_eq!(
            read("ALTER TABLE t REMOVE PARTITIONING").sql(Some(Algorithm::Copy), None),
            "ALTER TABLE `shop`.`t` ALGORITHM=COPY REMOVE PARTITIONING"
        );
    }

    #[test]
    fn other_statements_are_refused_in_one_line() {
        for sql in [
            "DROP TABLE t",
            "ALTER DATABASE shop COLLATE utf8mb4_bin",
            "ALTER TABLE t DROP a; DROP TABLE t",
            "ALTER TABLE t /*!50000 DROP a */",
            "ALTER TABLE t ADD c INT COMMENT 'open",
            "ALTER TABLE t LOCK=NONE",
            "ALTER TABLE",
        ] {
            let error = AlterStatement::read(sql, "shop").unwrap_err().to_string();
            assert!(error.contains(';') && !error.contains('\n'), "{error}");
        }
        assert!(AlterStatement::read("ALTER TABLE t DROP a", "").is_err());
    }
}

//! Class of a statement's text: what it does to the transaction, and what a replay has to know of it.

use weir_mysql::{Quoting, SqlScan, SqlToken, SqlTokenKind};

/// Effect of a statement on its session's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionStep {
    /// Nothing.
    #[default]
    None,
    /// It begins one, and ends the one that is open.
    Begins,
    /// It ends the one that is open.
    Ends,
    /// From now on every statement is in one until it is ended.
    AutocommitOff,
    /// From now on each statement is one of its own.
    AutocommitOn,
}

/// Class of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatementClass {
    /// Effect on the transaction.
    pub transaction: TransactionStep,
    /// It is about accounts, keys or other secrets: its literals are never kept, and it is never sent again.
    pub is_secret: bool,
    /// It asks the client for a file: never sent again.
    pub asks_for_file: bool,
    /// It names the schema of the session (`USE`).
    pub uses_schema: bool,
}

/// Verbs of definitions, which end the transaction before them.
const ENDING: [&str; 8] = [
    "CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "GRANT", "REVOKE", "LOCK",
];
/// Objects whose definition may hold a secret.
const SECRET_OBJECTS: [&str; 2] = ["USER", "SERVER"];
/// Words that stand only beside a secret.
const SECRET_WORDS: [&str; 4] = [
    "IDENTIFIED",
    "MASTER_PASSWORD",
    "SOURCE_PASSWORD",
    "ENCRYPTION_KEY_ID",
];
/// Functions that take one.
const SECRET_CALLS: [&str; 7] = [
    "PASSWORD",
    "OLD_PASSWORD",
    "ENCRYPT",
    "AES_ENCRYPT",
    "AES_DECRYPT",
    "DES_ENCRYPT",
    "DES_DECRYPT",
];

impl StatementClass {
    pub(crate) fn from_sql(sql: &[u8]) -> Self {
        let tokens: Vec<_> = SqlScan::new(sql, Quoting::USUAL)
            .filter(SqlToken::is_read)
            .collect();
        let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is(sql, word));
        Self {
            transaction: transaction(&tokens, sql),
            is_secret: is_secret(&tokens, sql),
            asks_for_file: is(0, "LOAD") && (1..5).any(|at| is(at, "LOCAL")),
            uses_schema: is(0, "USE"),
        }
    }
}

/// Returns the effect of a statement's text on the transaction.
pub fn transaction_step(sql: &[u8]) -> TransactionStep {
    StatementClass::from_sql(sql).transaction
}

fn transaction(tokens: &[SqlToken], sql: &[u8]) -> TransactionStep {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is(sql, word));
    if is(0, "BEGIN") || is(0, "START") && is(1, "TRANSACTION") {
        return TransactionStep::Begins;
    }
    if is(0, "COMMIT") || is(0, "ROLLBACK") && !(is(1, "TO") || is(2, "TO")) {
        let chains = (1..tokens.len()).any(|at| is(at, "AND") && is(at + 1, "CHAIN"));
        return if chains {
            TransactionStep::Begins
        } else {
            TransactionStep::Ends
        };
    }
    if ENDING.iter().any(|verb| is(0, verb)) && !is(1, "TEMPORARY") {
        return TransactionStep::Ends;
    }
    if !is(0, "SET") {
        return TransactionStep::None;
    }
    let Some(at) = tokens.iter().position(|token| is_autocommit(token, sql)) else {
        return TransactionStep::None;
    };
    let mut values = tokens[at + 1..].iter();
    let value = values.find(|token| token.kind != SqlTokenKind::Sign);
    match value.map(|token| token.text(sql)) {
        Some(b"0") => TransactionStep::AutocommitOff,
        Some(word) if word.eq_ignore_ascii_case(b"OFF") => TransactionStep::AutocommitOff,
        _ => TransactionStep::AutocommitOn,
    }
}

/// Returns true if a token is the variable `autocommit`, whose value is part of a template.
pub(super) fn is_autocommit(token: &SqlToken, sql: &[u8]) -> bool {
    token.is(sql, "AUTOCOMMIT") || token.is(sql, "@@AUTOCOMMIT")
}

fn is_secret(tokens: &[SqlToken], sql: &[u8]) -> bool {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is(sql, word));
    let object = if is(1, "OR") { 3 } else { 1 };
    if (is(0, "CREATE") || is(0, "ALTER")) && SECRET_OBJECTS.iter().any(|kind| is(object, kind)) {
        return true;
    }
    // Replication, and `SET PASSWORD`.
    if is(0, "CHANGE")
        || is(0, "START") && !is(1, "TRANSACTION")
        || is(0, "SET") && is(1, "PASSWORD")
    {
        return true;
    }
    let prepares = is(0, "PREPARE") || is(0, "EXECUTE");
    tokens
        .iter()
        .enumerate()
        .any(|(at, token)| match token.kind {
            SqlTokenKind::Word => {
                let calls = tokens
                    .get(at + 1)
                    .is_some_and(|next| next.text(sql) == b"(");
                SECRET_WORDS.iter().any(|word| token.is(sql, word))
                    || calls && SECRET_CALLS.iter().any(|word| token.is(sql, word))
            }
            SqlTokenKind::Text | SqlTokenKind::Unfinished if prepares => {
                let text = token.text(sql).to_ascii_uppercase();
                [&b"IDENTIFIED"[..], b"PASSWORD"]
                    .iter()
                    .any(|word| text.windows(word.len()).any(|part| part == *word))
            }
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_or_begins_a_transaction_is_known() {
        use TransactionStep::{AutocommitOff, AutocommitOn, Begins, Ends, None};
        for (sql, expected) in [
            ("BEGIN", Begins),
            ("/* x */ start transaction read only", Begins),
            ("COMMIT", Ends),
            ("COMMIT WORK AND CHAIN", Begins),
            ("ROLLBACK AND NO CHAIN RELEASE", Ends),
            ("ROLLBACK", Ends),
            ("ROLLBACK TO SAVEPOINT x", None),
            ("ROLLBACK WORK TO x", None),
            ("SET autocommit=0", AutocommitOff),
            ("SET @@session.autocommit = OFF", AutocommitOff),
            ("SET AUTOCOMMIT = 1", AutocommitOn),
            ("CREATE TABLE t (a INT)", Ends),
            ("CREATE TEMPORARY TABLE t (a INT)", None),
            ("SELECT 1", None),
        ] {
            assert_eq!(
                StatementClass::from_sql(sql.as_bytes()).transaction,
                expected,
                "{sql}"
            );
        }
    }

    #[test]
    fn secrets_are_known_by_their_statements() {
        for sql in [
            "CREATE USER x IDENTIFIED BY 'y'",
            "CREATE USER IF NOT EXISTS x",
            "ALTER USER x PASSWORD EXPIRE",
            "/*!50000 GRANT ALL ON *.* TO x IDENTIFIED BY 'y' */",
            "SET PASSWORD = 'x'",
            "SET PASSWORD FOR x = PASSWORD('y')",
            "CHANGE MASTER TO MASTER_PASSWORD = 'x'",
            "START REPLICA USER = 'x' PASSWORD = 'y'",
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (PASSWORD 'x')",
            "CREATE OR REPLACE USER x IDENTIFIED BY 'y'",
            "SELECT PASSWORD('x')",
            "INSERT INTO t VALUES (AES_ENCRYPT('x', 'key'))",
            "PREPARE s FROM 'ALTER USER x IDENTIFIED BY \"y\"'",
        ] {
            assert!(StatementClass::from_sql(sql.as_bytes()).is_secret, "{sql}");
        }
        for sql in [
            "SELECT password FROM users WHERE id = 5",
            "START TRANSACTION",
            "INSERT INTO log VALUES ('user identified by token')",
            "CREATE TABLE user (a INT)",
        ] {
            assert!(!StatementClass::from_sql(sql.as_bytes()).is_secret, "{sql}");
        }
        assert!(StatementClass::from_sql(b"LOAD DATA LOCAL INFILE 'x' INTO TABLE t").asks_for_file);
    }
}

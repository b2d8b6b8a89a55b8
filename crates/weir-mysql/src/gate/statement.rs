//! What a statement would do to a server, by its text. What is not known to be harmless is not.

use super::targets::schemas;
use super::tokens::{Token, tokens};

/// What a statement would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing that outlasts the connection.
    None,
    /// It changes tables; the schemas that it names, none for that of the connection.
    Write(Vec<String>),
    /// It sets these global variables, in lower case with underscores.
    Global(Vec<String>),
    /// It keeps what the connection writes out of the binary log, or no longer.
    SkipBinaryLog,
    /// It ends what this connection is doing.
    Kill(u32),
    /// Nothing that any command needs, and why.
    Forbidden(String),
}

/// What `sql` would do.
pub(super) fn effect(sql: &str) -> Effect {
    let all = tokens(sql);
    let words = match all.iter().position(|token| *token == Token::Sign(';')) {
        Some(end) if end + 1 < all.len() => {
            return forbidden("it is more than one statement; write one");
        }
        Some(end) => &all[..end],
        None => &all[..],
    };
    if words.contains(&Token::Executed) {
        return forbidden("it has a comment that the server executes (`/*! ... */`); leave it out");
    }
    // `(SELECT ...) UNION ...`
    let start = words.iter().position(|token| *token != Token::Sign('('));
    let words = &words[start.unwrap_or(words.len())..];
    match words {
        [] => Effect::None,
        [Token::Word(verb), rest @ ..] => of_verb(&verb.to_ascii_uppercase(), words, rest),
        _ => forbidden("it does not begin with a word; write one statement of SQL"),
    }
}

fn of_verb(verb: &str, all: &[Token<'_>], rest: &[Token<'_>]) -> Effect {
    let first = |keyword: &str| rest.first().is_some_and(|word| word.is(keyword));
    match verb {
        "SELECT" | "VALUES" | "TABLE" => of_select(all),
        "WITH" => of_common_tables(rest),
        "SHOW" | "EXPLAIN" | "DESCRIBE" | "DESC" | "HELP" | "DO" | "CHECKSUM" => of_reading(rest),
        "CHECK" if first("TABLE") => Effect::None,
        "BEGIN" | "COMMIT" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" | "UNLOCK" => Effect::None,
        "START" if first("TRANSACTION") => Effect::None,
        "SET" => of_set(rest),
        "KILL" => of_kill(rest),
        "INSERT" | "REPLACE" | "UPDATE" | "DELETE" | "TRUNCATE" => Effect::Write(schemas(all)),
        "LOAD" if first("DATA") && rest.iter().any(|word| word.is("LOCAL")) => {
            Effect::Write(schemas(all))
        }
        "CREATE" | "ALTER" | "DROP" | "RENAME" | "ANALYZE" | "OPTIMIZE" => of_definition(verb, all),
        "CALL" => of_call(rest),
        _ => forbidden(&format!(
            "{verb} is nothing that Weir sends to a server of yours"
        )),
    }
}

/// A query may write files on the server's host.
fn of_select(words: &[Token<'_>]) -> Effect {
    let writes_file = words
        .windows(2)
        .any(|pair| pair[0].is("INTO") && (pair[1].is("OUTFILE") || pair[1].is("DUMPFILE")));
    if writes_file {
        return forbidden("it writes a file on the server's host");
    }
    Effect::None
}

/// `WITH ... SELECT`, `UPDATE` or `DELETE`: the verb stands outside all parentheses.
fn of_common_tables(words: &[Token<'_>]) -> Effect {
    let mut depth = 0_usize;
    for (at, token) in words.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            word if depth == 0 && (word.is("UPDATE") || word.is("DELETE")) => {
                return Effect::Write(schemas(&words[at..]));
            }
            _ => {}
        }
    }
    of_select(words)
}

/// `EXPLAIN` may execute what it explains, as MariaDB's `ANALYZE UPDATE` does.
fn of_reading(words: &[Token<'_>]) -> Effect {
    let executes = words.iter().any(|word| word.is("ANALYZE"));
    let is_query = words.iter().any(|word| word.is("SELECT"));
    let changes = ["INSERT", "REPLACE", "UPDATE", "DELETE"];
    let is_change = words
        .iter()
        .any(|word| changes.iter().any(|verb| word.is(verb)));
    if executes && (is_change || !is_query) {
        return forbidden("it executes what it explains");
    }
    Effect::None
}

/// Definitions of tables, indexes and schemas; of nothing else.
fn of_definition(verb: &str, words: &[Token<'_>]) -> Effect {
    let object = words[1..].iter().copied().find(|word| {
        ![
            "TEMPORARY",
            "UNIQUE",
            "FULLTEXT",
            "SPATIAL",
            "LOCAL",
            "NO_WRITE_TO_BINLOG",
            "OR",
            "REPLACE",
            "IGNORE",
        ]
        .iter()
        .any(|extra| word.is(extra))
    });
    let object_is =
        |names: &[&str]| object.is_some_and(|object| names.iter().any(|name| object.is(name)));
    if object_is(&["TABLE", "TABLES"]) {
        return Effect::Write(schemas(words));
    }
    match verb {
        // The table of an index stands after ON.
        "CREATE" | "DROP" if object_is(&["INDEX"]) => {
            let at = words.iter().position(|word| word.is("ON"));
            let of_table = at.map_or(Vec::new(), |at| {
                let mut path = vec![Token::Word("TABLE")];
                path.extend_from_slice(&words[at + 1..]);
                schemas(&path)
            });
            Effect::Write(of_table)
        }
        "CREATE" if object_is(&["DATABASE", "SCHEMA"]) => {
            let is_extra =
                |word: &&Token<'_>| ["IF", "NOT", "EXISTS"].iter().any(|extra| word.is(extra));
            let name = words[2..].iter().find(|word| !is_extra(word));
            let name = name.and_then(|word| word.name()).unwrap_or_default();
            Effect::Write(vec![name.to_owned()])
        }
        _ => forbidden(&format!(
            "{verb} is sent for tables and their indexes only, and CREATE for a schema"
        )),
    }
}

/// What a procedure does inside, nobody can see from here; the user wrote the call.
fn of_call(words: &[Token<'_>]) -> Effect {
    match words {
        [name, Token::Sign('.'), ..] => {
            Effect::Write(name.name().map(str::to_owned).into_iter().collect())
        }
        _ => Effect::Write(Vec::new()),
    }
}

fn of_kill(words: &[Token<'_>]) -> Effect {
    let id = words.last().and_then(|word| word.name());
    match id.and_then(|id| id.parse().ok()) {
        Some(id) => Effect::Kill(id),
        None => forbidden("it does not name a connection by its number"),
    }
}

/// Where a variable is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Session,
    Global,
}

/// `SET` of variables: a scope holds for all that follow without one of their own (MySQL manual, "SET
/// Syntax for Variable Assignment").
fn of_set(words: &[Token<'_>]) -> Effect {
    let others = [
        "PASSWORD",
        "ROLE",
        "DEFAULT",
        "RESOURCE",
        "STATEMENT",
        "PERSIST",
        "PERSIST_ONLY",
    ];
    if let Some(first) = words.first().and_then(|word| word.name())
        && others.iter().any(|other| first.eq_ignore_ascii_case(other))
    {
        return forbidden(&format!(
            "SET {first} is nothing that Weir sends to a server of yours"
        ));
    }
    let (mut scope, mut globals, mut skips) = (Scope::Session, Vec::new(), false);
    let mut depth = 0_usize;
    let mut begins = true;
    for (at, token) in words.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Sign(',') if depth == 0 => begins = true,
            word if begins => {
                if word.is("GLOBAL") {
                    scope = Scope::Global;
                    continue;
                }
                if word.is("SESSION") || word.is("LOCAL") {
                    scope = Scope::Session;
                    continue;
                }
                begins = false;
                let Some((own, name)) = variable(&words[at..], scope) else {
                    return forbidden("a variable has no name");
                };
                match own {
                    None => return forbidden("PERSIST outlasts the server's restart"),
                    Some(Scope::Global) => globals.push(name),
                    Some(Scope::Session) => skips |= name == "sql_log_bin",
                }
            }
            _ => {}
        }
    }
    match (globals.is_empty(), skips) {
        (false, _) => Effect::Global(globals),
        (true, true) => Effect::SkipBinaryLog,
        (true, false) => Effect::None,
    }
}

/// The scope and name of the variable that an assignment begins with; no scope for one that persists.
fn variable(words: &[Token<'_>], scope: Scope) -> Option<(Option<Scope>, String)> {
    let first = words.first()?.name()?;
    let normal = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    let Some(system) = first.strip_prefix("@@") else {
        // A user's own variable is the connection's.
        let scope = if first.starts_with('@') {
            Scope::Session
        } else {
            scope
        };
        if scope == Scope::Global && first.eq_ignore_ascii_case("TRANSACTION") {
            return Some((Some(scope), "transaction_isolation".to_owned()));
        }
        return Some((Some(scope), normal(first)));
    };
    let of_path = || words.get(2).and_then(|word| word.name()).map(normal);
    match normal(system).as_str() {
        "global" => Some((Some(Scope::Global), of_path()?)),
        "session" | "local" => Some((Some(Scope::Session), of_path()?)),
        "persist" | "persist_only" => Some((None, of_path()?)),
        name => Some((Some(Scope::Session), name.to_owned())),
    }
}

fn forbidden(why: &str) -> Effect {
    Effect::Forbidden(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_reads_and_what_ends_with_the_connection_has_no_effect() {
        for sql in [
            "SELECT c FROM sbtest1 WHERE id = ? FOR UPDATE",
            "(SELECT 1) UNION (SELECT 2)",
            "/* hint */ select 1;",
            "WITH x AS (SELECT 1) SELECT * FROM x",
            "SHOW GLOBAL STATUS LIKE 'Uptime'",
            "EXPLAIN UPDATE t SET a = 1",
            "EXPLAIN ANALYZE SELECT 1",
            "CHECK TABLE t EXTENDED",
            "CHECKSUM TABLE t",
            "DO 0",
            "BEGIN",
            "START TRANSACTION",
            "COMMIT",
            "SET SESSION unique_checks = 0, foreign_key_checks = 0",
            "SET NAMES utf8mb4",
            "SET @a = 1, @@SESSION.sql_mode = ''",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "",
        ] {
            assert_eq!(effect(sql), Effect::None, "{sql}");
        }
    }

    #[test]
    fn global_variables_are_found_in_every_spelling() {
        for (sql, expected) in [
            (
                "SET GLOBAL innodb_io_capacity = 1",
                vec!["innodb_io_capacity"],
            ),
            ("set @@global.Innodb-IO_capacity = 1", vec!["innodb"]),
            (
                "SET GLOBAL a = 1, b = (SELECT 1, 2), SESSION c = 2, d = 3",
                vec!["a", "b"],
            ),
            ("SET SESSION a = 1, @@GLOBAL.b = 2, c = 3", vec!["b"]),
            (
                "SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE",
                vec!["transaction_isolation"],
            ),
        ] {
            assert_eq!(effect(sql), Effect::Global(names(&expected)), "{sql}");
        }
        for sql in [
            "SET sql_log_bin = 0",
            "SET SESSION foreign_key_checks = 0, sql_log_bin = OFF",
            "SET @@sql_log_bin = 0",
            "SET @@session.sql_log_bin = 0",
            "SET `sql_log_bin` = 0",
        ] {
            assert_eq!(effect(sql), Effect::SkipBinaryLog, "{sql}");
        }
    }

    #[test]
    fn what_writes_names_its_schemas() {
        for (sql, expected) in [
            ("INSERT INTO t VALUES (1)", vec![]),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", vec![]),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE hr.t", vec!["hr"]),
            ("CREATE DATABASE IF NOT EXISTS `shop`", vec!["shop"]),
            ("CREATE SCHEMA hr", vec!["hr"]),
            ("CREATE UNIQUE INDEX i ON hr.t (a)", vec!["hr"]),
            ("DROP INDEX i ON t", vec![]),
            ("DROP TABLE IF EXISTS sbtest1", vec![]),
            ("ANALYZE TABLE hr.t", vec!["hr"]),
            ("CALL hr.pay(1)", vec!["hr"]),
            ("CALL pay(1)", vec![]),
            ("WITH x AS (SELECT 1) DELETE FROM hr.t", vec!["hr"]),
        ] {
            assert_eq!(effect(sql), Effect::Write(names(&expected)), "{sql}");
        }
    }

    #[test]
    fn everything_else_is_forbidden() {
        for sql in [
            "GRANT ALL ON *.* TO x",
            "CREATE USER x",
            "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
            "DROP DATABASE shop",
            "ALTER INSTANCE DISABLE INNODB REDO_LOG",
            "FLUSH TABLES WITH READ LOCK",
            "RESET MASTER",
            "PURGE BINARY LOGS TO 'x'",
            "STOP REPLICA",
            "START REPLICA",
            "CHANGE MASTER TO MASTER_HOST = 'x'",
            "SHUTDOWN",
            "SET PERSIST a = 1",
            "SET @@PERSIST.a = 1",
            "SET PASSWORD = 'x'",
            "SET STATEMENT sql_log_bin = 0 FOR INSERT INTO t VALUES (1)",
            "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            "ANALYZE UPDATE t SET a = 1",
            "EXPLAIN ANALYZE UPDATE t SET a = 1",
            "PREPARE s FROM 'DROP TABLE t'",
            "SELECT 1; DROP TABLE t",
            "/*!50000 DROP TABLE t */",
            "KILL USER x",
            "'x'",
        ] {
            assert!(
                matches!(effect(sql), Effect::Forbidden(_)),
                "{sql}: {:?}",
                effect(sql)
            );
        }
    }
}

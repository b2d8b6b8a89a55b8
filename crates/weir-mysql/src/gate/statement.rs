//! Effect of a statement on a server, by its text. What is not known to be harmless is not.

use super::calls::{Calls, calls};
use super::effect::{Effect, forbidden};
use super::functions::Dialect;
use super::set::of_set;
use super::targets::schemas;
use super::tokens::{Token, readings};

/// Words between a verb of definitions and what it defines.
const BEFORE_OBJECT: [&str; 9] = [
    "TEMPORARY",
    "UNIQUE",
    "FULLTEXT",
    "SPATIAL",
    "LOCAL",
    "NO_WRITE_TO_BINLOG",
    "OR",
    "REPLACE",
    "IGNORE",
];
/// Engines whose tables lie in other tables or on other servers.
const ENGINES_ELSEWHERE: [&str; 8] = [
    "FEDERATED",
    "FEDERATEDX",
    "CONNECT",
    "SPIDER",
    "MERGE",
    "MRG_MYISAM",
    "OQGRAPH",
    "S3",
];

/// The effect of `sql` on a server of this dialect, in whichever way it reads its quotes.
pub(super) fn effect(sql: &str, dialect: Dialect) -> Effect {
    let readings = readings(sql);
    // A server that reads a quote that does not close refuses the statement.
    let is_whole = |reading: &&Vec<Token<'_>>| !reading.contains(&Token::Unfinished);
    let whole: Vec<_> = readings.iter().filter(is_whole).collect();
    let judged = if whole.is_empty() {
        readings.iter().take(1).collect()
    } else {
        whole
    };
    let mut effects: Vec<_> = judged
        .into_iter()
        .map(|tokens| of_tokens(sql, tokens, dialect))
        .collect();
    effects.dedup();
    let [effect] = effects.as_slice() else {
        return forbidden(
            "a quote stands after a backslash, which sql_mode decides about; double the quote",
        );
    };
    effect.clone()
}

fn of_tokens(sql: &str, all: &[Token<'_>], dialect: Dialect) -> Effect {
    let words = match all.iter().position(|token| *token == Token::Sign(';')) {
        Some(end) if end + 1 < all.len() => {
            return forbidden("it is more than one statement; write one");
        }
        Some(end) => &all[..end],
        None => all,
    };
    if let Some(why) = unreadable(words) {
        return forbidden(why);
    }
    // `(SELECT ...) UNION ...`
    let start = words.iter().position(|token| *token != Token::Sign('('));
    let words = &words[start.unwrap_or(words.len())..];
    let calls = calls(sql, words, dialect);
    if let Some(name) = calls.changing {
        return forbidden(&format!(
            "the function {name} changes more than tables of a schema"
        ));
    }
    let effect = match words {
        [] => Effect::None,
        [Token::Word(verb), rest @ ..] => of_verb(&verb.to_ascii_uppercase(), words, rest),
        _ => forbidden("it does not begin with a word; write one statement of SQL"),
    };
    with_parts(effect, words, calls)
}

/// Adds to the effect of a statement's verb that of its queries and of the functions that it calls.
fn with_parts(effect: Effect, words: &[Token<'_>], calls: Calls) -> Effect {
    let has = |first: &str, second: &[&str]| {
        words
            .windows(2)
            .any(|pair| pair[0].is(first) && pair[1].is_any(second))
    };
    if has("INTO", &["OUTFILE", "DUMPFILE"]) {
        return forbidden("it writes a file on the server's host");
    }
    // In Oracle's mode `s.nextval` is no function, and stands in quotes, too.
    let is_nextval = |word: &Token<'_>| {
        word.name()
            .is_some_and(|name| name.eq_ignore_ascii_case("NEXTVAL"))
    };
    let counts = has("VALUE", &["FOR"]) || words.iter().any(is_nextval);
    let locks = has("FOR", &["UPDATE", "SHARE"]) || has("LOCK", &["IN"]) || reads_with_locks(words);
    match effect {
        Effect::Write(named) if locks => {
            Effect::Write(union(union(named, schemas(words)), calls.schemas))
        }
        Effect::Write(named) => Effect::Write(union(named, calls.schemas)),
        Effect::None if counts || locks => Effect::Write(union(schemas(words), calls.schemas)),
        // What a stored function does, it does not say here.
        Effect::None if calls.stored => Effect::Write(calls.schemas),
        Effect::Global(_) | Effect::SkipBinaryLog if counts || locks || calls.stored => {
            forbidden("its value may change a table; write a value that does not")
        }
        effect => effect,
    }
}

/// InnoDB locks the rows that a subquery reads: it does in all statements but queries.
fn reads_with_locks(words: &[Token<'_>]) -> bool {
    let is_other = |verb: &Token<'_>| verb.is_any(&["DO", "SET", "SHOW", "KILL", "HELP"]);
    let has = |keyword: &str| words.iter().any(|word| word.is(keyword));
    let is_table = |pair: &[Token<'_>]| pair[0] == Token::Sign('(') && pair[1].is("TABLE");
    words.first().is_some_and(is_other)
        && (has("SELECT") && has("FROM") || words.windows(2).any(is_table))
}

/// All names of `first`, and those of `second` that are not among them.
fn union(mut first: Vec<String>, second: Vec<String>) -> Vec<String> {
    let more: Vec<_> = second
        .into_iter()
        .filter(|name| !first.contains(name))
        .collect();
    first.extend(more);
    first
}

/// Returns the reason that a statement cannot be read as the server would read it.
fn unreadable(words: &[Token<'_>]) -> Option<&'static str> {
    words.iter().find_map(|token| match token {
        Token::Executed => {
            Some("it has a comment that the server executes (`/*! ... */`); leave it out")
        }
        // Quotes of names in one of MariaDB's modes.
        Token::Sign('[') => Some("it has a bracket outside of strings"),
        _ => None,
    })
}

fn of_verb(verb: &str, all: &[Token<'_>], rest: &[Token<'_>]) -> Effect {
    let first = |keyword: &str| rest.first().is_some_and(|word| word.is(keyword));
    let is_work = matches!(rest, []) || matches!(rest, [word] if word.is("WORK"));
    match verb {
        "SELECT" | "VALUES" | "TABLE" | "SHOW" | "HELP" | "DO" | "CHECKSUM" | "COMMIT"
        | "ROLLBACK" | "RELEASE" => Effect::None,
        "WITH" => of_common_tables(rest),
        "EXPLAIN" | "DESCRIBE" | "DESC" => of_plan(rest),
        "BEGIN" if is_work => Effect::None,
        // MariaDB writes it to the binary log if the transaction began with a consistent snapshot.
        "SAVEPOINT" => Effect::Write(Vec::new()),
        "UNLOCK" if first("TABLES") || first("TABLE") => Effect::None,
        "START" if first("TRANSACTION") => Effect::None,
        "SET" => of_set(rest),
        "KILL" => of_kill(rest),
        "INSERT" | "REPLACE" | "UPDATE" | "DELETE" | "TRUNCATE" => Effect::Write(schemas(all)),
        "LOCK" | "CHECK" if first("TABLES") || first("TABLE") => Effect::Write(schemas(all)),
        "LOAD" if first("DATA") && is_local(rest) => Effect::Write(schemas(all)),
        "CREATE" | "ALTER" | "DROP" | "RENAME" | "ANALYZE" | "OPTIMIZE" => of_definition(verb, all),
        "CALL" => of_call(rest),
        _ => forbidden(&format!(
            "{verb} is nothing that Weir sends to a server of yours"
        )),
    }
}

/// Returns true if the file of a `LOAD DATA` is the client's.
fn is_local(words: &[Token<'_>]) -> bool {
    words
        .windows(2)
        .any(|pair| pair[0].is("LOCAL") && pair[1].is("INFILE"))
}

/// `WITH ... SELECT`, `UPDATE` or `DELETE`: the verb stands outside all parentheses.
fn of_common_tables(words: &[Token<'_>]) -> Effect {
    let mut depth = 0_usize;
    for (at, token) in words.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            word if depth == 0 && word.is("SELECT") => break,
            word if depth == 0 && word.is_any(&["UPDATE", "DELETE", "INSERT", "REPLACE"]) => {
                return Effect::Write(schemas(&words[at..]));
            }
            _ => {}
        }
    }
    Effect::None
}

/// `EXPLAIN` may execute what it explains, as MariaDB's `ANALYZE UPDATE` does. The plan of a change locks its tables
/// like the change until the transaction ends (metadata locks).
fn of_plan(words: &[Token<'_>]) -> Effect {
    let executes = words.iter().any(|word| word.is("ANALYZE"));
    let is_query = words.iter().any(|word| word.is("SELECT"));
    let change = words
        .iter()
        .position(|word| word.is_any(&["INSERT", "REPLACE", "UPDATE", "DELETE"]));
    if executes && (change.is_some() || !is_query) {
        return forbidden("it executes the explained statement");
    }
    match change {
        Some(at) if words[at + 1..].first() != Some(&Token::Sign('(')) => {
            Effect::Write(schemas(&words[at..]))
        }
        _ => Effect::None,
    }
}

/// Definitions of tables, indexes and schemas; of nothing else.
fn of_definition(verb: &str, words: &[Token<'_>]) -> Effect {
    let at = words[1..]
        .iter()
        .position(|word| !word.is_any(&BEFORE_OBJECT));
    let object = at.map(|at| (words[at + 1], &words[at + 2..]));
    match object {
        Some((kind, rest)) if kind.is_any(&["TABLE", "TABLES"]) => {
            of_table(rest).unwrap_or_else(|| Effect::Write(schemas(words)))
        }
        Some((kind, rest)) if kind.is("INDEX") && ["CREATE", "DROP"].contains(&verb) => {
            of_index(rest)
        }
        Some((kind, rest)) if kind.is_any(&["DATABASE", "SCHEMA"]) && verb == "CREATE" => {
            of_schema(words, rest)
        }
        _ => forbidden(&format!(
            "{verb} is sent for tables and their indexes only, and CREATE for a schema"
        )),
    }
}

/// Returns the reason that a definition of a table is refused: its rows would lie elsewhere.
fn of_table(words: &[Token<'_>]) -> Option<Effect> {
    let mut before = Token::Sign(' ');
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied();
        let assigns = next == Some(Token::Sign('='))
            || matches!(next, Some(Token::Text(_) | Token::Double(_)));
        let is_connected = word.is("CONNECTION") && assigns;
        let is_merged = word.is("UNION") && next == Some(Token::Sign('='));
        let is_placed = word.is("DIRECTORY") && before.is_any(&["DATA", "INDEX"]);
        if is_connected || is_merged || is_placed {
            return Some(forbidden(
                "it says where the table's rows lie, which may be outside of its schema",
            ));
        }
        let engine = match (word.is_any(&["ENGINE", "TYPE"]), next) {
            (true, Some(Token::Sign('='))) => words.get(at + 2),
            (true, _) => words.get(at + 1),
            _ => None,
        };
        let named = engine.and_then(|engine| match engine {
            Token::Text(name) => Some(*name),
            engine => engine.name(),
        });
        let is_elsewhere = |name: &str| {
            ENGINES_ELSEWHERE
                .iter()
                .any(|engine| engine.eq_ignore_ascii_case(name))
        };
        if let Some(name) = named.filter(|name| is_elsewhere(name)) {
            return Some(forbidden(&format!(
                "the rows of a table of the engine {name} lie elsewhere"
            )));
        }
        before = *word;
    }
    None
}

/// The table of an index stands after `ON`.
fn of_index(words: &[Token<'_>]) -> Effect {
    let at = words.iter().position(|word| word.is("ON"));
    let Some(at) = at else {
        return forbidden("an index without a table");
    };
    let mut path = vec![Token::Word("TABLE")];
    path.extend_from_slice(&words[at + 1..]);
    Effect::Write(schemas(&path))
}

/// A schema is made if it is missing, never in place of another.
fn of_schema(words: &[Token<'_>], rest: &[Token<'_>]) -> Effect {
    if words.iter().any(|word| word.is("REPLACE")) {
        return forbidden("it drops the schema that is there");
    }
    let name = rest
        .iter()
        .find(|word| !word.is_any(&["IF", "NOT", "EXISTS"]));
    let name = name.and_then(|word| word.name()).unwrap_or_default();
    Effect::Write(vec![name.to_owned()])
}

/// A procedure's statements cannot be seen from here; the user wrote the call.
fn of_call(words: &[Token<'_>]) -> Effect {
    match words {
        [name, Token::Sign('.'), ..] => {
            Effect::Write(name.name().map(str::to_owned).into_iter().collect())
        }
        _ => Effect::Write(Vec::new()),
    }
}

/// `KILL`, `KILL QUERY` and `KILL CONNECTION` with a number. MariaDB's `KILL QUERY ID` counts otherwise.
fn of_kill(words: &[Token<'_>]) -> Effect {
    let id = match words {
        [kind, id] if kind.is_any(&["QUERY", "CONNECTION"]) => Some(id),
        [id] => Some(id),
        _ => None,
    };
    let id = id.and_then(|id| id.name());
    match id.and_then(|id| id.parse().ok()) {
        Some(id) => Effect::Kill(id),
        None => forbidden("it does not name a connection by its number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a server of which no connection has told yet.
    fn effect(sql: &str) -> Effect {
        super::effect(sql, Dialect::Unknown)
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_reads_and_what_ends_with_the_connection_has_no_effect() {
        for sql in [
            "SELECT c FROM sbtest1 WHERE id = ?",
            "(SELECT 1) UNION (SELECT 2)",
            "/* hint */ select 1;",
            "WITH x AS (SELECT 1) SELECT * FROM x",
            "SHOW GLOBAL STATUS LIKE 'Uptime'",
            "EXPLAIN SELECT REPLACE(a, 'x', 'y') FROM t",
            "EXPLAIN ANALYZE SELECT 1",
            "CHECKSUM TABLE t",
            "SELECT * FROM hr.t WHERE a = 'x' LIMIT 5",
            "SELECT \"it's\", 'a\\nb', @@GLOBAL.innodb_io_capacity INTO @a, @b, @c",
            "SHOW INDEX FROM t",
            "RELEASE SAVEPOINT a",
            "ROLLBACK TO SAVEPOINT a",
            "UNLOCK TABLES",
            "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'",
            "SET character_set_client = utf8mb4, SESSION sql_mode = 'ANSI_QUOTES'",
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
            (
                "set @@global.Innodb_IO_capacity := 1",
                vec!["innodb_io_capacity"],
            ),
            ("SET @@GLOBAL.`a` = 1", vec!["a"]),
            (
                "SET GLOBAL TRANSACTION READ ONLY",
                vec!["transaction_read_only"],
            ),
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
            "SET @@`sql_log_bin` = 0",
            "SET @@`SQL_LOG_BIN`:=0",
            "SET @@session.`sql_log_bin` = 0",
            "SET @@SESSION . sql_log_bin = 0",
            "SET @@\"sql_log_bin\" = 0",
            "SET LOCAL \"sql_log_bin\" = 0",
            "SET @@/**/`sql_log_bin` = 0",
            "SET @a = 1, @@`sql_log_bin` = 0",
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
            ("CHECK TABLE t EXTENDED", vec![]),
            ("LOCK TABLES t WRITE, hr.u READ", vec!["hr"]),
            // What is stored may write, and so may what locks or counts.
            ("SELECT pay(1)", vec![]),
            ("SELECT hr.pay(1)", vec!["hr"]),
            ("DO hr.pay(1)", vec!["hr"]),
            ("SET @a = hr.pay(1)", vec!["hr"]),
            ("SHOW TABLES WHERE hr.pay(1)", vec!["hr"]),
            ("SELECT * FROM hr.t FOR UPDATE", vec!["hr"]),
            ("SELECT * FROM t FOR UPDATE", vec![]),
            ("SELECT * FROM t FOR SHARE OF t SKIP LOCKED", vec![]),
            ("SELECT * FROM t LOCK IN SHARE MODE", vec![]),
            ("(SELECT * FROM t FOR UPDATE)", vec![]),
            ("SELECT 1 UNION (SELECT a FROM t FOR UPDATE)", vec![]),
            ("SELECT (SELECT a FROM t LIMIT 1 FOR UPDATE)", vec![]),
            (
                "WITH x AS (SELECT * FROM t FOR SHARE) SELECT * FROM x",
                vec![],
            ),
            ("SET @a = (SELECT a FROM t LIMIT 1 FOR/**/UPDATE)", vec![]),
            ("DO (SELECT a FROM t LOCK IN SHARE MODE)", vec![]),
            ("SET @a = NEXT VALUE FOR hr.s", vec!["hr"]),
            (
                "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
                vec![],
            ),
            ("SET transaction_isolation = 3", vec![]),
            ("CALL pay(hr.f(1))", vec!["hr"]),
            // Found by `tests/gate`.
            ("DO EXISTS(TABLE t)", vec![]),
            ("SET @a = (SELECT a FROM hr.t LIMIT 1)", vec!["hr"]),
            ("SAVEPOINT a", vec![]),
            ("EXPLAIN UPDATE t SET a = 1", vec![]),
            ("DESCRIBE DELETE FROM hr.t", vec!["hr"]),
            ("SELECT hr.package.f(1)", vec!["hr"]),
            ("SELECT * FROM hr.t LOCK IN SHARE MODE", vec!["hr"]),
            ("SELECT NEXT VALUE FOR hr.s", vec!["hr"]),
            ("SELECT NEXTVAL(hr.s)", vec!["hr"]),
            ("SELECT hr.s.`nextval`", vec!["hr"]),
            (
                "CREATE TABLE t (connection INT, CHECK (data > 1)) ENGINE = InnoDB",
                vec![],
            ),
            ("CREATE INDEX `on` ON hr.t (a)", vec!["hr"]),
            // Whatever sql_mode says of a backslash, or the server refuses it.
            (r"INSERT INTO t VALUES ('it\'s')", vec![]),
            (r"INSERT INTO t VALUES ('\', hr.f(1))", vec!["hr"]),
        ] {
            assert_eq!(effect(sql), Effect::Write(names(&expected)), "{sql}");
        }
    }

    #[test]
    fn everything_else_is_forbidden() {
        for sql in [
            "GRANT ALL ON *.* TO x",
            "CREATE USER x",
            "BEGIN NOT ATOMIC DROP TABLE hr.t",
            "CREATE OR REPLACE DATABASE shop",
            "CREATE OR REPLACE VIEW v AS SELECT 1",
            "CREATE TABLE t (a INT) ENGINE = FEDERATED",
            "CREATE TABLE t (a INT) ENGINE = 'Connect'",
            "ALTER TABLE t ENGINE SPIDER",
            "CREATE TABLE t (a INT) CONNECTION = 'mysql://x@y/z'",
            "CREATE TABLE t (a INT) UNION = (u, v)",
            "CREATE TABLE t (a INT) DATA DIRECTORY '/var/lib'",
            "CREATE TABLE t (a INT) PARTITION BY HASH (a) (PARTITION p INDEX DIRECTORY = '/x')",
            "LOAD DATA INFILE '/etc/passwd' INTO TABLE t (local)",
            "SET SESSION a = 1, PERSIST b = 2",
            "SET @a = 1, PASSWORD FOR x = 'y'",
            "SET gtid_next = 'AUTOMATIC'",
            "SET SESSION server_id = 7",
            "SET @@SESSION.skip_replication = 1",
            "SET NAMES gbk",
            "SET @@`character_set_client` = gbk",
            "SET character_set_client = 28 | 'latin1'",
            "SET NAMES DEFAULT",
            "SET @@`session`.sql_log_bin = 0",
            "SET @@a.b = 1",
            "SET a.b = 1",
            "SET @@ = 1",
            "SET @@`a``b` = 1",
            "SET @@global.Innodb-IO_capacity = 1",
            "SET GLOBAL a = 1, sql_log_bin = (SELECT pay(1))",
            "SET GLOBAL a = 1, @@b = 2",
            "SET sql_log_bin",
            "SET @@`gtid_next` = 'AUTOMATIC'",
            "SET binlog_row_image = 'MINIMAL'",
            "INSERT INTO t SELECT 1 INTO OUTFILE 'x'",
            "DO GET_LOCK('x', 1)",
            "SET character_set_client = (SELECT 'gbk')",
            "SET CHARACTER SET sjis",
            "KILL QUERY ID 7",
            "KILL (SELECT 7)",
            "SELECT SETVAL(s, 1)",
            "UPDATE [hr].[t] SET a = 1",
            // Two strings or one, and both are whole.
            r"UPDATE t SET a = '\' + hr.f(1) + \' '",
            "USE hr",
            "HANDLER hr.t OPEN",
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

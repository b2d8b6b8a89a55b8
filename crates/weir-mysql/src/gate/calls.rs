//! Functions that a statement calls: one that is stored in the server may write.

use super::functions::{Dialect, FunctionCall};
use super::tokens::Token;

/// Calls of a statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    /// One that changes more than the connection.
    pub(super) changing: Option<String>,
    /// True if one of them may be stored in the server.
    pub(super) stored: bool,
    /// Schemas whose functions are called.
    pub(super) schemas: Vec<String>,
}

/// The calls in the tokens of `sql`, on a server of this dialect.
pub(super) fn calls(sql: &str, tokens: &[Token<'_>], dialect: Dialect) -> Calls {
    let mut calls = Calls::default();
    for (at, token) in tokens.iter().enumerate() {
        let Some(name) = token.name().filter(|_| is_before_arguments(tokens, at)) else {
            continue;
        };
        if let Some(schema) = qualifier(tokens, at) {
            calls.stored = true;
            calls.schemas.push(schema.to_owned());
        } else if !is_no_call(tokens, at) {
            let called = FunctionCall {
                name,
                is_apart: is_apart(sql, name),
                arguments: arguments(&tokens[at + 2..]),
            };
            if called.is_changing() {
                calls.changing = Some(name.to_ascii_lowercase());
            }
            // In quotes it is a name of the user's.
            calls.stored |= !matches!(token, Token::Word(_)) || !called.is_native(dialect);
        }
    }
    calls
}

fn is_before_arguments(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at + 1) == Some(&Token::Sign('('))
}

/// The first name of a path that ends at `at`: `schema.function`, `schema.package.function`.
fn qualifier<'a>(tokens: &[Token<'a>], at: usize) -> Option<&'a str> {
    let mut first = None;
    let mut at = at;
    while let Some(start) = at.checked_sub(2)
        && tokens[start + 1] == Token::Sign('.')
    {
        first = Some(tokens[start].name().unwrap_or_default());
        at = start;
    }
    first
}

/// A name before a parenthesis stands where no function can be called: right after a value, after `AS`,
/// or as a common table with its columns.
fn is_no_call(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| tokens[before]);
    let is_after_value = before.is_some_and(|before| {
        let is_closed = before == Token::Sign(')') || matches!(before, Token::Text(_));
        is_closed || before.is_number() || before.is("AS")
    });
    is_after_value || is_common_table(&tokens[at + 1..])
}

/// These are the columns of a common table: `(a, b) AS (`.
fn is_common_table(tokens: &[Token<'_>]) -> bool {
    let Some(end) = tokens.iter().position(|token| *token == Token::Sign(')')) else {
        return false;
    };
    let mut columns = tokens[1..end].split(|token| *token == Token::Sign(','));
    columns.all(|column| matches!(column, [name] if name.name().is_some()))
        && matches!(tokens[end + 1..], [word, Token::Sign('('), ..] if word.is("AS"))
}

/// Something stands between a name of `sql` and its parenthesis.
fn is_apart(sql: &str, name: &str) -> bool {
    let end = name.as_ptr() as usize - sql.as_ptr() as usize + name.len();
    sql.as_bytes().get(end) != Some(&b'(')
}

/// Arguments between an open parenthesis and the one that closes it.
fn arguments(tokens: &[Token<'_>]) -> usize {
    let (mut depth, mut commas) = (0_usize, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') if depth == 0 => return if at == 0 { 0 } else { commas + 1 },
            Token::Sign(')') => depth -= 1,
            Token::Sign(',') if depth == 0 => commas += 1,
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    const MYSQL: Dialect = Dialect::Mysql {
        has_old_digests: false,
    };

    fn found(sql: &str, dialect: Dialect) -> Calls {
        calls(sql, &tokens(sql), dialect)
    }

    #[test]
    fn what_the_servers_bring_along_is_known() {
        for sql in [
            "SELECT COUNT(*), CAST(COALESCE(SUM(a), 0) AS UNSIGNED) FROM t WHERE b IN (1, 2)",
            "SELECT GROUP_CONCAT(DISTINCT a ORDER BY a) FROM t FORCE INDEX (`k`)",
            "WITH RECURSIVE x AS (SELECT 1) SELECT ROW_NUMBER() OVER (PARTITION BY a) FROM x",
            "WITH x(a, `b`) AS (SELECT 1, 2), y (c) AS (SELECT 3) SELECT * FROM x, y",
            "SELECT a FROM t WHERE MATCH (a) AGAINST ('x' IN BOOLEAN MODE)",
            "SELECT HEX(RANDOM_BYTES(4)), ST_Area(ST_GeomFromText('POINT(1 1)')), JSON_OVERLAPS(a, b)",
            "SELECT d.a FROM (SELECT 1) AS d (a), (SELECT 2) e (b)",
        ] {
            for dialect in [Dialect::Unknown, Dialect::Mariadb, MYSQL] {
                assert_eq!(found(sql, dialect), Calls::default(), "{sql} {dialect:?}");
            }
        }
        for sql in [
            "SELECT WAIT_FOR_EXECUTED_GTID_SET('x', 1), POINT(1, 2), 1 MEMBER OF ('[1]')",
            "SELECT VECTOR_DIM(STRING_TO_VECTOR('[1]')), REGEXP_LIKE(a, 'x'), UUID_TO_BIN(UUID())",
        ] {
            assert_eq!(found(sql, MYSQL), Calls::default(), "{sql}");
            assert!(found(sql, Dialect::Mariadb).stored || sql.contains("POINT"));
        }
        let sql = "SELECT NVL(a, 1), MD5('x'), JSON_VALUE(a, '$'), POINT(1, 2)";
        assert_eq!(found(sql, Dialect::Mariadb), Calls::default());
        assert!(found(sql, MYSQL).stored);
        assert_eq!(
            found("SELECT MD5(1)", Dialect::by_version("8.4.2")),
            Calls::default()
        );
    }

    /// Each of them called a stored function of that name on a real server.
    #[test]
    fn what_may_be_stored_is_told() {
        for sql in [
            "SELECT pay(1)",
            "SELECT `pay` (1)",
            "SELECT \"pay\"(1)",
            "SELECT `count`(1)",
            "SELECT COUNT (1)",
            "SELECT COUNT/**/(1)",
            "SELECT POINT()",
            "SELECT POINT(1)",
            "DO pay(1)",
            "SELECT a FROM t WHERE pay(a)",
            "SELECT pay(a) AS x",
        ] {
            assert!(found(sql, Dialect::Mariadb).stored, "{sql}");
        }
    }

    #[test]
    fn schemas_of_functions_are_told_and_what_changes_more_is_named() {
        for sql in ["SELECT hr . pay(1)", "SELECT hr.package.pay(1)"] {
            assert_eq!(found(sql, MYSQL).schemas, ["hr"], "{sql}");
        }
        for sql in [
            "SELECT group_replication_set_as_primary('x')",
            "SELECT SETVAL(s, 100)",
            "SELECT sys_exec('reboot')",
            "DO GET_LOCK('x', 1)",
        ] {
            assert!(found(sql, MYSQL).changing.is_some(), "{sql}");
        }
    }
}

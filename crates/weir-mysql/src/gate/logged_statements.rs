//! Changes that stand in the log. The rows of a load come by the million, so there is one line for each kind of
//! statement on each server.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use weir_model::Address;

use super::tokens::{Token, readings};

/// Kinds that are remembered; all others are logged each time.
const REMEMBERED_MAX: usize = 20_000;
/// Longest kind that is remembered, bytes.
const KIND_MAX: usize = 2_000;

/// The kinds of statements that stand in the log, with the servers that they were sent to.
#[derive(Debug, Default)]
pub(super) struct LoggedStatements(Mutex<HashSet<(Address, String)>>);

impl LoggedStatements {
    /// Appends a statement unless one of its kind stands in the log. A second connection that asks meanwhile
    /// waits: it must not send what could not be logged.
    pub(super) fn once<E>(
        &self,
        address: &Address,
        sql: &str,
        append: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let kind = (address.clone(), kind(sql));
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kinds.contains(&kind) {
            return Ok(());
        }
        append()?;
        if kinds.len() < REMEMBERED_MAX && kind.1.len() <= KIND_MAX {
            kinds.insert(kind);
        }
        Ok(())
    }
}

/// The common part of statements that differ only in their values, and in how many rows and values they have.
fn kind(sql: &str) -> String {
    let readings = readings(sql);
    let kinds: Vec<_> = readings.iter().map(|tokens| kind_of(tokens)).collect();
    kinds.join("\n")
}

fn kind_of(tokens: &[Token<'_>]) -> String {
    let mut words: Vec<String> = Vec::new();
    // Where the parentheses that are open begin.
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        words.push(word(tokens, at));
        match token {
            Token::Sign('(') => open.push(words.len() - 1),
            Token::Sign(')') => fold_row(&mut words, open.pop().unwrap_or_default()),
            _ => fold_value(&mut words),
        }
    }
    words.join(" ")
}

/// A word of the kind; `?` for a value. A string in double quotes may be a name and stays.
fn word(tokens: &[Token<'_>], at: usize) -> String {
    match tokens[at] {
        Token::Text(_) => "?".to_owned(),
        token if token.is("NULL") || is_number(tokens, at) => "?".to_owned(),
        Token::Word(word) => word.to_owned(),
        Token::Quoted(name) => format!("`{name}`"),
        Token::Double(name) => format!("\"{name}\""),
        Token::Sign(sign) => sign.to_string(),
        Token::Executed | Token::Unfinished => "!".to_owned(),
    }
}

/// A word is a number, and no name behind a point: `1.5`, but not `shop.1`.
fn is_number(tokens: &[Token<'_>], at: usize) -> bool {
    let is_name = matches!(tokens[..at], [.., Token::Sign('.')]);
    tokens[at].is_number() && !is_name
}

/// `? , ?` is `?`.
fn fold_value(words: &mut Vec<String>) {
    if let [.., first, comma, last] = words.as_slice()
        && [first, comma, last] == ["?", ",", "?"]
    {
        words.truncate(words.len() - 2);
    }
}

/// `(?) , (?)` is `(?)`; the last one begins at `start`.
fn fold_row(words: &mut Vec<String>, start: usize) {
    let length = words.len() - start;
    let Some(before) = start.checked_sub(length + 1) else {
        return;
    };
    if words[start - 1] == "," && words[before..start - 1] == words[start..] {
        words.truncate(start - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_their_number_make_no_kind() {
        let kinds = |statements: &[&str]| {
            let kinds: HashSet<_> = statements.iter().map(|sql| kind(sql)).collect();
            kinds.len()
        };
        assert_eq!(
            kinds(&[
                "INSERT INTO t (a, b) VALUES (1, 'x')",
                "INSERT INTO t (a, b) VALUES (2, NULL), (3, 'y'), (4, 'it''s; VALUES')",
                "INSERT INTO t (a, b) /* x */ VALUES (?, ?)",
            ]),
            1
        );
        assert_eq!(
            kinds(&[
                "UPDATE t SET a = 1.5 WHERE id IN (1, 2)",
                "UPDATE t SET a = 2.25 WHERE id IN (3)",
            ]),
            1
        );
    }

    #[test]
    fn tables_make_a_kind_however_they_are_named() {
        let statements = [
            "INSERT INTO order_values_a VALUES (1)",
            "INSERT INTO order_values_b VALUES (1)",
            "INSERT INTO `values a` VALUES (1)",
            "INSERT INTO `values b` VALUES (1)",
            "INSERT INTO \"a\" VALUES (1)",
            "INSERT INTO \"b\" VALUES (1)",
            "INSERT INTO shop.1 VALUES (1)",
            "INSERT INTO shop.2 VALUES (1)",
            "INSERT INTO t VALUES (1); -- \\' \n",
            "DROP TABLE a, a",
            "DROP TABLE a",
            "DELETE FROM T",
            "DELETE FROM t",
        ];
        let kinds: HashSet<_> = statements.iter().map(|sql| kind(sql)).collect();
        assert_eq!(kinds.len(), statements.len(), "{kinds:?}");
    }

    /// The second one asks while the first is writing, and would pass if the first one's kind stood there already.
    #[test]
    fn a_second_connection_does_not_pass_on_a_write_that_fails() {
        let (logged, address) = (
            LoggedStatements::default(),
            Address::Tcp("db1".to_owned(), 3306),
        );
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (second, asks) = std::sync::mpsc::channel();
        let (logged, address) = (&logged, &address);
        std::thread::scope(|scope| {
            let first = scope.spawn(move || {
                logged.once(address, "DROP TABLE t", || {
                    begun.send(()).unwrap();
                    asks.recv().unwrap();
                    Err("no room")
                })
            });
            has_begun.recv().unwrap();
            second.send(()).unwrap();
            let result = logged.once(address, "DROP TABLE t", || Err("still none"));
            assert_eq!(result, Err("still none"));
            assert_eq!(first.join().unwrap(), Err("no room"));
        });
    }

    #[test]
    fn kinds_beyond_the_memory_are_logged_each_time() {
        let (logged, address) = (
            LoggedStatements::default(),
            Address::Tcp("db1".to_owned(), 3306),
        );
        let mut lines = 0;
        let mut send = |sql: &str| {
            let _: Result<(), ()> = logged.once(&address, sql, || {
                lines += 1;
                Ok(())
            });
        };
        for number in 0..REMEMBERED_MAX {
            send(&format!("DROP TABLE t{number}"));
        }
        send("DROP TABLE t7");
        send("DROP TABLE more");
        send("DROP TABLE more");
        assert_eq!(lines, REMEMBERED_MAX + 2);
    }
}

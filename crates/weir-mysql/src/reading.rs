//! The text of a statement as a server reads it: which comments it executes, where strings end, which
//! question marks are parameters.
//!
//! MySQL manual, "Comments", "Server SQL Modes"; MariaDB Knowledge Base, "Comment Syntax".

mod insert;

use crate::gate::{Token, next_token, tokens_in};
use crate::sql_scan::Quoting;

pub use insert::InsertedColumn;

/// Dialect of statements, by a server's `sql_mode` and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dialect {
    quoting: Quoting,
    /// Comments that are for servers of some version are executed.
    executes_comments: bool,
}

impl Default for Dialect {
    /// The usual `sql_mode` of a server that executes every comment of a version.
    fn default() -> Self {
        Self {
            quoting: Quoting::USUAL,
            executes_comments: true,
        }
    }
}

impl Dialect {
    /// All that read some statement otherwise.
    fn possible() -> impl Iterator<Item = Self> {
        [true, false].into_iter().flat_map(|executes_comments| {
            let quotings = Quoting::ALL.into_iter();
            quotings.map(move |quoting| Self {
                quoting,
                executes_comments,
            })
        })
    }
}

/// A statement as a server reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementText {
    text: String,
    /// The text with that of executed comments in place of these.
    executed: String,
    /// Positions of the question marks of parameters in `text`.
    marks: Vec<usize>,
    /// All quotes close.
    is_whole: bool,
}

impl StatementText {
    /// Reads `sql` as a server with the usual `sql_mode` does. The text to be sent is the same, without the
    /// semicolon at its end.
    pub fn read(sql: &str) -> Self {
        Self::read_in(sql, Dialect::default())
    }

    fn read_in(sql: &str, dialect: Dialect) -> Self {
        let mut reader = Reader {
            dialect,
            rest: sql.trim(),
            text: String::with_capacity(sql.len()),
            executed: String::with_capacity(sql.len()),
            marks: Vec::new(),
            is_whole: true,
            end: None,
            is_in_comment: false,
        };
        while !reader.rest.is_empty() {
            reader.step();
        }
        reader.finish()
    }

    /// The different ways in which servers may read `sql`, the usual one first. A way with a quote that does not
    /// close counts only if there is no other, since servers refuse it.
    pub fn readings(sql: &str) -> Vec<Self> {
        let mut readings: Vec<Self> = Vec::new();
        for reading in Dialect::possible().map(|dialect| Self::read_in(sql, dialect)) {
            if !readings.iter().any(|known| known.marks == reading.marks) {
                readings.push(reading);
            }
        }
        if readings.iter().any(|reading| reading.is_whole) {
            readings.retain(|reading| reading.is_whole);
        }
        readings
    }

    /// Returns the text that is sent.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Question marks that are parameters.
    pub fn parameters(&self) -> usize {
        self.marks.len()
    }

    /// The texts between the parameters, one more than these.
    pub fn pieces(&self) -> Vec<&str> {
        let mut start = 0;
        let mut pieces = Vec::with_capacity(self.marks.len() + 1);
        for mark in &self.marks {
            pieces.push(&self.text[start..*mark]);
            start = mark + 1;
        }
        pieces.push(&self.text[start..]);
        pieces
    }

    /// The words that it begins with, in capitals: keywords, names and numbers, until something else stands
    /// there; parentheses before them are passed over.
    pub fn first_words(&self) -> Vec<String> {
        let tokens = self.tokens();
        let words = tokens
            .iter()
            .skip_while(|token| **token == Token::Sign('('));
        words
            .map_while(|token| match token {
                Token::Word(word) => Some(word.to_ascii_uppercase()),
                _ => None,
            })
            .collect()
    }

    /// Returns true if it opens a transaction: `BEGIN`, `START TRANSACTION`, or by `SET autocommit
    /// = 0`.
    pub fn opens_transaction(&self) -> bool {
        let words = self.first_words();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["BEGIN"] | ["BEGIN", "WORK"] | ["START", "TRANSACTION", ..] => true,
            ["SET", ..] => self.ends_autocommit(),
            _ => false,
        }
    }

    fn ends_autocommit(&self) -> bool {
        let tokens = self.tokens();
        let is_autocommit = |token: &Token<'_>| {
            let name = token.name().unwrap_or_default();
            name.trim_start_matches('@')
                .eq_ignore_ascii_case("autocommit")
        };
        tokens.windows(3).any(|assignment| {
            let [name, by, value] = assignment else {
                return false;
            };
            // `:=` is two signs.
            let (Token::Sign('='), value) = (by, value) else {
                return false;
            };
            is_autocommit(name) && value.is_any(&["0", "OFF", "FALSE"])
        })
    }

    fn tokens(&self) -> Vec<Token<'_>> {
        tokens_in(&self.executed, Quoting::USUAL)
    }
}

struct Reader<'a> {
    dialect: Dialect,
    rest: &'a str,
    text: String,
    executed: String,
    marks: Vec<usize>,
    is_whole: bool,
    /// Position of the first semicolon after which only others came.
    end: Option<usize>,
    is_in_comment: bool,
}

impl Reader<'_> {
    fn step(&mut self) {
        if let Some(header) = executed_header(self.rest) {
            return self.comment(header);
        }
        if self.is_in_comment && self.rest.starts_with("*/") {
            self.is_in_comment = false;
            self.executed.push(' ');
            return self.pass(2);
        }
        let (token, length) = next_token(self.rest, self.dialect.quoting);
        match token {
            Some(Token::Sign(';')) => {
                self.end.get_or_insert(self.text.len());
            }
            Some(Token::Sign(sign)) => {
                if sign == '?' {
                    self.marks.push(self.text.len());
                }
                self.end = None;
            }
            Some(token) => {
                self.is_whole &= token != Token::Unfinished;
                self.end = None;
            }
            None => {}
        }
        self.executed.push_str(&self.rest[..length]);
        self.pass(length);
    }

    /// Takes so many bytes as they are.
    fn pass(&mut self, length: usize) {
        self.text.push_str(&self.rest[..length]);
        self.rest = &self.rest[length..];
    }

    /// A comment that may be executed is its text or nothing; `header` is the length of its start.
    fn comment(&mut self, header: usize) {
        self.executed.push(' ');
        if self.dialect.executes_comments {
            self.is_in_comment = true;
            self.pass(header);
        } else {
            let after = after_comment(&self.rest[header..]).len();
            self.pass(self.rest.len() - after);
        }
    }

    fn finish(mut self) -> StatementText {
        if let Some(end) = self.end {
            self.text.truncate(end);
        }
        self.text.truncate(self.text.trim_end().len());
        let length = self.text.len();
        self.marks.retain(|mark| *mark < length);
        StatementText {
            text: self.text,
            executed: self.executed,
            marks: self.marks,
            is_whole: self.is_whole,
        }
    }
}

/// Returns the text after a comment that is passed over; another one may stand within it.
fn after_comment(text: &str) -> &str {
    let (mut rest, mut depth) = (text, 1_u32);
    while let Some(at) = rest.find(['*', '/']) {
        rest = &rest[at..];
        if rest.starts_with("*/") {
            depth -= 1;
            if depth == 0 {
                return &rest[2..];
            }
            rest = &rest[2..];
        } else if rest.starts_with("/*") && depth == 1 {
            depth = 2;
            rest = &rest[2..];
        } else {
            rest = &rest[1..];
        }
    }
    ""
}

/// Length of the start of a comment that may be executed, with the version from which on it is.
fn executed_header(rest: &str) -> Option<usize> {
    let start = match rest {
        _ if rest.starts_with("/*M!") => 4,
        _ if rest.starts_with("/*!") => 3,
        _ => return None,
    };
    let digits = rest[start..].bytes().take(6);
    let digits = digits.take_while(u8::is_ascii_digit).count();
    // Five digits or six are a version.
    Some(start + if digits >= 5 { digits } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_marks_in_strings_names_and_comments_are_none() {
        for (sql, pieces) in [
            (
                "SELECT '?', `a?` FROM t WHERE b=? AND c='it''s ?' AND d=?",
                vec![
                    "SELECT '?', `a?` FROM t WHERE b=",
                    " AND c='it''s ?' AND d=",
                    "",
                ],
            ),
            (
                "SELECT /* what's hot? */ a FROM t WHERE b = ? -- is it there?",
                vec![
                    "SELECT /* what's hot? */ a FROM t WHERE b = ",
                    " -- is it there?",
                ],
            ),
            ("SELECT 1 # ?\n, ?", vec!["SELECT 1 # ?\n, ", ""]),
            (r"SELECT 'it\'s ?', ?", vec![r"SELECT 'it\'s ?', ", ""]),
            ("SELECT 3--?", vec!["SELECT 3--", ""]),
            (
                "SELECT /*+ NO_ICP(t) ? */ ?",
                vec!["SELECT /*+ NO_ICP(t) ? */ ", ""],
            ),
            ("SELECT \"?\" + ?; -- done?", vec!["SELECT \"?\" + ", ""]),
        ] {
            assert_eq!(StatementText::read(sql).pieces(), pieces, "{sql}");
        }
    }

    /// Parameters in each way that a server may read it.
    fn parameters(sql: &str) -> Vec<usize> {
        let readings = StatementText::readings(sql);
        readings.iter().map(StatementText::parameters).collect()
    }

    #[test]
    fn what_depends_on_the_server_has_several_readings() {
        assert_eq!(parameters(r"SELECT '\' + ? + \' '"), [0, 1]);
        assert_eq!(parameters(r#"SELECT "\" + ? + \" ""#), [0, 1]);
        assert_eq!(parameters("SELECT /*! ? */ 1"), [1, 0]);
        assert_eq!(parameters("SELECT /*M!110000 ?, */ ?"), [2, 1]);
        assert_eq!(parameters("SELECT /*!99999 'a*/', /* b */ 2 */, ?"), [1]);
        assert_eq!(parameters(r"SELECT 'it\'s', ?"), [1]);
        assert_eq!(parameters("SELECT '?' /* ? */, ? -- ?"), [1]);
    }

    #[test]
    fn comments_that_are_executed_are_sent_as_they_are() {
        let sql = "SELECT /*!80000 SQL_NO_CACHE */ 1 /* a */ /*M! + 2 */";
        for dialect in Dialect::possible() {
            assert_eq!(StatementText::read_in(sql, dialect).as_str(), sql);
        }
    }

    #[test]
    fn transactions_are_opened_in_every_spelling() {
        for (sql, opens) in [
            ("BEGIN", true),
            ("BEGIN;", true),
            ("/* a */ begin work -- b", true),
            ("START\n  TRANSACTION;", true),
            ("start transaction read only", true),
            ("START/**/TRANSACTION WITH CONSISTENT SNAPSHOT", true),
            ("/*!50000 BEGIN */", true),
            ("# a\nBEGIN", true),
            ("SET autocommit=0;", true),
            ("SET @@SESSION.autocommit = OFF", true),
            ("SET autocommit = 1", false),
            ("BEGIN NOT ATOMIC SELECT 1; END", false),
            ("COMMIT", false),
            ("SELECT 1", false),
            ("START REPLICA", false),
            ("-- BEGIN", false),
        ] {
            assert_eq!(StatementText::read(sql).opens_transaction(), opens, "{sql}");
        }
        assert_eq!(
            StatementText::read(" (SELECT 1) ").first_words(),
            ["SELECT", "1"]
        );
    }

    #[test]
    fn only_the_semicolon_at_the_end_goes() {
        for (sql, text) in [
            ("COMMIT ; ", "COMMIT"),
            ("SELECT ';' ;;-- x", "SELECT ';'"),
            ("SELECT 1; SELECT 2", "SELECT 1; SELECT 2"),
            ("", ""),
        ] {
            assert_eq!(StatementText::read(sql).as_str(), text, "{sql}");
        }
    }

    #[test]
    fn what_does_not_end_ends_with_the_text() {
        for sql in ["'?", "/*! ?", "/*!99999 a /* b", "/*?", "é'?", "--", "*/"] {
            for dialect in Dialect::possible() {
                let _ = StatementText::read_in(sql, dialect);
            }
        }
    }
}

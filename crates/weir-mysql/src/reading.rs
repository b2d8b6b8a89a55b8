//! The text of a statement as a server reads it: which comments it executes, where strings end, which
//! question marks are parameters.
//!
//! MySQL manual, "Comments", "Server SQL Modes"; MariaDB Knowledge Base, "Comment Syntax".

use weir_model::ServerVersion;

use crate::gate::{Quoting, Token, next_token};

/// How a server reads the text of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    quoting: Quoting,
    comments: Comments,
}

/// Which comments that look executable are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comments {
    All,
    None,
    OfMysql(u32),
    OfMariadb(u32),
}

impl Default for Dialect {
    /// The usual `sql_mode` of a server that executes every comment of a version.
    fn default() -> Self {
        Self {
            quoting: Quoting::USUAL,
            comments: Comments::All,
        }
    }
}

impl Dialect {
    /// That of a server by its `@@sql_mode` and `@@version`.
    pub fn new(sql_mode: &str, version: &str) -> Self {
        let has = |mode: &str| {
            let mut modes = sql_mode.split(',');
            modes.any(|name| name.trim().eq_ignore_ascii_case(mode))
        };
        // What MariaDB puts before its version for old replicas.
        let number = version.strip_prefix("5.5.5-").unwrap_or(version);
        let number = number.parse::<ServerVersion>();
        let number = number.map(|version| {
            version.major * 10_000 + version.minor.min(99) * 100 + version.patch.min(99)
        });
        let comments = match number {
            Ok(number) if version.contains("MariaDB") => Comments::OfMariadb(number),
            Ok(number) => Comments::OfMysql(number),
            Err(_) => Comments::All,
        };
        Self {
            quoting: Quoting {
                has_escapes: !has("NO_BACKSLASH_ESCAPES"),
                has_double_names: has("ANSI_QUOTES"),
            },
            comments,
        }
    }

    /// All that read some statement otherwise, as far as one can know without a server.
    pub fn possible() -> impl Iterator<Item = Self> {
        let comments = [Comments::All, Comments::None];
        comments.into_iter().flat_map(|comments| {
            let quotings = Quoting::ALL.into_iter();
            quotings.map(move |quoting| Self { quoting, comments })
        })
    }

    fn executes(self, is_of_mariadb: bool, number: Option<u32>) -> bool {
        match self.comments {
            Comments::All => true,
            Comments::None => false,
            Comments::OfMysql(own) => !is_of_mariadb && number.is_none_or(|number| number <= own),
            Comments::OfMariadb(own) => number.is_none_or(|number| {
                // Versions of MySQL that MariaDB never was.
                number <= own && (is_of_mariadb || !(50_700..=99_999).contains(&number))
            }),
        }
    }
}

/// A statement as a server reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementText {
    text: String,
    /// Where the question marks of parameters stand in `text`.
    marks: Vec<usize>,
}

impl StatementText {
    /// Reads `sql`: without the semicolon at its end, with the text of comments that the server executes in
    /// place of these. Other comments and hints stay where they are.
    pub fn read(sql: &str, dialect: Dialect) -> Self {
        let mut reader = Reader {
            dialect,
            rest: sql.trim(),
            text: String::with_capacity(sql.len()),
            marks: Vec::new(),
            end: None,
            is_in_comment: false,
        };
        while let Some(first) = reader.rest.chars().next() {
            reader.step(first);
        }
        reader.finish()
    }

    /// What is sent.
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

    /// Whether it opens a transaction: `BEGIN`, `START TRANSACTION`, or by `SET autocommit = 0`.
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
            let value = match (by, value) {
                (Token::Sign('='), value) => value,
                _ => return false,
            };
            is_autocommit(name) && value.is_any(&["0", "OFF", "FALSE"])
        })
    }

    fn tokens(&self) -> Vec<Token<'_>> {
        let mut rest = self.text.as_str();
        let mut tokens = Vec::new();
        while let Some(first) = rest.chars().next() {
            let (token, length) = next_token(rest, first, Quoting::USUAL);
            tokens.extend(token);
            rest = &rest[length..];
        }
        tokens
    }
}

struct Reader<'a> {
    dialect: Dialect,
    rest: &'a str,
    text: String,
    marks: Vec<usize>,
    /// Where a semicolon stands after which nothing has come yet.
    end: Option<usize>,
    is_in_comment: bool,
}

impl Reader<'_> {
    fn step(&mut self, first: char) {
        if let Some(header) = Header::of(self.rest) {
            return self.comment(header);
        }
        if self.is_in_comment && self.rest.starts_with("*/") {
            self.is_in_comment = false;
            self.text.push(' ');
            self.rest = &self.rest[2..];
            return;
        }
        let (token, length) = next_token(self.rest, first, self.dialect.quoting);
        match token {
            Some(Token::Sign(';')) if self.end.is_none() => self.end = Some(self.text.len()),
            Some(Token::Sign(sign)) => {
                if sign == '?' {
                    self.marks.push(self.text.len());
                }
                self.end = None;
            }
            Some(_) => self.end = None,
            None => {}
        }
        self.text.push_str(&self.rest[..length]);
        self.rest = &self.rest[length..];
    }

    /// A comment that may be executed is its text or nothing.
    fn comment(&mut self, header: Header) {
        self.text.push(' ');
        if self.dialect.executes(header.is_of_mariadb, header.number) {
            self.is_in_comment = true;
            self.rest = &self.rest[header.length..];
        } else {
            self.rest = after_comment(&self.rest[header.length..]);
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
            marks: self.marks,
        }
    }
}

/// What stands after a comment that is passed over; another one may stand within it.
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

/// The start of a comment that may be executed.
struct Header {
    is_of_mariadb: bool,
    /// The version from which on it is.
    number: Option<u32>,
    length: usize,
}

impl Header {
    fn of(rest: &str) -> Option<Self> {
        let is_of_mariadb = rest.starts_with("/*M!");
        if !is_of_mariadb && !rest.starts_with("/*!") {
            return None;
        }
        let start = if is_of_mariadb { 4 } else { 3 };
        let digits = rest[start..].bytes().take(6);
        let digits = digits.take_while(u8::is_ascii_digit).count();
        // Five digits or six are a version.
        let digits = if digits >= 5 { digits } else { 0 };
        Some(Self {
            is_of_mariadb,
            number: rest[start..start + digits].parse().ok(),
            length: start + digits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str) -> StatementText {
        StatementText::read(sql, Dialect::default())
    }

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
            assert_eq!(read(sql).pieces(), pieces, "{sql}");
        }
    }

    #[test]
    fn a_backslash_is_what_sql_mode_says() {
        let sql = r"SELECT '\', ?, '";
        let parameters = |mode| StatementText::read(sql, Dialect::new(mode, "9.7.0")).parameters();
        assert_eq!(parameters("STRICT_TRANS_TABLES"), 0);
        assert_eq!(parameters("ANSI_QUOTES,NO_BACKSLASH_ESCAPES"), 1);
        let name = r#"SELECT "a\", ?, ""#;
        let of = |mode| StatementText::read(name, Dialect::new(mode, "9.7.0")).parameters();
        assert_eq!((of(""), of("ANSI_QUOTES")), (0, 1));
    }

    #[test]
    fn a_comment_of_a_version_is_executed_by_those_that_do() {
        let text = |sql: &str, version| {
            let text = StatementText::read(sql, Dialect::new("", version));
            text.as_str()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let (mysql, old, mariadb) = ("9.7.4", "5.7.44-log", "5.5.5-10.11.6-MariaDB");
        let sql = "SELECT /*!80000 SQL_NO_CACHE */ 1 /* a */ /*M! + ? */";
        assert_eq!(text(sql, mysql), "SELECT SQL_NO_CACHE 1 /* a */");
        assert_eq!(text(sql, old), "SELECT 1 /* a */");
        assert_eq!(text(sql, mariadb), "SELECT 1 /* a */ + ?");
        let sql = "SELECT /*! ? */, /*!50100 'a*/', */ /*!110000 /* b */ 2, */ 3";
        assert_eq!(text(sql, mysql), "SELECT ? , 'a*/', 3");
        assert_eq!(text(sql, mariadb), "SELECT ? , 'a*/', 3");
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
            assert_eq!(read(sql).opens_transaction(), opens, "{sql}");
        }
        assert_eq!(read(" (SELECT 1) ").first_words(), ["SELECT", "1"]);
    }

    #[test]
    fn only_the_semicolon_at_the_end_goes() {
        for (sql, text) in [
            ("COMMIT ; ", "COMMIT"),
            ("SELECT ';' ;;-- x", "SELECT ';'"),
            ("SELECT 1; SELECT 2", "SELECT 1; SELECT 2"),
            ("", ""),
        ] {
            assert_eq!(read(sql).as_str(), text, "{sql}");
        }
    }

    #[test]
    fn what_does_not_end_ends_with_the_text() {
        for sql in ["'?", "/*! ?", "/*!99999 a /* b", "/*?", "é'?", "--", "*/"] {
            for dialect in Dialect::possible() {
                let _ = StatementText::read(sql, dialect);
            }
        }
    }
}

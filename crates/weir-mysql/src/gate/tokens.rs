//! A statement in its words, as far as a server would read them.
//!
//! Strings and comments are passed over as the server does (MySQL manual, "Comments", "String
//! Literals"). A comment that the server executes cannot be passed over; it is marked. Where a string ends depends on
//! `sql_mode`.

use std::ops::Range;

use crate::sql_scan::{Quoting, SqlScan, SqlTokenKind, is_number};

/// A word, a quoted name or a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A keyword, a name or a number.
    Word(&'a str),
    /// A name in backquotes, without them. One with a backquote inside is kept as it stands.
    Quoted(&'a str),
    /// Text in double quotes, without them: a string, or with `ANSI_QUOTES` a name.
    Double(&'a str),
    /// A string, without its quotes.
    Text(&'a str),
    /// Any other character.
    Sign(char),
    /// A comment whose text the server executes, `/*!80000 ... */`, or whose end cannot be told.
    Executed,
    /// A quote that does not close: the server refuses the statement.
    Unfinished,
}

impl<'a> Token<'a> {
    /// Returns true if it is this keyword, which is given in capitals.
    pub(crate) fn is(self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// Returns true if it is one of these keywords, which are given in capitals.
    pub(crate) fn is_any(self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.is(keyword))
    }

    /// The name, if it can be one.
    pub(crate) fn name(self) -> Option<&'a str> {
        match self {
            Self::Word(name) | Self::Quoted(name) | Self::Double(name) => Some(name),
            _ => None,
        }
    }

    /// True of a number, if it is no name behind a point.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Word(word) if is_number(word.as_bytes()))
    }
}

/// All tokens of a statement, in the usual mode.
#[cfg(test)]
pub(super) fn tokens(sql: &str) -> Vec<Token<'_>> {
    tokens_in(sql, Quoting::USUAL)
}

/// All tokens of a statement.
pub(crate) fn tokens_in(sql: &str, quoting: Quoting) -> Vec<Token<'_>> {
    placed_tokens(sql, quoting)
        .map(|(token, _)| token)
        .collect()
}

/// All tokens of a statement, each with the bytes that it takes.
pub(crate) fn placed_tokens(
    sql: &str,
    quoting: Quoting,
) -> impl Iterator<Item = (Token<'_>, Range<usize>)> {
    let mut scan = SqlScan::new(sql.as_bytes(), quoting);
    std::iter::from_fn(move || {
        loop {
            let (token, place) = next(sql, &mut scan)?;
            if let Some(token) = token {
                return Some((token, place));
            }
        }
    })
}

/// The tokens of a statement in each way that a server may read it.
pub(super) fn readings(sql: &str) -> Vec<Vec<Token<'_>>> {
    let modes = if sql.contains('\\') {
        &Quoting::ALL[..]
    } else {
        &Quoting::ALL[..1]
    };
    let modes = modes.iter();
    let mut readings: Vec<_> = modes.map(|quoting| tokens_in(sql, *quoting)).collect();
    readings.dedup();
    readings
}

/// The token at the start of `rest`, if one stands there, and its length in bytes, or that of the blanks or the comment.
pub(crate) fn next_token(rest: &str, quoting: Quoting) -> (Option<Token<'_>>, usize) {
    match next(rest, &mut SqlScan::new(rest.as_bytes(), quoting)) {
        None => (None, rest.len()),
        Some((token, place)) if place.start == 0 => (token, place.end),
        Some((_, place)) => (None, place.start),
    }
}

/// The next token, or `None` for a comment, with the bytes that it takes.
fn next<'a>(sql: &'a str, scan: &mut SqlScan<'_>) -> Option<(Option<Token<'a>>, Range<usize>)> {
    let found = scan.next()?;
    let text = &sql[found.start..found.end];
    let inner = || &text[1..text.len() - 1];
    let token = match found.kind {
        SqlTokenKind::Word | SqlTokenKind::Number => Some(Token::Word(text)),
        SqlTokenKind::Name => Some(Token::Quoted(inner())),
        SqlTokenKind::Text if text.starts_with('"') => Some(Token::Double(inner())),
        SqlTokenKind::Text => Some(Token::Text(inner())),
        SqlTokenKind::Sign => text.chars().next().map(Token::Sign),
        SqlTokenKind::Executed => {
            scan.skip_executed();
            Some(Token::Executed)
        }
        SqlTokenKind::Unfinished if !text.starts_with("/*") => Some(Token::Unfinished),
        SqlTokenKind::Hint | SqlTokenKind::Unfinished => {
            is_read_hint(text).then_some(Token::Executed)
        }
        SqlTokenKind::Comment => None,
    };
    Some((token, found.start..scan.offset()))
}

/// Returns true for a hint with a quote, in which the comment may not end yet.
fn is_read_hint(comment: &str) -> bool {
    let quotes = ['\'', '"', '`'].map(|quote| comment.matches(quote).count());
    let has_open = quotes.iter().any(|count| count % 2 == 1);
    let has_several = quotes.iter().filter(|count| **count > 0).count() > 1;
    comment.starts_with("/*+") && (has_open || has_several || comment.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::Token::{Double, Executed, Quoted, Sign, Text, Unfinished, Word};
    use super::*;

    #[test]
    fn strings_and_comments_hide_what_looks_like_words() {
        let sql = "SELECT 'it''s; -- x' /* DROP */ , `a``b`.c -- DROP\n# DROP\n FROM t--1 \"n\"";
        assert_eq!(
            tokens(sql),
            [
                Word("SELECT"),
                Text("it''s; -- x"),
                Sign(','),
                Quoted("a``b"),
                Sign('.'),
                Word("c"),
                Word("FROM"),
                Word("t"),
                Sign('-'),
                Sign('-'),
                Word("1"),
                Double("n"),
            ]
        );
        assert_eq!(tokens("SELECT /*!80000 1 */ 2")[1], Executed);
        assert_eq!(tokens("SELECT /*M!100100 1 */ 2")[1], Executed);
        assert_eq!(tokens("/*/ SELECT */ 1"), [Word("1")]);
        assert_eq!(tokens("/*+ INDEX(t `k`) */ 1"), [Word("1")]);
        assert_eq!(tokens("/*+ SET_VAR(a='*/ 1 # ') */ f()")[0], Executed);
        assert_eq!(tokens("/*+ SET_VAR(a=\"'\") */ 1")[0], Executed);
    }

    #[test]
    fn a_string_whose_end_depends_on_the_mode_has_several_readings() {
        for sql in [r"'a\', b = '", r#""a\" + 1""#, r"'\' + 1", r"'it\'s'"] {
            assert!(readings(sql).len() > 1, "{sql}");
        }
        for sql in [r"'a\\'", r"'a\nb'", r#""\\""#, r"`a\`"] {
            assert_eq!(readings(sql).len(), 1, "{sql}");
        }
        let [usual, _, plain] = Quoting::ALL;
        assert_eq!(tokens_in(r"'it\'s'", usual), [Text(r"it\'s")]);
        assert_eq!(
            tokens_in(r"'it\'s'", plain),
            [Text(r"it\"), Word("s"), Unfinished]
        );
    }

    #[test]
    fn a_number_ends_where_the_server_ends_it() {
        for (sql, words) in [
            ("1e3INTO", &["1e3", "INTO"][..]),
            ("1E3INTO", &["1E3", "INTO"]),
            ("1e-3INTO", &["1e-3", "INTO"]),
            ("1E+3INTO", &["1E+3", "INTO"]),
            ("1e-INTO", &["1e", "-", "INTO"]),
            ("1INTO", &["1INTO"]),
            ("1eINTO", &["1eINTO"]),
            ("0x41INTO", &["0x41INTO"]),
            ("1.5INTO", &["1.5", "INTO"]),
            ("1.INTO", &["1.", "INTO"]),
            ("1.e3INTO", &["1.e3", "INTO"]),
            ("1.5e-3INTO", &["1.5e-3", "INTO"]),
            (".5INTO", &[".5", "INTO"]),
            ("1.5.5INTO", &["1.5", ".5", "INTO"]),
        ] {
            let words = words.iter().map(|word| match *word {
                "-" => Sign('-'),
                word => Word(word),
            });
            assert_eq!(tokens(sql), words.collect::<Vec<_>>(), "{sql}");
        }
        // Behind a point that separates names, everything is a name.
        assert_eq!(tokens("t.1e3INTO"), [Word("t"), Sign('.'), Word("1e3INTO")]);
        assert_eq!(tokens("t.5"), [Word("t"), Sign('.'), Word("5")]);
        // That is so right behind a name without quotes only.
        assert_eq!(tokens("t .5x"), [Word("t"), Word(".5"), Word("x")]);
        assert_eq!(tokens("`t`.5x"), [Quoted("t"), Word(".5"), Word("x")]);
        assert_eq!(tokens("1-2"), [Word("1"), Sign('-'), Word("2")]);
    }

    #[test]
    fn only_what_servers_take_for_blanks_is_one() {
        // A no-break space is a letter to them, and begins no comment after two dashes.
        assert_eq!(tokens("a\u{a0}b c"), [Word("a\u{a0}b"), Word("c")]);
        let after = tokens("--\u{a0}x");
        assert_eq!(after, [Sign('-'), Sign('-'), Word("\u{a0}x")]);
        assert_eq!(tokens("--\x01x\ny"), [Word("y")]);
    }

    #[test]
    fn what_does_not_end_ends_with_the_text() {
        for sql in [
            "SELECT 'x",
            "SELECT \"x\\",
            "SELECT `x",
            "/* x",
            "/*/",
            "--",
            "é'",
            "'",
            "\"",
        ] {
            let _ = tokens(sql);
        }
    }
}

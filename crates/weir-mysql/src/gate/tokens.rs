//! A statement in its words, as far as a server would read them.
//!
//! Strings and comments are passed over as the server does (MySQL manual, "Comments", "String
//! Literals"). A comment that the server executes cannot be passed over; it is told.

/// A word, a quoted name or a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A keyword, a name or a number.
    Word(&'a str),
    /// A name in backquotes, without them. One with a backquote inside is told as it stands.
    Quoted(&'a str),
    /// A string, which may be a name with `ANSI_QUOTES`.
    Text,
    /// Any other character.
    Sign(char),
    /// A comment whose text the server executes: `/*!80000 ... */`.
    Executed,
}

impl<'a> Token<'a> {
    /// Whether it is this keyword, which is given in capitals.
    pub(super) fn is(self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// The name, if it can be one.
    pub(super) fn name(self) -> Option<&'a str> {
        match self {
            Self::Word(name) | Self::Quoted(name) => Some(name),
            _ => None,
        }
    }
}

/// All tokens of a statement.
pub(super) fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut rest = sql;
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, length) = next(rest, first);
        tokens.extend(token);
        rest = &rest[length..];
    }
    tokens
}

/// The token at the start of `rest`, if that is one, and its length in bytes.
fn next(rest: &str, first: char) -> (Option<Token<'_>>, usize) {
    let line_end = || rest.find('\n').unwrap_or(rest.len());
    match first {
        c if c.is_whitespace() => (None, c.len_utf8()),
        '#' => (None, line_end()),
        '-' if is_dash_comment(rest) => (None, line_end()),
        '/' if rest.starts_with("/*") => {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            let is_executed = rest.starts_with("/*!") || rest.starts_with("/*M!");
            (is_executed.then_some(Token::Executed), end)
        }
        '\'' | '"' => (Some(Token::Text), quoted_length(rest, first, true)),
        '`' => {
            let length = quoted_length(rest, '`', false);
            let inner = rest[1..length]
                .strip_suffix('`')
                .unwrap_or(&rest[1..length]);
            (Some(Token::Quoted(inner)), length)
        }
        c if is_word(c) => {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            (Some(Token::Word(&rest[..end])), end)
        }
        c => (Some(Token::Sign(c)), c.len_utf8()),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '@')
}

/// `--` begins a comment only before a blank or the end.
fn is_dash_comment(rest: &str) -> bool {
    let after = rest.strip_prefix("--").map(|after| after.chars().next());
    after.is_some_and(|c| c.is_none_or(char::is_whitespace))
}

/// Bytes up to and with the closing quote, which is doubled or escaped where it does not close.
fn quoted_length(text: &str, quote: char, has_escapes: bool) -> usize {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if c == '\\' && has_escapes {
            characters.next();
        } else if c == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::Token::{Executed, Quoted, Sign, Text, Word};
    use super::*;

    #[test]
    fn strings_and_comments_hide_what_looks_like_words() {
        let sql = "SELECT 'it''s; \\' -- x' /* DROP */ , `a``b`.c -- DROP\n# DROP\n FROM t--1";
        assert_eq!(
            tokens(sql),
            [
                Word("SELECT"),
                Text,
                Sign(','),
                Quoted("a``b"),
                Sign('.'),
                Word("c"),
                Word("FROM"),
                Word("t"),
                Sign('-'),
                Sign('-'),
                Word("1")
            ]
        );
        assert_eq!(tokens("SELECT /*!80000 1 */ 2")[1], Executed);
        assert_eq!(tokens("SELECT /*M!100100 1 */ 2")[1], Executed);
    }

    #[test]
    fn what_does_not_end_ends_with_the_text() {
        for sql in ["SELECT 'x", "SELECT \"x\\", "SELECT `x", "/* x", "--", "é'"] {
            let _ = tokens(sql);
        }
    }
}

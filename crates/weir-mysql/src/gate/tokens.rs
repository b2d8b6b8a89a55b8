//! A statement in its words, as far as a server would read them.
//!
//! Strings and comments are passed over as the server does (MySQL manual, "Comments", "String
//! Literals"). A comment that the server executes cannot be passed over; it is marked. Where a string ends depends on
//! `sql_mode`.

use std::ops::Range;

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
        matches!(self, Self::Word(word) if number_length(word, Before::Other) == word.len())
    }
}

/// Reading of quotes by a server, which its `sql_mode` decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoting {
    /// A backslash escapes in strings: no `NO_BACKSLASH_ESCAPES`.
    pub(crate) has_escapes: bool,
    /// Double quotes are those of names: `ANSI_QUOTES`.
    pub(crate) has_double_names: bool,
}

impl Quoting {
    /// All that differ in where something quoted ends; a server's usual one first.
    pub(crate) const ALL: [Self; 3] = [
        Self::USUAL,
        Self {
            has_escapes: true,
            has_double_names: true,
        },
        Self {
            has_escapes: false,
            has_double_names: false,
        },
    ];
    /// Quoting of modes that do not set it.
    pub(crate) const USUAL: Self = Self {
        has_escapes: true,
        has_double_names: false,
    };

    fn escapes_in(self, quote: char) -> bool {
        match quote {
            '\'' => self.has_escapes,
            '"' => self.has_escapes && !self.has_double_names,
            _ => false,
        }
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
    let (mut at, mut before) = (0, Before::Other);
    std::iter::from_fn(move || {
        loop {
            let first = sql[at..].chars().next()?;
            let (token, length) = next(&sql[at..], first, before, quoting);
            let place = at..at + length;
            before = match token {
                Some(word @ Token::Word(_)) if before == Before::Separator || !word.is_number() => {
                    Before::Name
                }
                Some(Token::Sign('.')) if before == Before::Name => Before::Separator,
                _ => Before::Other,
            };
            at = place.end;
            if let Some(token) = token {
                return Some((token, place));
            }
        }
    })
}

/// The kind of text right before a token, which decides whether digits begin a name or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A name without quotes: a point behind it separates names.
    Name,
    /// The point of a qualified name: a name follows, whatever it begins with.
    Separator,
    /// Anything else, or a blank.
    Other,
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

/// The token at the start of `rest`, which begins with `first`, if that is one, and its length in bytes; for those who
/// look for signs and quotes, to whom numbers are words.
pub(crate) fn next_token(rest: &str, first: char, quoting: Quoting) -> (Option<Token<'_>>, usize) {
    next(rest, first, Before::Separator, quoting)
}

fn next(rest: &str, first: char, before: Before, quoting: Quoting) -> (Option<Token<'_>>, usize) {
    let line_end = || rest.find('\n').unwrap_or(rest.len());
    let number = match before {
        Before::Separator => 0,
        Before::Name | Before::Other => number_length(rest, before),
    };
    match first {
        _ if number > 0 => (Some(Token::Word(&rest[..number])), number),
        c if is_space(c) => (None, 1),
        '#' => (None, line_end()),
        '-' if is_dash_comment(rest) => (None, line_end()),
        '/' if rest.starts_with("/*") => {
            let end = rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
            (is_read(&rest[..end]).then_some(Token::Executed), end)
        }
        '\'' | '"' | '`' => quoted(rest, first, quoting),
        c if is_word(c) => {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            (Some(Token::Word(&rest[..end])), end)
        }
        c => (Some(Token::Sign(c)), c.len_utf8()),
    }
}

/// Bytes of the number at the start of `text`; 0 if it begins with none. Digits with letters behind them are a name,
/// but not behind a point or an exponent: `1e3INTO` is a number and a word, `1INTO` is one name
/// (observed on both servers).
fn number_length(text: &str, before: Before) -> usize {
    let digits = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let at = |at: usize| text.as_bytes().get(at).copied().unwrap_or(b' ');
    let whole = digits(0);
    if at(whole) == b'.' && (whole > 0 || before != Before::Name && digits(1) > 0) {
        let end = whole + 1 + digits(whole + 1);
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        let exponent = digits(end + 1 + sign);
        return match at(end) {
            b'e' | b'E' if exponent > 0 => end + 1 + sign + exponent,
            _ => end,
        };
    }
    if whole > 0 && matches!(at(whole), b'e' | b'E') && digits(whole + 1) > 0 {
        return whole + 1 + digits(whole + 1);
    }
    let is_name = text[whole..].starts_with(is_word);
    if is_name { 0 } else { whole }
}

/// The server reads what stands in a comment: it executes it, or it is a hint with a quote in which the
/// comment may not end yet.
fn is_read(comment: &str) -> bool {
    if comment.starts_with("/*!") || comment.starts_with("/*M!") {
        return true;
    }
    let quotes = ['\'', '"', '`'].map(|quote| comment.matches(quote).count());
    let has_open = quotes.iter().any(|count| count % 2 == 1);
    let has_several = quotes.iter().filter(|count| **count > 0).count() > 1;
    comment.starts_with("/*+") && (has_open || has_several || comment.contains('\\'))
}

/// Reads a text in quotes.
fn quoted(rest: &str, quote: char, quoting: Quoting) -> (Option<Token<'_>>, usize) {
    let Some(length) = quoted_length(rest, quote, quoting.escapes_in(quote)) else {
        return (Some(Token::Unfinished), rest.len());
    };
    let inner = &rest[1..length - 1];
    let token = match quote {
        '`' => Token::Quoted(inner),
        '"' => Token::Double(inner),
        _ => Token::Text(inner),
    };
    (Some(token), length)
}

/// Returns true for the servers' blanks; all that is not ASCII may be part of a name.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '@') || !c.is_ascii()
}

/// `--` begins a comment only before a blank, a control character or the end.
fn is_dash_comment(rest: &str) -> bool {
    let after = rest.strip_prefix("--").map(|after| after.chars().next());
    after.is_some_and(|c| c.is_none_or(|c| c == ' ' || c.is_ascii_control()))
}

/// Bytes up to and with the closing quote, which is doubled or escaped where it does not close; `None` if
/// nothing closes.
fn quoted_length(text: &str, quote: char, has_escapes: bool) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if c == '\\' && has_escapes {
            characters.next();
        } else if c == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return Some(at + quote.len_utf8());
        }
    }
    None
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
            let words: Vec<_> = words.iter().map(|word| Word(word)).collect();
            assert_eq!(tokens(sql), words, "{sql}");
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

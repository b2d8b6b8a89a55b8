//! The words of a statement, found in its bytes. Every encoding in which a byte below 0x80 is ASCII is read; where a
//! string ends is read as with the servers' usual `sql_mode`, or without escapes.

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A keyword or a name.
    Word,
    /// A number: a literal.
    Number,
    /// A literal in single or double quotes.
    Text,
    /// A name in backquotes.
    Name,
    /// A comment that no server reads.
    Comment,
    /// A hint to the optimizer, whole.
    Hint,
    /// The beginning of a comment whose text the server executes, or its end.
    Executed,
    /// Any other character.
    Sign,
    /// A quote or a comment that does not close, to the end.
    Unfinished,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn text<'a>(&self, sql: &'a [u8]) -> &'a [u8] {
        &sql[self.start..self.end]
    }

    /// Returns true if it is a part of the statement: no comment and no hint.
    pub(crate) fn is_read(&self) -> bool {
        !matches!(self.kind, Kind::Comment | Kind::Hint | Kind::Executed)
    }

    /// Returns true if it is this keyword, which is given in capitals.
    pub(crate) fn is(&self, sql: &[u8], keyword: &str) -> bool {
        self.kind == Kind::Word && self.text(sql).eq_ignore_ascii_case(keyword.as_bytes())
    }
}

/// The tokens of a statement.
pub(crate) struct Scan<'a> {
    sql: &'a [u8],
    at: usize,
    has_escapes: bool,
    /// Within a comment that the server executes.
    is_executed: bool,
}

impl<'a> Scan<'a> {
    /// `has_escapes`: a backslash escapes in strings, as without `NO_BACKSLASH_ESCAPES`.
    pub(crate) fn new(sql: &'a [u8], has_escapes: bool) -> Self {
        Self {
            sql,
            at: 0,
            has_escapes,
            is_executed: false,
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.sql[self.at..]
    }

    fn token(&mut self) -> Option<(Kind, usize)> {
        let rest = self.rest();
        let &first = rest.first()?;
        Some(match first {
            b'#' => (Kind::Comment, line(rest)),
            b'-' if is_dash_comment(rest) => (Kind::Comment, line(rest)),
            b'/' if rest.starts_with(b"/*") => self.comment(rest),
            b'*' if self.is_executed && rest.starts_with(b"*/") => {
                self.is_executed = false;
                (Kind::Executed, 2)
            }
            b'\'' | b'"' | b'`' => self.quoted(rest, first),
            b'0'..=b'9' => number_or_word(rest),
            b'.' if self.begins_fraction(rest) => (Kind::Number, 1 + digits(&rest[1..])),
            c if is_word(c) => (Kind::Word, word(rest)),
            _ => (Kind::Sign, 1),
        })
    }

    /// Returns true if a point begins a number: no name stands before it.
    fn begins_fraction(&self, rest: &[u8]) -> bool {
        let before = self.at.checked_sub(1).map(|at| self.sql[at]);
        let is_after_name = before.is_some_and(|c| is_word(c) || matches!(c, b'`' | b'"'));
        !is_after_name && rest.get(1).is_some_and(u8::is_ascii_digit)
    }

    fn comment(&mut self, rest: &[u8]) -> (Kind, usize) {
        let marker = [&b"/*!"[..], b"/*M!"]
            .into_iter()
            .find(|marker| rest.starts_with(marker));
        if let Some(marker) = marker {
            self.is_executed = true;
            let version = &rest[marker.len()..];
            return (Kind::Executed, marker.len() + digits(version));
        }
        let kind = if rest.starts_with(b"/*+") {
            Kind::Hint
        } else {
            Kind::Comment
        };
        match rest[2..].windows(2).position(|pair| pair == b"*/") {
            Some(at) => (kind, at + 4),
            None => (Kind::Unfinished, rest.len()),
        }
    }

    fn quoted(&self, rest: &[u8], quote: u8) -> (Kind, usize) {
        let escapes = self.has_escapes && quote != b'`';
        let mut at = 1;
        while let Some(&c) = rest.get(at) {
            let is_doubled = c == quote && rest.get(at + 1) == Some(&quote);
            if is_doubled || c == b'\\' && escapes {
                at += 2;
            } else if c == quote {
                let kind = if quote == b'`' {
                    Kind::Name
                } else {
                    Kind::Text
                };
                return (kind, at + 1);
            } else {
                at += 1;
            }
        }
        (Kind::Unfinished, rest.len())
    }
}

impl Iterator for Scan<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        while self.rest().first().is_some_and(|c| is_space(*c)) {
            self.at += 1;
        }
        let start = self.at;
        let (kind, length) = self.token()?;
        self.at = (start + length).min(self.sql.len());
        Some(Token {
            kind,
            start,
            end: self.at,
        })
    }
}

/// Returns true if a statement ends within a string, a comment or a parenthesis: it was cut where it was written down.
pub(crate) fn is_cut(sql: &[u8]) -> bool {
    let mut depth = 0_i64;
    for token in Scan::new(sql, true) {
        match (token.kind, token.text(sql)) {
            (Kind::Unfinished, _) => return true,
            (Kind::Sign, b"(") => depth += 1,
            (Kind::Sign, b")") => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}

/// A number, or a name that begins with a digit.
fn number_or_word(rest: &[u8]) -> (Kind, usize) {
    let length = word(rest);
    let (first, all) = (digits(rest), &rest[..length]);
    let is_prefixed = |prefix: &[u8], is_digit: fn(&u8) -> bool| {
        all.len() > 2 && all[..2].eq_ignore_ascii_case(prefix) && all[2..].iter().all(is_digit)
    };
    if is_prefixed(b"0x", u8::is_ascii_hexdigit) || is_prefixed(b"0b", |c| matches!(c, b'0' | b'1'))
    {
        return (Kind::Number, length);
    }
    let mut end = first;
    if rest.get(end) == Some(&b'.') {
        end += 1 + digits(&rest[end + 1..]);
    }
    if let Some(exponent) = exponent(&rest[end..]) {
        return (Kind::Number, end + exponent);
    }
    if end > first || first == length {
        return (Kind::Number, end);
    }
    (Kind::Word, length)
}

/// Bytes of an exponent that ends a number.
fn exponent(rest: &[u8]) -> Option<usize> {
    let [b'e' | b'E', after @ ..] = rest else {
        return None;
    };
    let sign = usize::from(matches!(after.first(), Some(b'+' | b'-')));
    let length = digits(&after[sign..]);
    let ends = after.get(sign + length).is_none_or(|c| !is_word(*c));
    (length > 0 && ends).then_some(1 + sign + length)
}

fn digits(rest: &[u8]) -> usize {
    rest.iter().take_while(|c| c.is_ascii_digit()).count()
}

fn word(rest: &[u8]) -> usize {
    rest.iter().take_while(|c| is_word(**c)).count()
}

fn line(rest: &[u8]) -> usize {
    rest.iter().position(|c| *c == b'\n').unwrap_or(rest.len())
}

fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

pub(super) fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'@') || c >= 0x80
}

/// `--` begins a comment only before a blank, a control character or the end.
pub(super) fn is_dash_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"--")
        && rest
            .get(2)
            .is_none_or(|c| *c == b' ' || c.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(sql: &str) -> Vec<(Kind, &str)> {
        let tokens = Scan::new(sql.as_bytes(), true);
        tokens
            .map(|token| (token.kind, &sql[token.start..token.end]))
            .collect()
    }

    #[test]
    fn literals_are_told_from_names() {
        use Kind::{Name, Number, Sign, Text, Word};
        assert_eq!(
            kinds("t1.`a``b`=-1.5e-3 'it''s\\'' \"x\" 0xFF .5 1abc t.5"),
            [
                (Word, "t1"),
                (Sign, "."),
                (Name, "`a``b`"),
                (Sign, "="),
                (Sign, "-"),
                (Number, "1.5e-3"),
                (Text, "'it''s\\''"),
                (Text, "\"x\""),
                (Number, "0xFF"),
                (Number, ".5"),
                (Word, "1abc"),
                (Word, "t"),
                (Sign, "."),
                (Number, "5"),
            ]
        );
    }

    #[test]
    fn comments_are_passed_over_and_executed_ones_are_read() {
        use Kind::{Comment, Executed, Hint, Number, Sign, Word};
        assert_eq!(
            kinds("a-- b\n/* c */ /*+ d */ /*!80000 e 1 */ # f"),
            [
                (Word, "a"),
                (Comment, "-- b"),
                (Comment, "/* c */"),
                (Hint, "/*+ d */"),
                (Executed, "/*!80000"),
                (Word, "e"),
                (Number, "1"),
                (Executed, "*/"),
                (Comment, "# f"),
            ]
        );
        assert_eq!(kinds("a--1")[1].0, Sign);
    }

    #[test]
    fn what_was_cut_is_seen() {
        for cut in [
            "SELECT 'x",
            "INSERT INTO t VALUES (1, 2",
            "SELECT 1 /* x",
            "SELECT `x",
        ] {
            assert!(is_cut(cut.as_bytes()), "{cut}");
        }
        for whole in ["SELECT 'x'", "SELECT (1)", "SELECT ')('", ""] {
            assert!(!is_cut(whole.as_bytes()), "{whole}");
        }
    }
}

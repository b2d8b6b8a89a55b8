//! The tokens of a statement, found in its bytes: what is a word, a number, a string, a comment.
//!
//! Every encoding in which a byte below 0x80 is ASCII is read. Strings, comments and numbers end where both servers end
//! them (MySQL manual, "Literal Values", "Comments"; observed on both). Where a string ends depends on `sql_mode`.

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlTokenKind {
    /// A keyword or a name.
    Word,
    /// A number: a literal.
    Number,
    /// Text in single or double quotes: a literal, or in double quotes a name where `sql_mode` has `ANSI_QUOTES`.
    Text,
    /// A name in backquotes.
    Name,
    /// A comment that no server reads.
    Comment,
    /// A hint to the optimizer, whole.
    Hint,
    /// The beginning of a comment whose text the server executes, with its version, or its end.
    Executed,
    /// Any other character.
    Sign,
    /// A quote or a comment that does not close, to the end.
    Unfinished,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqlToken {
    /// Kind of it.
    pub kind: SqlTokenKind,
    /// Position of its first byte.
    pub start: usize,
    /// Position behind its last byte.
    pub end: usize,
}

impl SqlToken {
    /// Returns its bytes, with quotes.
    pub fn text<'a>(&self, sql: &'a [u8]) -> &'a [u8] {
        &sql[self.start..self.end]
    }

    /// Returns true if it is a part of the statement: no comment and no hint.
    pub fn is_read(&self) -> bool {
        use SqlTokenKind::{Comment, Executed, Hint};
        !matches!(self.kind, Comment | Hint | Executed)
    }

    /// Returns true if it is this keyword, which is given in capitals.
    pub fn is(&self, sql: &[u8], keyword: &str) -> bool {
        self.kind == SqlTokenKind::Word && self.text(sql).eq_ignore_ascii_case(keyword.as_bytes())
    }

    /// Returns true if it is this sign.
    pub fn is_sign(&self, sql: &[u8], sign: u8) -> bool {
        self.kind == SqlTokenKind::Sign && self.text(sql) == [sign]
    }
}

/// Reading of quotes by a server, which its `sql_mode` decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quoting {
    /// A backslash escapes in strings: no `NO_BACKSLASH_ESCAPES`.
    pub has_escapes: bool,
    /// Double quotes are those of names: `ANSI_QUOTES`.
    pub has_double_names: bool,
}

impl Quoting {
    /// All that differ in where something quoted ends; a server's usual one first.
    pub const ALL: [Self; 3] = [
        Self::USUAL,
        Self {
            has_escapes: true,
            has_double_names: true,
        },
        Self::with_escapes(false),
    ];
    /// Quoting of modes that do not set it.
    pub const USUAL: Self = Self::with_escapes(true);

    /// Quoting of the usual `sql_mode`, or of one with `NO_BACKSLASH_ESCAPES`.
    pub const fn with_escapes(has_escapes: bool) -> Self {
        Self {
            has_escapes,
            has_double_names: false,
        }
    }

    fn escapes_in(self, quote: u8) -> bool {
        match quote {
            b'\'' => self.has_escapes,
            b'"' => self.has_escapes && !self.has_double_names,
            _ => false,
        }
    }
}

/// Text right before a token, which decides whether digits begin a name or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A name without quotes: a point behind it separates names.
    Name,
    /// The point of a qualified name: a name follows, whatever it begins with.
    Separator,
    /// Anything else, or a blank.
    Other,
}

/// The tokens of a statement, one after the other.
#[derive(Debug, Clone)]
pub struct SqlScan<'a> {
    sql: &'a [u8],
    at: usize,
    quoting: Quoting,
    before: Before,
    /// Within a comment that the server executes.
    is_executed: bool,
}

impl<'a> SqlScan<'a> {
    /// The tokens of `sql`.
    pub fn new(sql: &'a [u8], quoting: Quoting) -> Self {
        Self {
            sql,
            at: 0,
            quoting,
            before: Before::Other,
            is_executed: false,
        }
    }

    /// Returns the position behind the last token.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Passes over the text of an executed comment, whose beginning was the last token.
    pub fn skip_executed(&mut self) {
        let rest = &self.sql[self.at..];
        self.at += past_comment(rest).unwrap_or(rest.len());
        self.is_executed = false;
    }

    fn token(&mut self, rest: &[u8], first: u8) -> (SqlTokenKind, usize) {
        match first {
            b'#' => (SqlTokenKind::Comment, line(rest)),
            b'-' if is_dash_comment(rest) => (SqlTokenKind::Comment, line(rest)),
            b'/' if rest.starts_with(b"/*") => self.comment(rest),
            b'*' if self.is_executed && rest.starts_with(b"*/") => {
                self.is_executed = false;
                (SqlTokenKind::Executed, 2)
            }
            b'\'' | b'"' | b'`' => self.quoted(rest, first),
            b'0'..=b'9' | b'.' => match number(rest, self.before) {
                0 if first == b'.' => (SqlTokenKind::Sign, 1),
                0 => (SqlTokenKind::Word, word(rest)),
                length => (SqlTokenKind::Number, length),
            },
            c if is_word(c) => (SqlTokenKind::Word, word(rest)),
            _ => (SqlTokenKind::Sign, 1),
        }
    }

    fn comment(&mut self, rest: &[u8]) -> (SqlTokenKind, usize) {
        let marker = [&b"/*!"[..], b"/*M!"]
            .into_iter()
            .find(|marker| rest.starts_with(marker));
        if let Some(marker) = marker {
            self.is_executed = true;
            let version = digits(&rest[marker.len()..]);
            return (SqlTokenKind::Executed, marker.len() + version);
        }
        let kind = if rest.starts_with(b"/*+") {
            SqlTokenKind::Hint
        } else {
            SqlTokenKind::Comment
        };
        match past_comment(&rest[2..]) {
            Some(length) => (kind, 2 + length),
            None => (SqlTokenKind::Unfinished, rest.len()),
        }
    }

    fn quoted(&self, rest: &[u8], quote: u8) -> (SqlTokenKind, usize) {
        let escapes = self.quoting.escapes_in(quote);
        let kind = if quote == b'`' {
            SqlTokenKind::Name
        } else {
            SqlTokenKind::Text
        };
        let mut at = 1;
        while let Some(&c) = rest.get(at) {
            let is_doubled = c == quote && rest.get(at + 1) == Some(&quote);
            if is_doubled || c == b'\\' && escapes {
                at += 2;
            } else if c == quote {
                return (kind, at + 1);
            } else {
                at += 1;
            }
        }
        (SqlTokenKind::Unfinished, rest.len())
    }
}

impl Iterator for SqlScan<'_> {
    type Item = SqlToken;

    fn next(&mut self) -> Option<SqlToken> {
        let blanks = self.sql[self.at..].iter().take_while(|c| is_space(**c));
        let blanks = blanks.count();
        if blanks > 0 {
            self.at += blanks;
            self.before = Before::Other;
        }
        let (start, rest) = (self.at, &self.sql[self.at..]);
        let (kind, length) = self.token(rest, *rest.first()?);
        self.at = (start + length).min(self.sql.len());
        self.before = match kind {
            SqlTokenKind::Word => Before::Name,
            SqlTokenKind::Sign if rest[0] == b'.' && self.before == Before::Name => {
                Before::Separator
            }
            _ => Before::Other,
        };
        Some(SqlToken {
            kind,
            start,
            end: self.at,
        })
    }
}

/// Bytes of the number at the start of `rest`; 0 if it begins with none.
///
/// Digits with letters behind them are a name, but not behind a point or an exponent: `1e3INTO` and `1e-3INTO` are a
/// number and a word, `1INTO` and `0x41INTO` are one name (observed on both servers).
fn number(rest: &[u8], before: Before) -> usize {
    if before == Before::Separator {
        return 0;
    }
    let length = word(rest);
    if is_prefixed(&rest[..length]) {
        return length;
    }
    let whole = digits(rest);
    let fraction = match &rest[whole..] {
        [b'.', after @ ..] if whole > 0 => 1 + digits(after),
        [b'.', after @ ..] if before != Before::Name && digits(after) > 0 => 1 + digits(after),
        _ => 0,
    };
    let end = whole + fraction;
    let exponent = exponent(&rest[end..]);
    if fraction > 0 || exponent > 0 {
        return end + exponent;
    }
    let is_name = rest.get(whole).is_some_and(|c| is_word(*c));
    if is_name { 0 } else { whole }
}

/// Returns true if all of `text` is a number.
pub(crate) fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && number(text, Before::Other) == text.len()
}

/// Returns true for a hexadecimal or binary number.
fn is_prefixed(text: &[u8]) -> bool {
    match text {
        // A capital X or B makes a name (observed on both servers).
        [b'0', b'x', digits @ ..] if !digits.is_empty() => digits.iter().all(u8::is_ascii_hexdigit),
        [b'0', b'b', digits @ ..] if !digits.is_empty() => {
            digits.iter().all(|c| matches!(c, b'0' | b'1'))
        }
        _ => false,
    }
}

/// Bytes of the exponent at the start of `rest`; 0 if there is none.
fn exponent(rest: &[u8]) -> usize {
    let [b'e' | b'E', after @ ..] = rest else {
        return 0;
    };
    let sign = usize::from(matches!(after.first(), Some(b'+' | b'-')));
    match digits(&after[sign..]) {
        0 => 0,
        digits => 1 + sign + digits,
    }
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

/// Bytes up to and with the end of a comment.
fn past_comment(rest: &[u8]) -> Option<usize> {
    let end = rest.windows(2).position(|pair| pair == b"*/")?;
    Some(end + 2)
}

/// Returns true for the servers' blanks.
fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// Returns true for bytes of names without quotes; all that is not ASCII may be part of one.
pub fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'@') || c >= 0x80
}

/// Returns true where two dashes begin a comment: before a blank, a control character or the end.
pub fn is_dash_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"--")
        && rest
            .get(2)
            .is_none_or(|c| *c == b' ' || c.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(sql: &str) -> Vec<(SqlTokenKind, &str)> {
        let tokens = SqlScan::new(sql.as_bytes(), Quoting::USUAL);
        tokens
            .map(|token| (token.kind, &sql[token.start..token.end]))
            .collect()
    }

    #[test]
    fn literals_are_told_from_names() {
        use SqlTokenKind::{Name, Number, Sign, Text, Word};
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
                (Word, "5"),
            ]
        );
    }

    #[test]
    fn comments_are_passed_over_and_executed_ones_are_read() {
        use SqlTokenKind::{Comment, Executed, Hint, Number, Sign, Word};
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
}

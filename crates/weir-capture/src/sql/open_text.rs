//! Where a statement's text stands at the end of a line: within a string or a comment, or outside of them.

use weir_mysql::sql_scan::{is_dash_comment, is_word};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Plain,
    /// A string or a name, by its quote.
    Quote(u8),
    Comment,
}

/// Follows a statement's text line by line.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenText {
    within: Within,
    is_odd: bool,
}

impl OpenText {
    /// Returns true within a string or a comment.
    pub(crate) fn is_open(&self) -> bool {
        self.within != Within::Plain
    }

    /// Returns true if a string has ended right before a word, which no statement does: its quotes are paired wrongly.
    pub(crate) fn is_odd(&self) -> bool {
        self.is_odd
    }

    /// Takes the next line, without its end.
    pub(crate) fn push(&mut self, line: &[u8]) {
        let mut at = 0;
        while let Some(&c) = line.get(at) {
            let rest = &line[at..];
            at += match self.within {
                Within::Plain => match self.plain(rest, c) {
                    Some(length) => length,
                    None => return,
                },
                Within::Quote(quote) => self.quoted(rest, c, quote),
                Within::Comment if rest.starts_with(b"*/") => {
                    self.within = Within::Plain;
                    2
                }
                Within::Comment => 1,
            };
        }
    }

    /// Bytes to go on by; `None`: the rest of the line is a comment.
    fn plain(&mut self, rest: &[u8], first: u8) -> Option<usize> {
        match first {
            b'#' => return None,
            b'-' if is_dash_comment(rest) => return None,
            b'\'' | b'"' | b'`' => self.within = Within::Quote(first),
            b'/' if rest.starts_with(b"/*") => {
                let is_executed = rest.starts_with(b"/*!") || rest.starts_with(b"/*M!");
                if !is_executed {
                    self.within = Within::Comment;
                }
                return Some(2);
            }
            _ => {}
        }
        Some(1)
    }

    fn quoted(&mut self, rest: &[u8], first: u8, quote: u8) -> usize {
        if first == b'\\' && quote != b'`' {
            return 2;
        }
        if first != quote {
            return 1;
        }
        let next = rest.get(1);
        if next == Some(&quote) {
            return 2;
        }
        self.within = Within::Plain;
        self.is_odd |= quote != b'`' && next.is_some_and(|c| is_word(*c));
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> OpenText {
        let mut open = OpenText::default();
        text.split('\n').for_each(|line| open.push(line.as_bytes()));
        open
    }

    #[test]
    fn the_end_of_a_text_is_within_a_string_or_not() {
        for text in [
            "SELECT 'x",
            "SELECT 'it''s\n",
            "SELECT '\\'",
            "SELECT `a",
            "/* '\n",
            "/*! '",
            "SELECT \"'\"",
        ] {
            let is_open = text != "SELECT \"'\"";
            assert_eq!(after(text).is_open(), is_open, "{text}");
        }
        for text in [
            "SELECT 'x'",
            "-- it's\nx",
            "# it's",
            "/* it's */",
            "'a\\\\'",
            "/*!80000 'x' */",
        ] {
            assert!(!after(text).is_open(), "{text}");
        }
        assert!(after("SELECT 'it's', 'x").is_odd());
        assert!(!after("SELECT 'its', 'x'").is_odd());
    }
}

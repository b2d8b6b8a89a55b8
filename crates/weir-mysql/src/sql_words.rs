//! The words of a statement with where they stand, for a search of a clause in it.

use crate::gate::{Token, placed_tokens};
use crate::sql_scan::Quoting;

/// A word, a name, a string, or a sign of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqlWord<'a> {
    token: Token<'a>,
    /// Position of its begin in the statement, bytes.
    pub start: usize,
    /// Position of its end.
    pub end: usize,
}

impl<'a> SqlWord<'a> {
    /// Returns true if it is this keyword, which is given in capitals.
    pub fn is(&self, keyword: &str) -> bool {
        self.token.is(keyword)
    }

    /// Returns true if it is one of these keywords, which are given in capitals.
    pub fn is_any(&self, keywords: &[&str]) -> bool {
        self.token.is_any(keywords)
    }

    /// Returns true if it is this sign.
    pub fn is_sign(&self, sign: char) -> bool {
        self.token == Token::Sign(sign)
    }

    /// The name that it may be, without its quotes.
    pub fn name(&self) -> Option<String> {
        let name = self.token.name()?;
        Some(match self.token {
            Token::Quoted(_) => name.replace("``", "`"),
            _ => name.to_owned(),
        })
    }

    /// The text of a string in single quotes, if it has no escapes.
    pub fn text(&self) -> Option<&'a str> {
        match self.token {
            Token::Text(text) if !text.contains(['\\', '\'']) => Some(text),
            _ => None,
        }
    }

    /// Returns true if it cannot be read: a comment that the server executes, or a quote that does not close.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.token, Token::Executed | Token::Unfinished)
    }
}

/// The words of `sql`, as a server with the usual `sql_mode` reads them, without comments.
pub fn sql_words(sql: &str) -> Vec<SqlWord<'_>> {
    placed_tokens(sql, Quoting::USUAL)
        .map(|(token, place)| SqlWord {
            token,
            start: place.start,
            end: place.end,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_where_they_stand() {
        let sql = "SELECT `a``b` /* x */ FROM t WHERE c = 'AS OF'";
        let words = sql_words(sql);
        let texts: Vec<_> = words
            .iter()
            .map(|word| &sql[word.start..word.end])
            .collect();
        assert_eq!(
            texts,
            [
                "SELECT", "`a``b`", "FROM", "t", "WHERE", "c", "=", "'AS OF'"
            ]
        );
        assert_eq!(words[1].name().as_deref(), Some("a`b"));
        assert_eq!(words[7].text(), Some("AS OF"));
        assert!(words[2].is("FROM") && words[6].is_sign('='));
    }
}

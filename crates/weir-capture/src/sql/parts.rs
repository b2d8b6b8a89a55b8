//! A statement in two parts: its text with a mark for each literal, and its literals.

use super::class::is_autocommit;
use super::scan::{Kind, Scan, Token};

/// Stands where a literal stood. No server takes it outside of a string.
pub(super) const MARK: u8 = 0;

/// A statement, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Text with marks.
    pub(crate) text: Vec<u8>,
    /// Literals as they stood, each with true if it is a number that says how many rows are wanted.
    pub(crate) literals: Vec<(Vec<u8>, bool)>,
}

/// Takes a statement apart. Comments that no server reads are left out. `has_escapes`: as in [`Scan::new`].
pub(crate) fn split(sql: &[u8], has_escapes: bool) -> Parts {
    let mut parts = Parts {
        text: Vec::with_capacity(sql.len()),
        literals: Vec::new(),
    };
    let mut last_end = 0;
    let mut limits = false;
    let mut of_autocommit = false;
    for token in Scan::new(sql, has_escapes) {
        if last_end < token.start {
            parts.text.push(b' ');
        }
        last_end = token.end;
        match token.kind {
            Kind::Comment => parts.text.push(b' '),
            Kind::Number | Kind::Text if !of_autocommit => {
                parts.text.push(MARK);
                parts.literals.push((token.text(sql).to_vec(), limits));
            }
            _ => parts
                .text
                .extend(token.text(sql).iter().filter(|byte| **byte != MARK)),
        }
        limits = says_rows(&token, sql, limits);
        of_autocommit = is_autocommit(&token, sql) || of_autocommit && token.kind == Kind::Sign;
    }
    parts
}

/// Returns true if a number that follows is that of a `LIMIT`.
fn says_rows(token: &Token, sql: &[u8], before: bool) -> bool {
    match token.kind {
        Kind::Word => token.is(sql, "LIMIT") || token.is(sql, "OFFSET"),
        Kind::Number => before,
        Kind::Sign => before && token.text(sql) == b",",
        _ => false,
    }
}

//! A statement in two parts: its text with a mark for each literal, and its literals.

use super::class::is_autocommit;
use weir_mysql::{Quoting, SqlScan, SqlToken, SqlTokenKind};

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

/// Takes a statement apart. Comments that no server reads are left out. `has_escapes`: as in [`Quoting`].
pub(crate) fn split(sql: &[u8], has_escapes: bool) -> Parts {
    let mut parts = Parts {
        text: Vec::with_capacity(sql.len()),
        literals: Vec::new(),
    };
    let mut last_end = 0;
    let mut limits = false;
    let mut of_autocommit = false;
    for token in SqlScan::new(sql, Quoting::with_escapes(has_escapes)) {
        if last_end < token.start {
            parts.text.push(b' ');
        }
        last_end = token.end;
        match token.kind {
            SqlTokenKind::Comment => parts.text.push(b' '),
            SqlTokenKind::Number | SqlTokenKind::Text if !of_autocommit => {
                parts.text.push(MARK);
                parts.literals.push((token.text(sql).to_vec(), limits));
            }
            _ => parts
                .text
                .extend(token.text(sql).iter().filter(|byte| **byte != MARK)),
        }
        limits = says_rows(&token, sql, limits);
        of_autocommit =
            is_autocommit(&token, sql) || of_autocommit && token.kind == SqlTokenKind::Sign;
    }
    parts
}

/// Returns true if a number that follows is that of a `LIMIT`.
fn says_rows(token: &SqlToken, sql: &[u8], before: bool) -> bool {
    match token.kind {
        SqlTokenKind::Word => token.is(sql, "LIMIT") || token.is(sql, "OFFSET"),
        SqlTokenKind::Number => before,
        SqlTokenKind::Sign => before && token.text(sql) == b",",
        _ => false,
    }
}

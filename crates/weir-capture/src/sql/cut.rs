//! Statements that were cut where they were written down.

use weir_mysql::{Quoting, SqlScan, SqlTokenKind};

/// Returns true if a statement ends within a string, a comment or a parenthesis: it was cut where it was written down.
pub(crate) fn is_cut(sql: &[u8]) -> bool {
    let mut depth = 0_i64;
    for token in SqlScan::new(sql, Quoting::USUAL) {
        match token.kind {
            SqlTokenKind::Unfinished => return true,
            _ if token.is_sign(sql, b'(') => depth += 1,
            _ if token.is_sign(sql, b')') => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}

#[cfg(test)]
mod tests {
    use super::*;

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

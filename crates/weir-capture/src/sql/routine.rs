//! Statements of stored functions, procedures and triggers, as a general log has them.

use weir_mysql::{Quoting, SqlScan, SqlToken};

/// Returns true if a text is one of a routine or a trigger by what only those have: a variable with its value
/// (`NAME_CONST`), or a row that nothing in the text names (`NEW.a`, `OLD.a`).
pub(crate) fn is_of_routine(sql: &[u8]) -> bool {
    let tokens: Vec<_> = SqlScan::new(sql, Quoting::USUAL)
        .filter(SqlToken::is_read)
        .collect();
    if tokens.first().is_none_or(|first| first.is(sql, "CREATE")) {
        return false;
    }
    let is_before = |at: usize, sign: u8| {
        let next = tokens.get(at + 1);
        next.is_some_and(|next| next.is_sign(sql, sign))
    };
    let mut has_row = false;
    for (at, token) in tokens.iter().enumerate() {
        if token.is(sql, "NAME_CONST") && is_before(at, b'(') {
            return true;
        }
        if token.is(sql, "NEW") || token.is(sql, "OLD") {
            if !is_before(at, b'.') {
                return false;
            }
            has_row = true;
        }
    }
    has_row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_routines_are_known_by_what_only_those_have() {
        for sql in [
            "INSERT INTO audit VALUES ( NAME_CONST('a',6))",
            "INSERT INTO audit VALUES (NEW.id, OLD.id)",
        ] {
            assert!(is_of_routine(sql.as_bytes()), "{sql}");
        }
        for sql in [
            "INSERT INTO t VALUES (1) AS new ON DUPLICATE KEY UPDATE a = new.a",
            "SELECT old.id FROM shop.old",
            "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW INSERT INTO a VALUES (NEW.id)",
            "SELECT 'NEW.id'",
            "",
        ] {
            assert!(!is_of_routine(sql.as_bytes()), "{sql}");
        }
    }
}

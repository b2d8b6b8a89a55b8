//! Statements that give their session another clock.

use weir_mysql::{Quoting, SqlScan, SqlToken};

/// Returns `true` if a statement sets the session's `timestamp` to a time of its own, `false` if back to the server's.
pub(crate) fn sets_own_clock(sql: &[u8]) -> Option<bool> {
    let mut tokens = SqlScan::new(sql, Quoting::USUAL).filter(SqlToken::is_read);
    if !tokens.next()?.is(sql, "SET") {
        return None;
    }
    let mut found = None;
    let mut is_named = false;
    for token in tokens {
        let is_sign = token.is_sign(sql, b'=') || token.is_sign(sql, b':');
        if is_named && !is_sign {
            let is_default = token.is(sql, "DEFAULT") || token.text(sql) == b"0";
            found = Some(!is_default);
        }
        let is_name = token.is(sql, "TIMESTAMP") || token.is(sql, "@@TIMESTAMP");
        is_named = is_name || is_named && is_sign;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sessions_own_clock_is_known_by_its_statement() {
        for (sql, expected) in [
            ("SET timestamp=1700000000", Some(true)),
            (
                "/* x */ set @@session.timestamp := 1700000000.5",
                Some(true),
            ),
            ("SET SQL_MODE='', TIMESTAMP=1", Some(true)),
            ("SET TIMESTAMP = DEFAULT", Some(false)),
            ("SET timestamp=0", Some(false)),
            ("SELECT timestamp = 5", None),
            ("SET NAMES utf8mb4", None),
            ("SET", None),
        ] {
            assert_eq!(sets_own_clock(sql.as_bytes()), expected, "{sql}");
        }
    }
}

//! Statements that SQL prepares.

use weir_mysql::{Quoting, SqlScan, SqlToken};

/// Returns true if a statement prepares another one, executes it, or forgets it.
pub(crate) fn is_by_sql(sql: &[u8]) -> bool {
    let mut tokens = SqlScan::new(sql, Quoting::USUAL).filter(SqlToken::is_read);
    let Some(first) = tokens.next() else {
        return false;
    };
    let forgets = first.is(sql, "DEALLOCATE") || first.is(sql, "DROP");
    first.is(sql, "PREPARE")
        || first.is(sql, "EXECUTE")
        || forgets
            && tokens
                .next()
                .is_some_and(|second| second.is(sql, "PREPARE"))
}

/// Returns true if a statement that was executed lacks its parameters, as `MariaDB` logs a bulk execution.
pub(crate) fn has_marks(sql: &[u8]) -> bool {
    SqlScan::new(sql, Quoting::USUAL).any(|token| token.is_sign(sql, b'?'))
}

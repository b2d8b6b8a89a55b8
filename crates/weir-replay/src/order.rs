//! Statements for which others wait at `--order=commit`: all that may change tables.

use weir_capture::Template;

use crate::writers::writes;

/// First words of statements that change no table, whatever follows.
const READING: [&str; 12] = [
    "show",
    "explain",
    "describe",
    "desc",
    "begin",
    "start",
    "commit",
    "rollback",
    "savepoint",
    "release",
    "use",
    "unlock",
];
/// Clauses of a `SELECT` that locks rows.
const LOCKING: [&str; 3] = [" for update", " for share", " lock in share mode"];
/// Words before a parenthesis that call no function of a user's: the language's own, and the functions that loads have most.
const OWN_WORDS: [&str; 46] = [
    "select",
    "from",
    "where",
    "and",
    "or",
    "not",
    "in",
    "on",
    "as",
    "exists",
    "any",
    "all",
    "union",
    "join",
    "using",
    "by",
    "having",
    "when",
    "then",
    "else",
    "values",
    "over",
    "with",
    "limit",
    "interval",
    "case",
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "if",
    "ifnull",
    "coalesce",
    "concat",
    "length",
    "lower",
    "upper",
    "substring",
    "round",
    "abs",
    "mod",
    "now",
    "date",
    "cast",
    "convert",
];

/// Use of rows by a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowUse {
    /// It may change some.
    pub(crate) writes: bool,
    /// It reads and locks some.
    pub(crate) locks: bool,
}

impl RowUse {
    pub(crate) fn new(template: &Template) -> Self {
        let fingerprint = template.fingerprint();
        let locks = LOCKING.iter().any(|words| fingerprint.contains(words));
        Self {
            writes: may_write(fingerprint),
            locks,
        }
    }
}

/// Returns true if a statement may change tables. One that calls a function may, unless the function is known: to wait for
/// it without need costs little, and not to wait lets the replay end with other data.
fn may_write(fingerprint: &str) -> bool {
    if writes(fingerprint) {
        return true;
    }
    let verb = fingerprint
        .split_ascii_whitespace()
        .next()
        .unwrap_or_default();
    if READING.contains(&verb) {
        return false;
    }
    let changes = |word: &str| ["insert", "update", "delete", "replace"].contains(&word);
    let hides_change = verb == "with" && fingerprint.split_ascii_whitespace().any(changes);
    hides_change || verb == "execute" || calls_function(fingerprint)
}

fn calls_function(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let before = text[..at].trim_end();
        let is_of_name = |one: char| one.is_alphanumeric() || matches!(one, '_' | '$' | '`' | '.');
        let start = before.trim_end_matches(is_of_name).len();
        let name = &before[start..];
        !name.is_empty() && !OWN_WORDS.contains(&name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_may_write_that_calls_a_function_of_a_users() {
        for (fingerprint, expected) in [
            ("select noted(?)", true),
            ("select crm.noted (?)", true),
            ("select `noted`(?)", true),
            ("do noted(?)", true),
            ("set @x = noted(?)", true),
            ("with w as (select ? as n) update t, w set k = n", true),
            ("insert into t values (?)", true),
            (
                "select count(*), max(a) from t where id in (?+) and (b = ? or b = ?)",
                false,
            ),
            ("with w as (select ? as n) select n from w", false),
            ("set autocommit = 0", false),
            ("show tables", false),
        ] {
            assert_eq!(may_write(fingerprint), expected, "{fingerprint}");
        }
    }
}

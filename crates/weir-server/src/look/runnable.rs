//! A statement as `EXPLAIN` takes it, from the text that a server keeps of it.

use weir_mysql::{SqlWord, sql_words};

/// Prefix that `MySQL` 9 gives the execution of a prepared statement.
const EXECUTION: &str = "EXECUTE ";

/// The statement of a text, without the prefix of an execution.
pub(super) fn statement(text: &str) -> &str {
    text.strip_prefix(EXECUTION).unwrap_or(text)
}

/// The statement of a text with values for its parameters: which index fits does not depend on them. A string is
/// converted to the type of the column that it is compared with, whereas a number would hide an index of strings.
pub(super) fn runnable(text: &str) -> String {
    let text = statement(text);
    let mut runnable = String::with_capacity(text.len());
    let (mut copied, mut is_limit) = (0, false);
    for word in sql_words(text) {
        if word.is("LIMIT") {
            is_limit = true;
        } else if word.is_sign('?') {
            runnable += &text[copied..word.start];
            runnable += if is_limit { "1" } else { "'1'" };
            copied = word.end;
        } else if word.is_sign(')') {
            is_limit = false;
        }
    }
    runnable += &text[copied..];
    runnable
}

/// The query that finds the rows which a statement reads: itself, or that of an `UPDATE` or a `DELETE` of one table, whose
/// own plan would lock the table. `None` for all others, and for changes without a filter.
pub(super) fn as_query(statement: &str) -> Option<String> {
    let words = sql_words(statement);
    let verb = words.iter().find(|word| !word.is_sign('('))?;
    if verb.is_any(&["SELECT", "WITH"]) {
        return Some(statement.to_owned());
    }
    // The word behind the changed table.
    let next = if verb.is("UPDATE") {
        "SET"
    } else if verb.is("DELETE") {
        "WHERE"
    } else {
        return None;
    };
    let modifiers = ["LOW_PRIORITY", "QUICK", "IGNORE", "FROM"];
    let table = 1 + words[1..]
        .iter()
        .position(|word| !word.is_any(&modifiers))?;
    let end = table + words[table..].iter().position(|word| word.is(next))?;
    if !is_one_table(&words[table..end]) {
        return None;
    }
    let mut depth = 0_i32;
    let mut outside = words[end..].iter().filter(|word| {
        depth += i32::from(word.is_sign('(')) - i32::from(word.is_sign(')'));
        depth == 0
    });
    let filter = outside.find(|word| word.is("WHERE"))?.start;
    let filter_end = outside
        .find(|word| word.is_any(&["RETURNING"]))
        .map_or(statement.len(), |word| word.start);
    let table = &statement[words[table].start..words[end - 1].end];
    let filter = &statement[filter..filter_end];
    Some(format!("SELECT 1 FROM {table} {}", filter.trim_end()))
}

/// `[schema.]table [[AS] alias]`.
fn is_one_table(words: &[SqlWord<'_>]) -> bool {
    let is_other = |word: &SqlWord<'_>| {
        word.is_sign(',') || word.is_any(&["JOIN", "STRAIGHT_JOIN", "USING", "FROM", "SELECT"])
    };
    !words.is_empty() && !words.iter().any(is_other)
}

#[cfg(test)]
mod tests {
    use super::{as_query, runnable};

    #[test]
    fn a_change_of_one_table_is_the_query_of_its_rows() {
        for (change, query) in [
            (
                "UPDATE shop.orders AS o SET o.a = (SELECT 1 FROM t WHERE b), c = 2 WHERE o.d = 'WHERE' LIMIT 3",
                "SELECT 1 FROM shop.orders AS o WHERE o.d = 'WHERE' LIMIT 3",
            ),
            (
                "DELETE LOW_PRIORITY FROM `set` WHERE a IN (SELECT 1 FROM b WHERE c) RETURNING a",
                "SELECT 1 FROM `set` WHERE a IN (SELECT 1 FROM b WHERE c)",
            ),
            ("(SELECT 1 FROM t)", "(SELECT 1 FROM t)"),
        ] {
            assert_eq!(as_query(change).as_deref(), Some(query));
        }
        for other in [
            "UPDATE t, u SET t.a = 1 WHERE t.b = u.b",
            "UPDATE t JOIN u ON t.b = u.b SET t.a = 1 WHERE u.c = 2",
            "DELETE t FROM t JOIN u ON t.b = u.b WHERE u.c = 1",
            "DELETE FROM t USING t, u WHERE t.a = u.a",
            "UPDATE t SET a = 1",
            "DELETE FROM t",
            "INSERT INTO t SELECT 1 FROM u WHERE a = 1",
            "",
        ] {
            assert_eq!(as_query(other), None, "{other}");
        }
    }

    #[test]
    fn parameters_get_values_and_question_marks_in_strings_stay() {
        for (text, expected) in [
            (
                "EXECUTE SELECT c FROM t WHERE id BETWEEN ? AND ? LIMIT ?, ?",
                "SELECT c FROM t WHERE id BETWEEN '1' AND '1' LIMIT 1, 1",
            ),
            (
                "SELECT a FROM t WHERE b = 'what?'",
                "SELECT a FROM t WHERE b = 'what?'",
            ),
            (
                "SELECT * FROM (SELECT a FROM t LIMIT ?) s WHERE a = ?",
                "SELECT * FROM (SELECT a FROM t LIMIT 1) s WHERE a = '1'",
            ),
        ] {
            assert_eq!(runnable(text), expected);
        }
    }
}

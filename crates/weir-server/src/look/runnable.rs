//! A statement as `EXPLAIN` takes it, from the text that a server keeps of it.

use weir_mysql::sql_words;

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

#[cfg(test)]
mod tests {
    use super::runnable;

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

//! Fingerprints: the text that statements have in common that differ in their values only, as DBAs know it from
//! pt-query-digest.

use super::parts::{MARK, split};
use weir_mysql::{Quoting, SqlScan, SqlToken, SqlTokenKind};

/// Longest fingerprint; what follows is left out.
const LENGTH_MAX: usize = 2_000;

/// The fingerprint of a whole statement: lower case, `?` for literals, one for a list of them.
pub fn fingerprint(sql: &[u8]) -> String {
    of_template(&split(sql, true).text)
}

/// Returns the fingerprint of a statement whose literals are marks.
pub(super) fn of_template(text: &[u8]) -> String {
    let mut words: Vec<(String, bool)> = Vec::new();
    let mut last_end = 0;
    for token in SqlScan::new(text, Quoting::USUAL) {
        let is_glued = token.start == last_end;
        last_end = token.end;
        if let Some(word) = word(&token, text, words.last()) {
            words.push((word, is_glued));
        }
    }
    let words = fold(&words);
    let mut line = String::new();
    for (at, (word, is_glued)) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| words[before].0.as_str());
        if before.is_some_and(|before| is_apart(before, word, *is_glued)) {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > LENGTH_MAX {
            let end = (0..=LENGTH_MAX)
                .rev()
                .find(|end| line.is_char_boundary(*end));
            line.truncate(end.unwrap_or(0));
            line.push_str("...");
            break;
        }
    }
    line
}

fn word(token: &SqlToken, text: &[u8], before: Option<&(String, bool)>) -> Option<String> {
    let as_text = || String::from_utf8_lossy(token.text(text)).into_owned();
    let is_value = |word: &str| {
        let is_after =
            |words: &[&str]| before.is_some_and(|(before, _)| words.contains(&&**before));
        word == "null" && !is_after(&["is", "not", "default", "set"])
    };
    match token.kind {
        SqlTokenKind::Comment | SqlTokenKind::Executed | SqlTokenKind::Hint => None,
        SqlTokenKind::Number | SqlTokenKind::Text | SqlTokenKind::Unfinished => {
            Some("?".to_owned())
        }
        SqlTokenKind::Sign if token.text(text) == [MARK] => Some("?".to_owned()),
        SqlTokenKind::Word => {
            let word = as_text().to_ascii_lowercase();
            Some(if is_value(&word) {
                "?".to_owned()
            } else {
                word
            })
        }
        SqlTokenKind::Name | SqlTokenKind::Sign => Some(as_text()),
    }
}

fn is_apart(before: &str, word: &str, is_glued: bool) -> bool {
    let is_sign = |word: &str| word.bytes().all(|c| c.is_ascii_punctuation()) && word != "?";
    let is_tight = matches!(word, "," | ")" | "." | ";") || matches!(before, "(" | "." | "@");
    let is_call = word == "(" && is_glued;
    let is_operator = is_glued && is_sign(before) && is_sign(word) && before != ")";
    !(is_tight || is_call || is_operator)
}

/// Folds lists of values: `in (?, ?)` and rows of an insert.
fn fold(words: &[(String, bool)]) -> Vec<(String, bool)> {
    let mut folded: Vec<(String, bool)> = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let word = words[at].0.as_str();
        folded.push(words[at].clone());
        at += 1;
        if !matches!(word, "in" | "values" | "value") {
            continue;
        }
        let Some(end) = group_end(words, at) else {
            continue;
        };
        if is_of_values(&words[at..end]) {
            folded.push(("(?+)".to_owned(), false));
        } else {
            folded.extend_from_slice(&words[at..end]);
        }
        at = end;
        if word != "in" {
            at = after_rows(words, at);
        }
    }
    folded
}

/// Where the rows that follow the first one end.
fn after_rows(words: &[(String, bool)], mut at: usize) -> usize {
    while words.get(at).is_some_and(|(word, _)| word == ",") {
        match group_end(words, at + 1) {
            Some(end) => at = end,
            None => break,
        }
    }
    at
}

/// Where the parenthesis that begins there ends.
fn group_end(words: &[(String, bool)], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, (word, _)) in words.iter().enumerate().skip(start) {
        match word.as_str() {
            "(" => depth += 1,
            ")" if depth == 1 => return Some(at + 1),
            ")" => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn is_of_values(group: &[(String, bool)]) -> bool {
    let is_value = |word: &str| matches!(word, "?" | "," | "(" | ")" | "-" | "+");
    group.len() > 2 && group.iter().all(|(word, _)| is_value(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases of the kind that pt-fingerprint's manual describes.
    #[test]
    fn statements_that_differ_in_values_have_one_fingerprint() {
        for (sql, expected) in [
            (
                "SELECT  c FROM sbtest1\n WHERE id=5",
                "select c from sbtest1 where id = ?",
            ),
            (
                "select c from sbtest1 where id = -7",
                "select c from sbtest1 where id = - ?",
            ),
            (
                "SELECT * FROM t WHERE a IN (1, 2,3)",
                "select * from t where a in (?+)",
            ),
            (
                "SELECT * FROM t WHERE a IN (1)",
                "select * from t where a in (?+)",
            ),
            (
                "INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL)",
                "insert into t(a, b) values (?+)",
            ),
            (
                "INSERT INTO t VALUES (1, NOW()), (2, NOW())",
                "insert into t values (?, now())",
            ),
            (
                "SELECT a FROM t WHERE b IS NOT NULL AND c >= 5.5e3 LIMIT 10, 20",
                "select a from t where b is not null and c >= ? limit ?, ?",
            ),
            (
                "SELECT /* tag 12 */ `T`.`a` FROM T -- x\n WHERE a = \"it's\"",
                "select `T`.`a` from t where a = ?",
            ),
            (
                "SELECT COUNT(*) FROM t WHERE a = ?",
                "select count(*) from t where a = ?",
            ),
            (
                "UPDATE t SET a = a + 1 WHERE id IN (?, ?)",
                "update t set a = a + ? where id in (?+)",
            ),
            ("SELECT a->>'$.x' FROM t", "select a ->> ? from t"),
            ("COMMIT", "commit"),
        ] {
            let expected = expected.replace("insert into t(", "insert into t (");
            assert_eq!(fingerprint(sql.as_bytes()), expected, "{sql}");
        }
        let long = format!("SELECT {}", "abcdefgh, ".repeat(1_000));
        assert!(fingerprint(long.as_bytes()).len() < LENGTH_MAX + 50);
    }
}

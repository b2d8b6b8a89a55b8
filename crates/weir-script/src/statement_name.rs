//! A statement's name: its text without values, so that those of one kind have one latency.

use weir_mysql::{Quoting, SqlScan, SqlTokenKind};

/// Characters that are kept.
const LENGTH_MAX: usize = 80;

/// The name of a statement: numbers and strings are `?`, lists of them `?, ...`, numbers at the end of names `N`,
/// and white space is one space. Comments are left out.
pub(crate) fn name(sql: &[u8]) -> String {
    let mut named = NameBuilder::default();
    let mut end = 0;
    for token in SqlScan::new(sql, Quoting::USUAL) {
        if named.0.len() > LENGTH_MAX {
            break;
        }
        if token.start > end || token.kind == SqlTokenKind::Comment {
            named.space();
        }
        end = token.end;
        let text = String::from_utf8_lossy(token.text(sql));
        match token.kind {
            SqlTokenKind::Comment => {}
            SqlTokenKind::Number | SqlTokenKind::Text | SqlTokenKind::Unfinished => named.value(),
            SqlTokenKind::Sign if text == "?" => named.value(),
            SqlTokenKind::Sign if text == "," => named.comma(),
            SqlTokenKind::Word => named.word(&text),
            SqlTokenKind::Name
            | SqlTokenKind::Hint
            | SqlTokenKind::Executed
            | SqlTokenKind::Sign => named.0.push_str(&text),
        }
    }
    named.finish()
}

#[derive(Default)]
struct NameBuilder(String);

impl NameBuilder {
    /// A value; one that follows others in a list makes it a list.
    fn value(&mut self) {
        for before in ["?, ...,", "?,"] {
            if self.0.trim_end().ends_with(before) {
                let length = self.0.trim_end().len() - before.len();
                self.0.truncate(length);
                self.0.push_str("?, ...");
                return;
            }
        }
        self.0.push('?');
    }

    /// A comma, right behind what it follows.
    fn comma(&mut self) {
        self.0.truncate(self.0.trim_end().len());
        self.0.push(',');
    }

    fn space(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with(' ') {
            self.0.push(' ');
        }
    }

    fn word(&mut self, word: &str) {
        let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
        self.0.push_str(stem);
        if stem.len() < word.len() {
            self.0.push('N');
        }
    }

    /// Rows of an insert are one, and the rest is left out.
    fn finish(self) -> String {
        let mut text = self
            .0
            .trim_end()
            .trim_end_matches(';')
            .trim_end()
            .to_owned();
        for row in ["(?, ...)", "(?)"] {
            let first = text.find(&format!("{row}, {row}"));
            let first = first.or_else(|| text.find(&format!("{row},{row}")));
            if let Some(at) = first {
                text.truncate(at + row.len());
                text.push_str(", ...");
            }
        }
        if text.len() > LENGTH_MAX {
            let end = (0..=LENGTH_MAX).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or(0));
            text.push_str("...");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_one_kind_have_one_name() {
        for (sql, expected) in [
            (
                "SELECT c FROM sbtest12 WHERE id = 4711",
                "SELECT c FROM sbtestN WHERE id = ?",
            ),
            (
                "SELECT c FROM sbtest1 WHERE id=?",
                "SELECT c FROM sbtestN WHERE id=?",
            ),
            ("  COMMIT ;", "COMMIT"),
            (
                "UPDATE t SET c = 'it''s', d=\"a\"",
                "UPDATE t SET c = ?, d=?",
            ),
            (
                "SELECT 1 FROM t WHERE id IN (1, 2,3 , 4)",
                "SELECT ? FROM t WHERE id IN (?, ...)",
            ),
            (
                "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
                "INSERT INTO t VALUES (?, ...), ...",
            ),
            ("SELECT -1.5e3, x2y", "SELECT -?, x2y"),
            ("SELECT a/* id 7 */ FROM t", "SELECT a FROM t"),
        ] {
            assert_eq!(name(sql.as_bytes()), expected, "{sql}");
        }
        let long = format!("SELECT {} FROM t", "column_name, ".repeat(40));
        assert!(name(long.as_bytes()).len() <= LENGTH_MAX + 3);
        let _ = name("SELECT 'ä' /* \u{fffd} ünclosed '".as_bytes());
    }
}

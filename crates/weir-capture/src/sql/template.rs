//! Templates, which many statements share: their text with a mark for each literal.

use super::class::StatementClass;
use super::fingerprint::of_template;
use super::parts::{MARK, split};
use weir_mysql::{Quoting, SqlScan, SqlTokenKind};

/// Common part of all statements of one text, without their literals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: Vec<u8>,
    fingerprint: String,
    class: StatementClass,
}

impl Template {
    /// Takes a statement apart: its template and its literals.
    pub fn parse(sql: &[u8]) -> (Self, Vec<Vec<u8>>) {
        let parts = split(sql, true);
        let literals = parts.literals.into_iter().map(|(text, _)| text);
        (Self::new(parts.text), literals.collect())
    }

    /// Of a text with marks.
    pub(crate) fn new(text: Vec<u8>) -> Self {
        Self {
            fingerprint: of_template(&text),
            class: StatementClass::from_sql(&text),
            text,
        }
    }

    /// Returns the text that statements have in common that differ in their values only.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the class of the statement.
    pub fn class(&self) -> StatementClass {
        self.class
    }

    /// The whole statement, with these literals in their places; `?` where there are too few of them.
    pub fn text_with(&self, literals: &[Vec<u8>]) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.text.len() + 8 * literals.len());
        let mut literals = literals.iter();
        for byte in &self.text {
            match (*byte, literals.as_slice().is_empty()) {
                (MARK, true) => text.push(b'?'),
                (MARK, false) => text.extend(literals.next().into_iter().flatten()),
                (byte, _) => text.push(byte),
            }
        }
        text
    }

    /// Returns the text as a statement with question marks. Each mark has `true` if it stands for a literal of the
    /// text, `false` if it was one already. `None` for a text that is no UTF-8.
    pub fn with_question_marks(&self) -> Option<(String, Vec<bool>)> {
        let mut text = self.text.clone();
        let mut marks = Vec::new();
        for token in SqlScan::new(&self.text, Quoting::USUAL)
            .filter(|token| token.kind == SqlTokenKind::Sign)
        {
            match token.text(&self.text) {
                [MARK] => {
                    text[token.start] = b'?';
                    marks.push(true);
                }
                b"?" => marks.push(false),
                _ => {}
            }
        }
        Some((String::from_utf8(text).ok()?, marks))
    }

    /// Returns the number of literals.
    pub fn literals(&self) -> usize {
        let marks = self.text.split(|byte| *byte == MARK);
        marks.count() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_statement_again() {
        for sql in [
            "SELECT c FROM t WHERE id = 5 AND d = 'it''s' AND e = -1.5 LIMIT 10, 5",
            "INSERT INTO `t` VALUES (1,'a'),(2,\"b\")",
            "SELECT /*+ MAX_EXECUTION_TIME(5) */ x'AB', /*!80000 1 + */ 2",
            "BEGIN",
            "",
        ] {
            let parts = split(sql.as_bytes(), true);
            let literals: Vec<_> = parts
                .literals
                .iter()
                .map(|(text, _)| text.clone())
                .collect();
            let template = Template::new(parts.text);
            assert_eq!(template.literals(), literals.len());
            let again = template.text_with(&literals);
            assert_eq!(String::from_utf8(again).unwrap(), sql);
        }
        let limited = split(b"SELECT 1 LIMIT 2, 3", true).literals;
        let limits: Vec<_> = limited.iter().map(|(_, limits)| *limits).collect();
        assert_eq!(limits, [false, true, true]);
        let commented = split(b"/* secret */ SELECT -- x\n 1", true);
        assert!(!commented.text.windows(6).any(|part| part == b"secret"));
    }

    #[test]
    fn a_prepared_text_tells_literals_from_parameters() {
        let parts = split(b"SELECT `a?` FROM t WHERE a = 'x?' AND b = ? LIMIT 5", true);
        let (text, marks) = Template::new(parts.text).with_question_marks().unwrap();
        assert_eq!(text, "SELECT `a?` FROM t WHERE a = ? AND b = ? LIMIT ?");
        assert_eq!(marks, [true, false, true]);
    }

    #[test]
    fn bytes_of_any_encoding_come_back() {
        let sql = b"SELECT '\xe9\xff' FROM t\xe9 WHERE a = 'x\0y'";
        let parts = split(sql, true);
        let literals: Vec<_> = parts.literals.into_iter().map(|(text, _)| text).collect();
        assert_eq!(Template::new(parts.text).text_with(&literals), sql);
    }
}

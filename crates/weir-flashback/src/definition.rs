//! The statement that makes a table, as a text.
//!
//! `MariaDB` prints a binary DEFAULT as the bytes that it is, between quotes. They are no text, and are written as
//! hexadecimal, which means the same.

use std::fmt::Write as _;

use weir_mysql::{Quoting, SqlScan, SqlTokenKind, identifier};

/// The text of what `SHOW CREATE TABLE` returned.
pub(crate) fn definition_text(statement: &[u8]) -> String {
    let (mut text, mut end) = (String::new(), 0);
    for token in SqlScan::new(statement, Quoting::USUAL) {
        text.push_str(&String::from_utf8_lossy(&statement[end..token.start]));
        end = token.end;
        let bytes = token.text(statement);
        match (token.kind, std::str::from_utf8(bytes)) {
            (SqlTokenKind::Text | SqlTokenKind::Name, Err(_)) => {
                text.push_str("X'");
                for byte in unquoted(bytes) {
                    let _ = write!(text, "{byte:02X}");
                }
                text.push('\'');
            }
            (_, Ok(readable)) => text.push_str(readable),
            (_, Err(_)) => text.push_str(&String::from_utf8_lossy(bytes)),
        }
    }
    text.push_str(&String::from_utf8_lossy(&statement[end..]));
    text
}

/// Doubles the quotes in these names of foreign keys, which `MariaDB` 11.4 prints as they are.
pub(crate) fn with_quoted_names(mut create: Vec<u8>, names: &[String]) -> Vec<u8> {
    for name in names {
        let printed = format!("CONSTRAINT `{name}` FOREIGN KEY");
        let mut places = create.windows(printed.len());
        if let Some(at) = places.position(|some| some == printed.as_bytes()) {
            let quoted = format!("CONSTRAINT {} FOREIGN KEY", identifier(name));
            create.splice(at..at + printed.len(), quoted.into_bytes());
        }
    }
    create
}

/// The statement that makes a table, without the expressions of its stored generated columns.
pub(crate) fn without_stored_expressions(create: &str) -> String {
    let mut plain = String::new();
    let mut rest = create;
    while let Some((before, expression, after)) = next_expression(rest) {
        plain.push_str(before);
        let stored = after.strip_prefix(" STORED");
        if stored.is_none() {
            plain.push_str(expression);
        }
        rest = stored.unwrap_or(after);
    }
    plain + rest
}

/// The text before ` GENERATED ALWAYS AS (...)`, that clause, and the text after it.
fn next_expression(text: &str) -> Option<(&str, &str, &str)> {
    const CLAUSE: &str = " GENERATED ALWAYS AS (";
    let bytes = text.as_bytes();
    let (mut start, mut depth) = (None, 0);
    for token in SqlScan::new(bytes, Quoting::USUAL) {
        match start {
            None => {
                let before = token.start.saturating_sub(1);
                let begins = token.is(bytes, "GENERATED") && text[before..].starts_with(CLAUSE);
                start = begins.then_some(before);
            }
            Some(start) if token.is_sign(bytes, b')') => {
                depth -= 1;
                if depth == 0 {
                    return Some((&text[..start], &text[start..token.end], &text[token.end..]));
                }
            }
            Some(_) => depth += u32::from(token.is_sign(bytes, b'(')),
        }
    }
    None
}

/// The bytes that stand between quotes, without what escapes them.
fn unquoted(bytes: &[u8]) -> Vec<u8> {
    let inner = bytes.get(1..bytes.len() - 1).unwrap_or_default();
    let mut plain = Vec::with_capacity(inner.len());
    let mut rest = inner.iter();
    while let Some(byte) = rest.next() {
        plain.push(match byte {
            b'\\' => match rest.next() {
                Some(b'0') => 0,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'Z') => 0x1A,
                Some(other) => *other,
                None => b'\\',
            },
            byte if *byte == bytes[0] => {
                rest.next();
                *byte
            }
            byte => *byte,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_keys_are_quoted() {
        let quoted = "CREATE TABLE `or``der` (\n  CONSTRAINT `or``der_ibfk_1` FOREIGN KEY (`p`) REFERENCES `p` (`id`)\n)";
        let printed = quoted.replace("`or``der_ibfk_1`", "`or`der_ibfk_1`");
        for create in [quoted, &printed] {
            let found = with_quoted_names(create.into(), &["or`der_ibfk_1".to_owned()]);
            assert_eq!(String::from_utf8(found).unwrap(), quoted);
        }
    }

    #[test]
    fn bytes_that_are_no_text_become_hexadecimal() {
        let found =
            definition_text(b"`a'` INT DEFAULT '\xFF\\0''\\\\' COMMENT 'it''s', \"b\" \\ `c``\"`");
        assert_eq!(
            found,
            "`a'` INT DEFAULT X'FF00275C' COMMENT 'it''s', \"b\" \\ `c``\"`"
        );
        assert_eq!(definition_text(b"DEFAULT '\xFF"), "DEFAULT '\u{fffd}");
    }

    #[test]
    fn only_stored_columns_lose_their_expressions() {
        let create = "CREATE TABLE `t` (\n  `a` int DEFAULT ((1)) COMMENT ' GENERATED ALWAYS AS (1) STORED',\n  \
            `b` int GENERATED ALWAYS AS (length(concat(`a`,')'))) STORED NOT NULL,\n  \
            `c` int GENERATED ALWAYS AS ((`a` + 1)) VIRTUAL,\n  `d` int GENERATED ALWAYS AS (`a`) STORED\n)";
        assert_eq!(
            without_stored_expressions(create),
            "CREATE TABLE `t` (\n  `a` int DEFAULT ((1)) COMMENT ' GENERATED ALWAYS AS (1) STORED',\n  \
            `b` int NOT NULL,\n  `c` int GENERATED ALWAYS AS ((`a` + 1)) VIRTUAL,\n  `d` int\n)"
        );
    }
}

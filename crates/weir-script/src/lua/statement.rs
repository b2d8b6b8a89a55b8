//! Prepared statements: the server's, and those that are sent as text with their values in it.

use std::rc::Rc;

use weir_mysql::{Quoting, SqlScan};

use crate::lua::host::Parameter;

/// Declared type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    Integer,
    Real,
    Text,
}

/// A statement that a script prepared.
#[derive(Debug, Clone)]
pub(crate) struct ScriptStatement {
    /// As the script wrote it.
    pub(crate) text: Rc<[u8]>,
    pub(crate) how: How,
    pub(crate) parameters: usize,
    /// Of the parameters that were bound.
    pub(crate) kinds: Vec<ParameterKind>,
}

/// Way in which it is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum How {
    /// By the server's number.
    Server(u32),
    /// As text: the pieces between the marks for parameters.
    Text(Rc<[Vec<u8>]>),
}

impl ScriptStatement {
    /// A statement that the server knows.
    pub(crate) fn of_server(text: &[u8], number: u32, parameters: usize) -> Self {
        Self {
            text: text.into(),
            how: How::Server(number),
            parameters,
            kinds: Vec::new(),
        }
    }

    /// A statement that is sent as text.
    pub(crate) fn of_text(text: &[u8]) -> Self {
        let pieces = pieces(text);
        Self {
            text: text.into(),
            parameters: pieces.len() - 1,
            how: How::Text(pieces.into()),
            kinds: Vec::new(),
        }
    }
}

/// The text with values in the place of its marks.
pub(crate) fn with_values(pieces: &[Vec<u8>], values: &[Parameter]) -> Vec<u8> {
    let mut text = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        text.extend_from_slice(piece);
        if index + 1 < pieces.len() {
            put_literal(&mut text, values.get(index).unwrap_or(&Parameter::Null));
        }
    }
    text
}

fn put_literal(text: &mut Vec<u8>, value: &Parameter) {
    match value {
        Parameter::Null => text.extend_from_slice(b"NULL"),
        Parameter::Integer(number) => text.extend_from_slice(number.to_string().as_bytes()),
        Parameter::Real(number) => text.extend_from_slice(format!("{number:?}").as_bytes()),
        Parameter::Text(bytes) => {
            text.push(b'\'');
            for byte in bytes {
                match byte {
                    b'\'' => text.extend_from_slice(b"''"),
                    b'\\' => text.extend_from_slice(b"\\\\"),
                    0 => text.extend_from_slice(b"\\0"),
                    other => text.push(*other),
                }
            }
            text.push(b'\'');
        }
    }
}

/// The text between the marks `?` that stand in no string, name or comment.
fn pieces(text: &[u8]) -> Vec<Vec<u8>> {
    let marks = SqlScan::new(text, Quoting::USUAL).filter(|token| token.is_sign(text, b'?'));
    let (mut pieces, mut start) = (Vec::new(), 0);
    for mark in marks {
        pieces.push(text[start..mark.start].to_vec());
        start = mark.end;
    }
    pieces.push(text[start..].to_vec());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sql: &str, values: &[Parameter]) -> String {
        String::from_utf8(with_values(&pieces(sql.as_bytes()), values)).unwrap()
    }

    #[test]
    fn values_take_the_place_of_marks_outside_of_literals() {
        let values = [
            Parameter::Integer(-3),
            Parameter::Text(b"it's \\ a".to_vec()),
            Parameter::Null,
            Parameter::Real(1.5),
        ];
        assert_eq!(
            text(
                "SELECT '?', `?` /* ? */, ?, ? -- ?\n, ?, \"a\\\"?\", ?",
                &values
            ),
            "SELECT '?', `?` /* ? */, -3, 'it''s \\\\ a' -- ?\n, NULL, \"a\\\"?\", 1.5"
        );
    }

    #[test]
    fn an_unclosed_string_ends_with_the_text() {
        assert_eq!(pieces(b"SELECT 'a\\").len(), 1);
        assert_eq!(pieces(b"/* ?").len(), 1);
    }
}

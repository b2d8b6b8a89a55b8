//! A text within a statement.

/// `text` as a string of SQL, its quotes included, as modes without `NO_BACKSLASH_ESCAPES` read it. For names that
/// are looked up and for comments: values of a load are bound or written by its generator.
pub fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_stay_within_the_string() {
        assert_eq!(text_literal(r"it's a \"), r"'it''s a \\'");
    }
}

//! Comparison of names of schemas and tables, as servers make it.

use std::borrow::Cow;

use crate::{ClientError, Connection};

/// The comparison of names of schemas and tables that `lower_case_table_names` makes.
///
/// Names of columns, indexes and settings differ in no server by their case alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NameCase {
    /// `0`: names that differ in case are different names.
    #[default]
    Exact,
    /// `1` and `2`: they are the same name.
    Folded,
}

impl NameCase {
    /// Reads the value of the variable.
    pub fn parse(value: &str) -> Self {
        match value.trim() {
            "" | "0" => Self::Exact,
            _ => Self::Folded,
        }
    }

    /// Asks the server.
    ///
    /// # Errors
    ///
    /// A server that is gone.
    pub fn read(connection: &mut Connection) -> Result<Self, ClientError> {
        let value: Option<u8> = connection.first("SELECT @@GLOBAL.lower_case_table_names")?;
        Ok(Self::parse(&value.unwrap_or_default().to_string()))
    }

    /// Returns true if two names are one to the server.
    pub fn is_same(self, a: &str, b: &str) -> bool {
        a == b || (self == Self::Folded && self.fold(a) == self.fold(b))
    }

    /// The name by which equal names are equal texts.
    pub fn fold(self, name: &str) -> Cow<'_, str> {
        match self {
            Self::Exact => Cow::Borrowed(name),
            // A letter of the servers' becomes one letter.
            Self::Folded => Cow::Owned(
                name.chars()
                    .map(|c| c.to_lowercase().next().unwrap_or(c))
                    .collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_are_one_where_the_server_says_so() {
        assert!(!NameCase::parse("0").is_same("Orders", "orders"));
        for folded in ["1", "2"] {
            assert!(NameCase::parse(folded).is_same("Orders", "oRDERS"));
            assert!(NameCase::parse(folded).is_same("\u{c9}t\u{e9}", "\u{e9}t\u{c9}"));
            assert!(!NameCase::parse(folded).is_same("Orders", "order"));
        }
    }
}

//! Treatment of a statement's values before they are written: kept, replaced by others of the same kind that tell
//! nothing, or left out.

mod masked;

use std::fmt;
use std::str::FromStr;

use mysql_common::Value;
use serde::{Deserialize, Serialize};

use crate::sql::{Parts, StatementClass, split};
use masked::Mask;

/// Treatment of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Literals {
    /// They stay as they are.
    #[default]
    Keep,
    /// Each becomes another of its kind and length; equal ones become equal ones. The key is thrown away.
    Hash,
    /// They are left out: such a capture cannot be replayed.
    Drop,
}

impl Literals {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Hash => "hash",
            Self::Drop => "drop",
        }
    }
}

impl fmt::Display for Literals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Literals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Keep, Self::Hash, Self::Drop]
            .into_iter()
            .find(|literals| literals.name() == text)
            .ok_or_else(|| "must be keep, hash or drop".to_owned())
    }
}

/// Takes statements apart as one capture is to keep them.
#[derive(Debug)]
pub(crate) struct Keeper {
    literals: Literals,
    mask: Mask,
}

/// A statement as it is kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StoredText {
    /// With marks for its literals.
    pub(crate) text: Vec<u8>,
    /// None of a secret statement, and none where literals are dropped.
    pub(crate) literals: Vec<Vec<u8>>,
    /// Something of it is missing that a replay would need.
    pub(crate) is_unusable: bool,
}

impl Keeper {
    /// With a secret key of its own.
    pub(crate) fn new(literals: Literals) -> Self {
        Self {
            literals,
            mask: Mask::new(),
        }
    }

    /// A statement's text.
    pub(crate) fn statement(&self, sql: &[u8]) -> StoredText {
        let Parts { text, literals } = split(sql, true);
        let class = StatementClass::from_sql(sql);
        if class.is_secret {
            return unusable(first_words(sql));
        }
        if self.literals != Literals::Keep && is_ambiguous(sql, &text) {
            return unusable(first_words(sql));
        }
        let literals = match self.literals {
            Literals::Keep => literals.into_iter().map(|(text, _)| text).collect(),
            Literals::Hash => literals
                .into_iter()
                .map(|(text, limits)| {
                    if limits {
                        text
                    } else {
                        self.mask.literal(&text)
                    }
                })
                .collect(),
            Literals::Drop => Vec::new(),
        };
        StoredText {
            is_unusable: self.literals == Literals::Drop && text.contains(&0),
            text,
            literals,
        }
    }

    /// The values of a prepared statement.
    pub(crate) fn values(&self, values: Vec<Value>) -> Vec<Value> {
        match self.literals {
            Literals::Keep => values,
            Literals::Hash => values
                .into_iter()
                .map(|value| self.mask.value(value))
                .collect(),
            Literals::Drop => Vec::new(),
        }
    }

    /// Returns true if values of prepared statements are left out.
    pub(crate) fn drops(&self) -> bool {
        self.literals == Literals::Drop
    }
}

/// Returns true if a part of a string might be taken for something else. The server's `sql_mode` decides
/// where strings end, or a quote does not close.
fn is_ambiguous(sql: &[u8], text: &[u8]) -> bool {
    crate::sql::is_cut(sql) || sql.contains(&b'\\') && split(sql, false).text != text
}

/// No more of a statement than its verb and the word behind it.
fn first_words(sql: &[u8]) -> Vec<u8> {
    let text = split(sql, true).text;
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b' ';
    let letters: Vec<u8> = text.into_iter().take_while(is_letter).collect();
    let words = letters
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    words.take(2).collect::<Vec<_>>().join(&b' ')
}

fn unusable(text: Vec<u8>) -> StoredText {
    StoredText {
        text,
        literals: Vec::new(),
        is_unusable: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_secret_stays() {
        for literals in [Literals::Keep, Literals::Hash, Literals::Drop] {
            for sql in [
                "CREATE USER 'joe'@'%' IDENTIFIED BY 'hunter2'",
                "SET PASSWORD FOR joe = 'hunter2'",
                "ALTER USER joe IDENTIFIED BY 'hunter2",
                "CREATE USER joe IDENTIFIED BY hunter2",
                "/* hunter2 */ SELECT 1",
                "SELECT AES_DECRYPT(a, 'hunter2') FROM t",
            ] {
                let kept = Keeper::new(literals).statement(sql.as_bytes());
                let all = [kept.text.clone(), kept.literals.concat()].concat();
                assert!(!all.windows(7).any(|part| part == b"hunter2"), "{sql}");
                let is_harmless = sql.ends_with("SELECT 1");
                assert!(
                    kept.is_unusable != is_harmless || literals == Literals::Drop,
                    "{sql}"
                );
            }
        }
    }

    #[test]
    fn what_is_hashed_or_dropped_leaves_no_literal() {
        for literals in [Literals::Hash, Literals::Drop] {
            let keeper = Keeper::new(literals);
            for sql in [
                r"INSERT INTO t VALUES ('planted9', 987654321, 'a\'planted9')",
                r"SELECT '\', 'planted9', '987654321'",
                "SELECT /*!80000 'planted9' */ 987654321",
                "SELECT 'planted9",
            ] {
                let kept = keeper.statement(sql.as_bytes());
                let all = [kept.text.clone(), kept.literals.join(&b' ')].concat();
                for secret in [&b"planted9"[..], b"987654321"] {
                    assert!(
                        !all.windows(secret.len()).any(|part| part == secret),
                        "{sql}"
                    );
                }
            }
        }
    }
}

//! One value in a study file.

use serde::Deserialize;

/// A value of a server variable or a factor's level, as TOML has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "not a value; write text, a number, or true or false"
)]
pub(crate) enum Setting {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Setting {
    /// As an option file has it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Bool(true) => "ON".to_owned(),
            Self::Bool(false) => "OFF".to_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

//! Plain values as the text that a column holds: JSON, without the quotes for a lone word.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::StoreError;

/// JSON text of `value`; a plain string is stored bare, so that SQL can compare it.
pub(crate) fn encode<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value).expect("invariant: results are plain data") {
        Value::String(word) => word,
        other => other.to_string(),
    }
}

/// Reads what [`encode`] wrote into `column`.
pub(crate) fn decode<T: DeserializeOwned>(
    path: &Path,
    column: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    let read = serde_json::from_str(text).or_else(|error| {
        // What is no lone word was written as JSON, and the first error has the position.
        if text.starts_with(['{', '[']) {
            return Err(error);
        }
        serde_json::from_value(Value::String(text.to_owned()))
    });
    read.map_err(|error| StoreError::Damaged {
            path: path.to_owned(),
            column,
            reason: error.to_string(),
        })
}

//! Plain values as the text that a column holds: JSON, without the quotes for a lone word.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::StoreError;

/// JSON text of `value`; a plain string is stored bare, so that SQL can compare it.
pub(crate) fn encode<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value).expect("invariant: results are plain data");
    let word = text.starts_with('"').then(|| serde_json::from_str(&text));
    word.and_then(Result::ok).unwrap_or(text)
}

/// Reads what [`encode`] wrote into `column`.
pub(crate) fn decode<T: DeserializeOwned>(
    path: &Path,
    column: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    // One reader for each type: words get their quotes back.
    let read = if text.starts_with(['{', '[', '"']) || text == "null" {
        serde_json::from_str(text)
    } else {
        serde_json::from_str(&Value::String(text.to_owned()).to_string())
    };
    read.map_err(|error| StoreError::Damaged {
        path: path.to_owned(),
        column,
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use weir_model::Flavor;

    use super::*;

    fn damage<T: DeserializeOwned>(text: &str) -> String {
        let read = decode::<T>(Path::new("r"), "c", text);
        match read.map(drop).unwrap_err() {
            StoreError::Damaged { reason, .. } => reason,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn damage_is_told_by_the_error_of_its_own_form() {
        // As a newer Weir may write it.
        let unknown = damage::<Vec<Flavor>>(r#"["mysql", "oracle"]"#);
        assert!(
            unknown.contains("unknown variant `oracle`") && unknown.contains("line 1 column 18"),
            "{unknown}"
        );
        let cut = damage::<Vec<Flavor>>(r#"["mysql""#);
        assert!(cut.contains("EOF") && cut.contains("column 8"), "{cut}");
        let word = damage::<Flavor>("oracle");
        assert!(word.contains("unknown variant `oracle`"), "{word}");
        let flavor: Flavor = decode(Path::new("r"), "c", "mariadb").unwrap();
        assert_eq!(flavor, Flavor::Mariadb);
    }
}

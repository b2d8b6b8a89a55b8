//! What a cell sets, as names and values: the evidence for "one factor differs".
//!
//! Read from the cell's serialised form, so that whatever a cell can set counts, also what this
//! module has never heard of.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use weir_model::Cell;

/// Name -> value of everything that `cell` sets; its level names are labels, not settings.
pub(crate) fn settings(cell: &Cell) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    if let Ok(Value::Object(fields)) = serde_json::to_value(cell) {
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("levels", _) | (_, Value::Null) => {}
                (_, Value::Object(inner)) => settings.extend(
                    inner
                        .into_iter()
                        .map(|(name, value)| (name, value_text(&value))),
                ),
                (_, value) => {
                    settings.insert(name, value_text(&value));
                }
            }
        }
    }
    settings
}

fn value_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Names of the settings that differ between two cells.
pub(crate) fn differing(first: &Cell, second: &Cell) -> BTreeSet<String> {
    let (first, second) = (settings(first), settings(second));
    let names = first.keys().chain(second.keys());
    names
        .filter(|name| first.get(*name) != second.get(*name))
        .cloned()
        .collect()
}

/// Cells with the same settings under different names (A/A), grouped; lone cells are left out.
pub(crate) fn identical(cells: &[Cell]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<BTreeMap<String, String>, Vec<usize>> = BTreeMap::new();
    for (index, cell) in cells.iter().enumerate() {
        groups.entry(settings(cell)).or_default().push(index);
    }
    groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str, drive: &str, doublewrite: &str) -> Cell {
        Cell {
            levels: BTreeMap::from([("arm".to_owned(), name.to_owned())]),
            drive: Some(drive.to_owned()),
            variables: BTreeMap::from([("innodb_doublewrite".to_owned(), doublewrite.to_owned())]),
            threads: 4,
        }
    }

    #[test]
    fn names_are_no_settings_and_everything_else_is() {
        let (a, b) = (cell("a", "x", "ON"), cell("b", "y", "OFF"));
        let names: Vec<_> = differing(&a, &b).into_iter().collect();
        assert_eq!(names, ["drive", "innodb_doublewrite"]);
        let again = cell("a again", "x", "ON");
        assert!(differing(&a, &again).is_empty());
        assert_eq!(identical(&[a, b, again]), [vec![0, 2]]);
    }
}

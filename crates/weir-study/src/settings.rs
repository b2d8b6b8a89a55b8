//! What a cell sets, as names and values: the evidence for "one factor differs".
//!
//! Read from the cell's serialised form, so that whatever a cell can set counts, also what this
//! module has never heard of.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use weir_model::{Cell, Plan};

/// Name -> value of everything that a run of `cell` is set to beyond the shared server variables.
/// Names of levels are labels, places of a search are none.
pub(crate) fn settings(plan: &Plan, cell: &Cell) -> BTreeMap<String, String> {
    // What a cell leaves to the plan is the plan's, so that two ways to say the same are the same.
    let effective = Cell {
        levels: BTreeMap::new(),
        server: Some(plan.server_of(cell)),
        data: Some(plan.data_of(cell).clone()),
        load: Some(plan.load_of(cell).clone()),
        probe: None,
        ..cell.clone()
    };
    let mut settings = BTreeMap::new();
    if let Ok(Value::Object(fields)) = serde_json::to_value(effective) {
        for (name, value) in fields {
            match value {
                Value::Null => {}
                Value::Object(inner) => settings.extend(
                    inner
                        .into_iter()
                        .map(|(name, value)| (name, value_text(&value))),
                ),
                value => {
                    settings.insert(name, value_text(&value));
                }
            }
        }
    }
    settings.retain(|_, value| value != "null");
    settings
}

fn value_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Names of the settings that differ between two cells.
pub(crate) fn differing(plan: &Plan, first: &Cell, second: &Cell) -> BTreeSet<String> {
    let (first, second) = (settings(plan, first), settings(plan, second));
    let names = first.keys().chain(second.keys());
    names
        .filter(|name| first.get(*name) != second.get(*name))
        .cloned()
        .collect()
}

/// Cells with the same settings under different names (A/A), grouped; lone cells are left out.
pub(crate) fn identical(plan: &Plan) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<BTreeMap<String, String>, Vec<usize>> = BTreeMap::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        groups.entry(settings(plan, cell)).or_default().push(index);
    }
    groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect()
}

//! What a cell sets, as names and values: the evidence for "one factor differs".
//!
//! Read from the cell's serialised form, so that whatever a cell can set counts, also what this
//! module has never heard of.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use weir_model::{Cell, Plan, ServerVariables};

/// Name -> value.
pub(crate) type Settings = BTreeMap<String, String>;

/// The settings of all cells of a plan, read once: there may be a thousand of them, and every rule
/// asks for pairs.
#[derive(Debug)]
pub(crate) struct CellSettings {
    of: Vec<Settings>,
    cells: BTreeMap<Settings, Vec<usize>>,
}

impl CellSettings {
    pub(crate) fn new(plan: &Plan) -> Self {
        let of: Vec<_> = plan.cells.iter().map(|cell| settings(plan, cell)).collect();
        let mut cells: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (index, settings) in of.iter().enumerate() {
            cells.entry(settings.clone()).or_default().push(index);
        }
        Self { of, cells }
    }

    pub(crate) fn of(&self, cell: usize) -> &Settings {
        &self.of[cell]
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Settings> {
        self.of.iter()
    }

    /// Names of the settings that differ between two cells.
    pub(crate) fn differing(&self, first: usize, second: usize) -> BTreeSet<String> {
        let (first, second) = (self.of(first), self.of(second));
        let names = first.keys().chain(second.keys());
        names
            .filter(|name| first.get(*name) != second.get(*name))
            .cloned()
            .collect()
    }

    /// Whether a cell has these settings and no others.
    pub(crate) fn has(&self, settings: &Settings) -> bool {
        self.cells.contains_key(settings)
    }

    /// Cells with the same settings under different names (A/A), grouped; lone cells are left out.
    pub(crate) fn identical(&self) -> Vec<Vec<usize>> {
        let groups = self.cells.values().filter(|group| group.len() > 1);
        groups.cloned().collect()
    }
}

/// Name -> value of everything that a run of `cell` is set to beyond the shared server variables.
/// Names of levels are labels, places of a search are none.
fn settings(plan: &Plan, cell: &Cell) -> Settings {
    // What a cell leaves to the plan is the plan's, so that two ways to say the same are the same.
    let effective = Cell {
        levels: BTreeMap::new(),
        server: Some(plan.server_of(cell)),
        deployment: Some(plan.deployment_of(cell).clone()),
        data: Some(plan.data_of(cell).clone()),
        load: Some(plan.load_of(cell).clone()),
        probe: None,
        variables: meant(plan, cell),
        ..cell.clone()
    };
    let mut settings = Settings::new();
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

/// The cell's own variables, by name and in one spelling of each value.
fn meant(plan: &Plan, cell: &Cell) -> BTreeMap<String, String> {
    let variables = ServerVariables::written(plan.server_of(cell).flavor, &cell.variables);
    let names = variables.values().keys();
    names
        .filter_map(|name| Some((name.clone(), variables.meant(name)?)))
        .collect()
}

fn value_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

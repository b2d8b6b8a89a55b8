//! Settings of cells, as names and values: the evidence for "one factor differs".

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Plan, Settings, differing};

/// The settings of all cells of a plan, read once: there may be a thousand of them, and every rule
/// asks for pairs.
#[derive(Debug)]
pub(crate) struct CellSettings {
    of: Vec<Settings>,
    cells: BTreeMap<Settings, Vec<usize>>,
}

impl CellSettings {
    pub(crate) fn new(plan: &Plan) -> Self {
        let of: Vec<_> = plan.cells.iter().map(|cell| cell.spec.settings()).collect();
        let mut cells: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (index, settings) in of.iter().enumerate() {
            cells.entry(settings.clone()).or_default().push(index);
        }
        Self { of, cells }
    }

    pub(crate) fn settings(&self, cell: usize) -> &Settings {
        &self.of[cell]
    }

    /// Names of the settings that differ between two cells.
    pub(crate) fn differing(&self, first: usize, second: usize) -> BTreeSet<String> {
        differing(self.settings(first), self.settings(second))
    }

    /// Returns true if a cell has these settings and no others.
    pub(crate) fn has(&self, settings: &Settings) -> bool {
        self.cells.contains_key(settings)
    }

    /// Cells with the same settings under different names (A/A), grouped; lone cells are left out.
    pub(crate) fn identical(&self) -> Vec<Vec<usize>> {
        let groups = self.cells.values().filter(|group| group.len() > 1);
        groups.cloned().collect()
    }
}

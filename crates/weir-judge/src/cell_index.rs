//! The cells of a plan by their levels: which one differs in one factor only, and which share a context.

use std::collections::BTreeMap;

use weir_model::{Cell, Plan};

/// Levels by factor: what names a cell.
pub(crate) type Levels = BTreeMap<String, String>;

/// Index of a plan's cells by levels; made once for a plan.
#[derive(Debug)]
pub(crate) struct CellIndex<'a> {
    cells: &'a [Cell],
    positions: BTreeMap<&'a Levels, usize>,
}

impl<'a> CellIndex<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let positions = plan.cells.iter().enumerate();
        Self {
            cells: &plan.cells,
            positions: positions
                .map(|(position, cell)| (&cell.levels, position))
                .collect(),
        }
    }

    /// The cell that differs from `cell` in `factor` alone, where it has `level`.
    pub(crate) fn sibling(&self, cell: &Cell, factor: &str, level: &str) -> Option<usize> {
        let mut levels = cell.levels.clone();
        levels.insert(factor.to_owned(), level.to_owned());
        self.positions.get(&levels).copied()
    }

    /// Cells by the levels of all factors but `without`, in the order of the plan.
    pub(crate) fn by_context(&self, without: &[&str]) -> Vec<(Levels, Vec<usize>)> {
        let mut contexts: BTreeMap<Levels, Vec<usize>> = BTreeMap::new();
        for (position, cell) in self.cells.iter().enumerate() {
            let mut context = cell.levels.clone();
            let mut factors = without.iter();
            if factors.all(|factor| context.remove(*factor).is_some()) {
                contexts.entry(context).or_default().push(position);
            }
        }
        contexts.into_iter().collect()
    }
}

/// The levels of `cell` in all factors but `factor`.
pub(crate) fn context(cell: &Cell, factor: &str) -> Levels {
    let mut context = cell.levels.clone();
    context.remove(factor);
    context
}

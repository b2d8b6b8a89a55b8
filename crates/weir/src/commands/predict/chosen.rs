//! What of a study is asked about: one server and one load, of those that it varies.

use std::collections::BTreeMap;

use weir_model::{Cell, Doublewrite, Plan, ServerVariables};

use super::POOL;

/// The settings that a prediction is made for many of.
const VARIED: [&str; 3] = ["drive", POOL, "threads"];

/// The cells that are asked about, and what was chosen for want of a choice.
pub(super) struct Chosen {
    /// Positions in the plan, ascending.
    pub(super) cells: Vec<usize>,
    /// In words.
    pub(super) assumed: Vec<String>,
}

impl Chosen {
    /// The cells of `plan` with the levels of `at`, and with the first of those in all else but drive,
    /// pool and connections.
    pub(super) fn of(plan: &Plan, at: &[(String, String)]) -> anyhow::Result<Self> {
        let mut levels: BTreeMap<_, _> = at.iter().cloned().collect();
        let first = weir_judge::cells_at(plan, &levels)?[0];
        let mut assumed = Vec::new();
        for factor in &plan.factors {
            let mut settings = factor.settings.iter().map(String::as_str);
            let level = plan.cells[first].levels.get(&factor.name);
            let Some(level) = level.filter(|_| !levels.contains_key(&factor.name)) else {
                continue;
            };
            if settings.all(|setting| VARIED.contains(&setting)) {
                continue;
            }
            if factor.levels.len() > 1 {
                assumed.push(format!(
                    "{} {level}, the first of {} levels (--where \"{}=LEVEL\" chooses)",
                    factor.name,
                    factor.levels.len(),
                    factor.name
                ));
            }
            levels.insert(factor.name.clone(), level.clone());
        }
        let cells = weir_judge::cells_at(plan, &levels)?;
        let first = cells.first().and_then(|cell| plan.cells.get(*cell));
        assumed.extend(first.and_then(unprotected));
        Ok(Self { cells, assumed })
    }
}

/// What is not predicted of drives without doublewrite: only their profiles say which of them keep pages whole.
fn unprotected(cell: &Cell) -> Option<String> {
    let node = cell.spec.primary();
    let variables = ServerVariables::written(node.server.flavor, &node.variables);
    let doublewrite = variables.doublewrite()?;
    (doublewrite != Doublewrite::Repairs).then(|| {
        "doublewrite is off on each drive; whether a drive then tears pages is not predicted \
         (`weir drive show` has the vendor's claim, `weir plan` the rules)"
            .to_owned()
    })
}

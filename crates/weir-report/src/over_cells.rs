//! Values that the cells of a plan have in common, and those that each has of its own.

use std::collections::BTreeMap;

use weir_model::{Cell, Plan, RunSpec};

/// Server variables that a study sets: name -> value.
pub(crate) type Variables<'a> = BTreeMap<&'a str, &'a str>;

/// The values of `of` over all cells, each once, in the order of the cells.
pub(crate) fn distinct<T: PartialEq>(plan: &Plan, of: impl Fn(&RunSpec) -> T) -> Vec<T> {
    let mut values = Vec::new();
    for cell in &plan.cells {
        let value = of(&cell.spec);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// The same in words: `a`, or `a or b`.
pub(crate) fn each(plan: &Plan, of: impl Fn(&RunSpec) -> String) -> String {
    distinct(plan, of).join(" or ")
}

/// Variables that the study sets to the same in all cells.
pub(crate) fn shared_variables(plan: &Plan) -> Variables<'_> {
    let mut cells = plan.cells.iter();
    let Some(first) = cells.next() else {
        return Variables::new();
    };
    let mut shared = variables(first);
    for cell in cells {
        shared.retain(|name, value| cell.spec.variable(name) == Some(*value));
    }
    shared
}

/// Variables of `cell` beyond the `shared` ones.
pub(crate) fn own_variables<'a>(cell: &'a Cell, shared: &Variables<'_>) -> Variables<'a> {
    let mut own = variables(cell);
    own.retain(|name, _| !shared.contains_key(name));
    own
}

fn variables(cell: &Cell) -> Variables<'_> {
    let variables = cell.spec.primary().variables.iter();
    variables
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_differs_between_cells_is_each_cell_s_own() {
        let plan = sample::study(4, 1).evidence.plan;
        let shared = shared_variables(&plan);
        assert_eq!(shared["innodb_flush_method"], "O_DIRECT");
        assert!(!shared.contains_key("innodb_doublewrite"));
        let own = own_variables(&plan.cells[1], &shared);
        assert_eq!(own, Variables::from([("innodb_doublewrite", "OFF")]));
    }
}

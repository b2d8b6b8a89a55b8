//! A part of a study: the cells that have given levels, and their runs.

use std::collections::BTreeMap;

use weir_model::{Plan, StudyResult};

use crate::JudgeError;
use crate::compare::holds_at;

/// Positions of the cells of `plan` with all the levels of `at`, ascending; an error if there is none.
///
/// # Errors
/// If there is no such cell; the error names the levels that there are.
pub fn cells_at(plan: &Plan, at: &BTreeMap<String, String>) -> Result<Vec<usize>, JudgeError> {
    let cells = plan.cells.iter().enumerate();
    let cells = cells.filter(|(_, cell)| holds_at(&cell.levels, at));
    let cells: Vec<_> = cells.map(|(position, _)| position).collect();
    if cells.is_empty() {
        let wanted = at.iter().map(|(factor, level)| format!("{factor}={level}"));
        let known = plan.factors.iter().map(|factor| {
            let levels = factor.levels.join("`, `");
            format!("{} (`{levels}`)", factor.name)
        });
        return Err(JudgeError::NoSuchCells {
            wanted: wanted.collect::<Vec<_>>().join(", "),
            known: known.collect::<Vec<_>>().join(", "),
        });
    }
    Ok(cells)
}

/// The plan as if it had `cells` (ascending) only.
#[must_use]
pub fn part_of_plan(mut plan: Plan, cells: &[usize]) -> Plan {
    let kept = cells.iter().map(|cell| plan.cells[*cell].clone());
    plan.cells = kept.collect();
    plan.runs.retain_mut(|run| renumber(&mut run.cell, cells));
    plan
}

/// The result as if its plan had `cells` (ascending) only.
#[must_use]
pub fn part_of_result(mut result: StudyResult, cells: &[usize]) -> StudyResult {
    let runs = &mut result.runs;
    runs.retain_mut(|run| renumber(&mut run.record.cell, cells));
    result.plan = part_of_plan(result.plan, cells);
    result
}

/// Gives the cell its number in the part; whether it is one of the part.
fn renumber(cell: &mut usize, cells: &[usize]) -> bool {
    let position = cells.binary_search(cell);
    *cell = position.unwrap_or_default();
    position.is_ok()
}

#[cfg(test)]
mod tests {
    use weir_model::Factor;

    use super::*;
    use crate::rules::tests::fair;

    #[test]
    fn a_part_has_the_cells_of_the_levels_and_their_runs() {
        let whole = fair();
        let at = BTreeMap::from([("innodb_doublewrite".to_owned(), "OFF".to_owned())]);
        let cells = cells_at(&whole.plan, &at).unwrap();
        assert_eq!(cells, [1]);
        let part = part_of_result(whole.clone(), &cells);
        assert_eq!((part.plan.cells.len(), part.runs.len()), (1, 3));
        assert_eq!(part.plan.cells[0], whole.plan.cells[1]);
        assert!(part.runs.iter().all(|run| run.record.cell == 0));
        assert!(part.plan.runs.iter().all(|run| run.cell == 0));
    }

    #[test]
    fn an_unknown_level_is_named_with_those_that_there_are() {
        let mut plan = fair().plan;
        plan.factors.push(Factor {
            name: "threads".to_owned(),
            settings: vec!["threads".to_owned()],
            levels: vec!["8".to_owned(), "64".to_owned()],
            within_server: false,
        });
        let at = BTreeMap::from([("threads".to_owned(), "9".to_owned())]);
        let error = cells_at(&plan, &at).unwrap_err().to_string();
        assert_eq!(
            error,
            "no cell with threads=9; there are threads (`8`, `64`)"
        );
    }
}

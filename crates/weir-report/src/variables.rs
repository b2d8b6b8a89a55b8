//! The server's variables: what all runs share, what differs between cells, what the load changed.
//!
//! A server has some 600 variables and a study up to a hundred runs, so the shared ones are said once.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use weir_model::StudyResult;

/// Different values that are listed; beyond, only their number is.
const VALUES_LISTED_MAX: usize = 3;

/// All variables of all runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Variables<'a> {
    /// Name -> value, the same in every run.
    shared: BTreeMap<&'a str, &'a str>,
    /// Variables on which at least two runs disagree.
    differing: Vec<DifferingVariable<'a>>,
    /// Variables that the load left different.
    changed: Vec<ChangedVariable<'a>>,
}

#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct DifferingVariable<'a> {
    name: &'a str,
    /// By cell, in the plan's order.
    by_cell: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ChangedVariable<'a> {
    name: &'a str,
    /// Value before -> value after; `several` if the runs disagree.
    before: String,
    after: String,
    /// Runs in which it changed.
    runs: usize,
}

/// Sorts the variables of all runs into shared, differing and changed ones.
pub(crate) fn variables(result: &StudyResult) -> Variables<'_> {
    let names: BTreeSet<&str> = result
        .runs
        .iter()
        .flat_map(|run| run.variables.keys().map(String::as_str))
        .collect();
    let mut shared = BTreeMap::new();
    let mut differing = Vec::new();
    for name in names {
        let mut values = result.runs.iter().map(|run| run.variables.get(name));
        let first = values.next().flatten();
        match first {
            Some(value) if values.all(|other| other == first) => {
                shared.insert(name, value.as_str());
            }
            _ => differing.push(DifferingVariable {
                name,
                by_cell: values_by_cell(result, name),
            }),
        }
    }
    Variables {
        shared,
        differing,
        changed: changed(result),
    }
}

fn values_by_cell(result: &StudyResult, name: &str) -> Vec<String> {
    let cells = 0..result.plan.cells.len();
    cells
        .map(|cell| {
            let runs = result.runs.iter().filter(|run| run.record.cell == cell);
            listed(
                runs.filter_map(|run| run.variables.get(name))
                    .map(String::as_str),
            )
        })
        .collect()
}

/// The different values, or how many there are.
fn listed<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let values: BTreeSet<_> = values.collect();
    if values.len() > VALUES_LISTED_MAX {
        format!("{} different values", values.len())
    } else {
        values.into_iter().collect::<Vec<_>>().join(" / ")
    }
}

fn changed(result: &StudyResult) -> Vec<ChangedVariable<'_>> {
    let names: BTreeSet<&str> = result
        .runs
        .iter()
        .flat_map(|run| run.variables_changed.keys().map(String::as_str))
        .collect();
    names
        .into_iter()
        .map(|name| {
            let runs: Vec<_> = result
                .runs
                .iter()
                .filter(|run| run.variables_changed.contains_key(name))
                .collect();
            ChangedVariable {
                name,
                before: listed(
                    runs.iter()
                        .filter_map(|run| run.variables.get(name))
                        .map(String::as_str),
                ),
                after: listed(
                    runs.iter()
                        .filter_map(|run| run.variables_changed.get(name))
                        .map(String::as_str),
                ),
                runs: runs.len(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sample;

    #[test]
    fn variables_are_sorted_into_shared_differing_and_changed() {
        let mut result = sample::study(2, 2);
        for (index, run) in result.evidence.runs.iter_mut().enumerate() {
            let doublewrite = if run.record.cell == 0 { "ON" } else { "OFF" };
            run.variables = Arc::new(
                [
                    ("version", "9.7.0"),
                    ("innodb_doublewrite", doublewrite),
                    ("pid_file", ["a", "b", "c", "d"][index]),
                ]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            );
            run.variables_changed = BTreeMap::new();
        }
        result.evidence.runs[0]
            .variables_changed
            .insert("version".to_owned(), "9.7.1".to_owned());
        let variables = variables(&result.evidence);
        assert_eq!(variables.shared, BTreeMap::from([("version", "9.7.0")]));
        let doublewrite = &variables.differing[0];
        assert_eq!(doublewrite.name, "innodb_doublewrite");
        assert_eq!(doublewrite.by_cell, ["ON", "OFF"]);
        assert_eq!(
            variables.changed,
            [ChangedVariable {
                name: "version",
                before: "9.7.0".to_owned(),
                after: "9.7.1".to_owned(),
                runs: 1
            }]
        );
    }

    #[test]
    fn many_values_are_counted_not_listed() {
        assert_eq!(listed(["b", "a", "a"].into_iter()), "a / b");
        assert_eq!(
            listed(["a", "b", "c", "d"].into_iter()),
            "4 different values"
        );
    }
}

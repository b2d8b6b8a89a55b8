//! Foreign keys: tables at their other ends are locked with the altered one.

use super::obstacle::Obstacle;
use super::table::TableCopy;
use crate::ddl::{Algorithm, Way};

/// Returns the obstacles that foreign keys are for the statement.
pub(super) fn look(copy: &TableCopy, way: &Way) -> Vec<Obstacle> {
    let names = |tables: &[(String, String)]| {
        let names = tables
            .iter()
            .map(|(schema, table)| format!("{schema}.{table}"));
        names.collect::<Vec<_>>().join(", ")
    };
    let mut found = Vec::new();
    if !copy.parents.is_empty() {
        let text = format!(
            "foreign keys refer to {}: a metadata lock on it is taken, too, and waits for open transactions there",
            names(&copy.parents)
        );
        found.push(Obstacle::risk("foreign keys", text));
    }
    if !copy.children.is_empty() {
        let text = format!(
            "foreign keys of {} refer to the table: tools that swap tables have to move them",
            names(&copy.children)
        );
        let found_by = match way.algorithm {
            Some(Algorithm::Copy) => Obstacle::risk("foreign keys", text),
            _ => Obstacle::note("foreign keys", text),
        };
        found.push(found_by);
    }
    found
}

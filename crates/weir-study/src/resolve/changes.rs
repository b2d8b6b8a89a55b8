//! Changes of the data before the measurement: read, and checked against the cells that have them.

use weir_model::{Cell, DataChange, Plan};

use super::{Resolver, check_name};
use crate::StudyError;

impl Resolver<'_> {
    /// All changes of the study file.
    pub(super) fn changes(&self) -> Result<Vec<DataChange>, StudyError> {
        let mut changes: Vec<DataChange> = Vec::new();
        for section in &self.file.data.before {
            let error = |why| self.error("data.before.name", format!("`{}`", section.name), why);
            check_name(
                &section.name,
                changes.iter().map(|change| change.name.as_str()),
            )
            .map_err(error)?;
            if section.statement.trim().is_empty() {
                let key = format!("data.before.{}.statement", section.name);
                return Err(self.error(&key, "``", "must be one SQL statement"));
            }
            changes.push(DataChange {
                name: section.name.clone(),
                statement: section.statement.trim().to_owned(),
            });
        }
        Ok(changes)
    }

    /// Each change must be made in at least one cell, on a server whose data are Weir's.
    pub(super) fn check_changes(
        &self,
        plan: &Plan,
        changes: &[DataChange],
    ) -> Result<(), StudyError> {
        for change in changes {
            let error = |why| self.error("data.before.name", format!("`{}`", change.name), why);
            let is_made = |cell: &&Cell| cell.spec.data.before.contains(change);
            let mut cells = plan.cells.iter().filter(is_made).peekable();
            if cells.peek().is_none() {
                return Err(error(
                    "no level of factor `before` names it; leave it out, or add a level",
                ));
            }
            if cells.any(|cell| cell.spec.primary().server.given.is_some()) {
                return Err(error(
                    "the data of a server given by its URL are not changed; use a private server, from a backup",
                ));
            }
        }
        Ok(())
    }
}

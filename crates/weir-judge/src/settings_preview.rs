//! What the servers of a plan's cells would say of their settings, where they were asked.
//!
//! A rule that judges a design sees what a server would say, not the text of the study.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_model::ServerVersion;

/// What one server would say.
#[derive(Debug)]
pub struct CellPreview {
    /// Its version.
    pub version: ServerVersion,
    /// Its variables, as it would say them.
    pub values: BTreeMap<String, String>,
}

/// What the servers of a plan's cells would say.
#[derive(Debug, Default)]
pub struct SettingsPreview {
    cells: Vec<Option<Arc<CellPreview>>>,
    /// Who was asked, who was not, and what a server makes something else of; one line each.
    pub notes: Vec<String>,
}

impl SettingsPreview {
    /// No server was asked.
    pub const NOTHING: Self = Self {
        cells: Vec::new(),
        notes: Vec::new(),
    };

    /// What was answered for each of a plan's cells; `None` for one whose server was not asked.
    pub fn new(cells: Vec<Option<Arc<CellPreview>>>, notes: Vec<String>) -> Self {
        Self { cells, notes }
    }

    /// Returns the preview of the cell `index`; `None`: it was not asked.
    pub fn cell(&self, index: usize) -> Option<&CellPreview> {
        self.cells.get(index)?.as_deref()
    }
}

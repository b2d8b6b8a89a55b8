//! Settings that the servers of a plan's cells would show, where they were asked.
//!
//! A rule that judges a design sees what a server would say, not the text of the study.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_model::ServerVersion;

/// Preview of one server.
#[derive(Debug)]
pub struct CellPreview {
    /// Version of the server.
    pub version: ServerVersion,
    /// Variables, as it would show them.
    pub values: BTreeMap<String, String>,
}

/// Previews of the servers of a plan's cells.
#[derive(Debug, Default)]
pub struct SettingsPreview {
    cells: Vec<Option<Arc<CellPreview>>>,
    /// Notes on servers that were asked or not, and on values that a server changes; one line each.
    pub notes: Vec<String>,
}

impl SettingsPreview {
    /// No server was asked.
    pub const NOTHING: Self = Self {
        cells: Vec::new(),
        notes: Vec::new(),
    };

    /// Creates the preview from the answer for each of a plan's cells; `None` for one whose server
    /// was not asked.
    pub fn new(cells: Vec<Option<Arc<CellPreview>>>, notes: Vec<String>) -> Self {
        Self { cells, notes }
    }

    /// Returns the preview of the cell `index`; `None`: it was not asked.
    pub fn cell(&self, index: usize) -> Option<&CellPreview> {
        self.cells.get(index)?.as_deref()
    }
}

//! The studies that can be started: files of one folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// A study file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Study {
    /// The file's name without `.toml`.
    pub(crate) name: String,
    title: String,
    question: String,
    #[serde(skip)]
    pub(crate) path: PathBuf,
}

/// The studies in `folder`, by name; none if there is no such folder.
pub(crate) fn list(folder: &Path) -> Vec<Study> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut studies: Vec<_> = entries.filter_map(|entry| read(entry.path())).collect();
    studies.sort_by(|a, b| a.name.cmp(&b.name));
    studies
}

/// Title and question only: `weir run` checks the rest, and says what is wrong with it.
fn read(path: PathBuf) -> Option<Study> {
    if path.extension()? != "toml" {
        return None;
    }
    let name = path.file_stem()?.to_str()?.to_owned();
    let file: toml::Table = fs::read_to_string(&path).ok()?.parse().ok()?;
    let study = file.get("study")?.as_table()?;
    let text = |key| {
        study
            .get(key)
            .and_then(toml::Value::as_str)
            .unwrap_or_default()
    };
    Some(Study {
        title: text("title").to_owned(),
        question: text("question").to_owned(),
        name,
        path,
    })
}

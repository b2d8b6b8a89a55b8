//! The log of what was changed on servers of the user's: JSON lines, only ever appended to.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use weir_process::append_json_line;

/// Longest statement that is logged whole, in characters: DDL is shorter, rows are longer.
const LOGGED: usize = 400;

/// A file of JSON lines, readable by this user only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeLog(PathBuf);

/// A statement, as it is logged.
#[derive(Debug, Serialize)]
struct Line<'a> {
    at: String,
    process: u32,
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a str>,
    statement: String,
    /// Variables that it sets -> what they held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<(&'a str, Option<&'a str>)>,
}

impl ChangeLog {
    /// The log at `path`, which need not exist yet.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Appends a statement and makes it durable if it sets variables.
    pub(super) fn append(
        &self,
        server: &str,
        schema: Option<&str>,
        statement: &str,
        before: &[(String, Option<String>)],
    ) -> io::Result<()> {
        let line = Line {
            at: jiff::Timestamp::now().to_string(),
            process: std::process::id(),
            server,
            schema,
            statement: statement.chars().take(LOGGED).collect(),
            before: before
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_deref()))
                .collect(),
        };
        append_json_line(&self.0, &line, !before.is_empty())
    }
}

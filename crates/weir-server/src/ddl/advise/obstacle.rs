//! What stands in the way of a statement.

use serde::Serialize;

/// How bad it is; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The statement would wait or fail now.
    Blocks,
    /// It may fail, or hold up others.
    Risk,
    /// Good to know.
    Note,
}

impl Severity {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Risk => "risk",
            Self::Note => "note",
        }
    }
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about, in a word.
    pub about: &'static str,
    /// In words.
    pub text: String,
}

impl Obstacle {
    pub(super) fn blocks(about: &'static str, text: String) -> Self {
        Self {
            severity: Severity::Blocks,
            about,
            text,
        }
    }

    pub(super) fn risk(about: &'static str, text: String) -> Self {
        Self {
            severity: Severity::Risk,
            about,
            text,
        }
    }

    pub(super) fn note(about: &'static str, text: String) -> Self {
        Self {
            severity: Severity::Note,
            about,
            text,
        }
    }
}

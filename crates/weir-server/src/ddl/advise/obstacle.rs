//! Obstacle to a statement.

use serde::Serialize;

/// Severity of an obstacle; the worst first.
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
    /// Returns the word for it.
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
    /// Severity of the obstacle.
    pub severity: Severity,
    /// Subject in one word.
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

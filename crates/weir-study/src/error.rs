//! Errors of this crate.

use thiserror::Error;

/// A study that cannot be read or planned.
#[derive(Debug, Error)]
pub enum StudyError {
    /// A name that means no server program.
    #[error("server `{name}`: {why}")]
    ServerName {
        /// The name.
        name: String,
        /// Reason, with what may stand there.
        why: String,
    },
    /// Not TOML, or a key that studies do not have.
    #[error("{file}: {message}")]
    Syntax {
        /// The study file.
        file: String,
        /// Place, reason and suggestion.
        message: String,
    },
    /// A value that cannot be used.
    #[error("{file}: `{key}` = {value} ({why})")]
    Value {
        /// The study file.
        file: String,
        /// The key, dotted: `data.rows`.
        key: String,
        /// Present value.
        value: String,
        /// Reason and remedy.
        why: String,
    },
    /// A server program does not take a setting.
    #[error("{server} refuses {refused}; set a value that it accepts, or leave it out")]
    RefusedSetting {
        /// Flavour and version.
        server: String,
        /// Setting and reason, in the program's words.
        refused: String,
    },
    /// Settings of a cell that do not go together.
    #[error("{file}: {levels}: {why}")]
    Cell {
        /// The study file.
        file: String,
        /// The cell's levels.
        levels: String,
        /// Reason and remedy.
        why: String,
    },
    /// A profile does not accept a setting of the study.
    #[error(transparent)]
    Profile(#[from] weir_model::ProfileError),
    /// A version that is not installed.
    #[error(
        "no {flavor} {version} found (installed: {installed}); install it, or name a server \
         program's path"
    )]
    NoSuchVersion {
        /// Flavour.
        flavor: weir_model::Flavor,
        /// The version that was asked for.
        version: String,
        /// Versions of the flavour that there are.
        installed: String,
    },
    /// The server.
    #[error(transparent)]
    Server(#[from] weir_server::ServerError),
    /// The drive.
    #[error(transparent)]
    Drive(#[from] weir_drive::DriveError),
}

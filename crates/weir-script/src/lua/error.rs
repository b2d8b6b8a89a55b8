//! Errors of a script, in one line.

use thiserror::Error;

/// Reason that a script did not do its work.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScriptError {
    /// A file that cannot be read, or is no Lua, or whose own lines failed; with place and reason.
    #[error("{0}")]
    Body(String),
    /// A function of the script raised an error.
    #[error("`{function}' function failed: {why}")]
    Function {
        /// The function's name.
        function: String,
        /// Raised error, with script and line.
        why: String,
    },
    /// An option's declaration that is not one.
    #[error("{0}")]
    Option(String),
    /// An option's value that does not fit it.
    #[error("{0}")]
    Value(String),
    /// The interpreter itself failed: no memory, or a broken prelude.
    #[error("the Lua interpreter failed: {0}")]
    Interpreter(String),
}

impl From<mlua::Error> for ScriptError {
    fn from(error: mlua::Error) -> Self {
        Self::Interpreter(error.to_string())
    }
}

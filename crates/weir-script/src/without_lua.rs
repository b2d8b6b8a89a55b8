//! The place of scripts in a build without Lua.

use std::collections::BTreeMap;
use std::path::Path;

use thiserror::Error;

/// Reason and remedy of all that needs Lua.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "scripts in Lua (this program was built without them); build it with the feature lua, or write a workload file"
)]
pub struct NoLua;

/// A script and its modules: there are none.
#[derive(Debug, Clone)]
pub struct ScriptFiles {
    /// The script.
    pub text: String,
    /// Modules that it loads, by name.
    pub modules: BTreeMap<String, String>,
}

impl ScriptFiles {
    /// Refuses.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn read(_path: &Path, _more: &[String]) -> Result<Self, NoLua> {
        Err(NoLua)
    }
}

/// Returns true if there is a file of this name.
pub fn is_found(name: &str) -> bool {
    name == "-" || Path::new(name).is_file()
}

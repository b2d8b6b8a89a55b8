//! Directory in which Weir keeps its knowledge of servers between its commands.

use std::path::PathBuf;

/// `$XDG_STATE_HOME/weir`, else `~/.local/state/weir` (XDG Base Directory Specification), else below
/// the directory for temporary files.
pub fn state_directory() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = set("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".local/state")))
        .unwrap_or_else(std::env::temp_dir);
    state.join("weir")
}

/// The log of all changes of servers of the user's: only ever appended to.
pub fn change_log() -> PathBuf {
    state_directory().join("changes.log")
}

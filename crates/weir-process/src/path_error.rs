//! The error of a file or directory that cannot be used, shared by all crates that touch files.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Remedy where a name leads nowhere, behind a reason.
const CHECK_NAME: &str = "; check the name";
/// Remedy without a right, behind a reason.
const NAME_ANOTHER: &str = "; name another path, or run as a user who has the right";
/// Remedy for a file system without room, behind a reason.
pub const MAKE_ROOM: &str = "; free some or choose another directory";

/// A file or directory could not be used.
#[derive(Debug, Error)]
#[error("cannot {action} `{path}` ({source}){}", remedy(source))]
pub struct PathError {
    /// Action that was tried: `create`, `remove`.
    pub action: &'static str,
    /// On what.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// Returns the remedy for the system's error, where that is not plain.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => MAKE_ROOM,
        io::ErrorKind::NotFound => CHECK_NAME,
        io::ErrorKind::PermissionDenied => NAME_ANOTHER,
        _ => "",
    }
}

impl PathError {
    /// For `map_err`: `action` on `path` failed.
    pub fn on(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self {
            action,
            path,
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_with_what_to_do() {
        let of = |kind: io::ErrorKind| PathError::on("create", Path::new("/a"))(kind.into());
        let full = of(io::ErrorKind::StorageFull).to_string();
        assert!(full.starts_with("cannot create `/a` (") && full.ends_with(MAKE_ROOM));
        let missing = of(io::ErrorKind::NotFound).to_string();
        assert!(!missing.contains(MAKE_ROOM) && missing.ends_with(CHECK_NAME));
        let refused = of(io::ErrorKind::PermissionDenied).to_string();
        assert!(refused.ends_with(NAME_ANOTHER), "{refused}");
    }
}

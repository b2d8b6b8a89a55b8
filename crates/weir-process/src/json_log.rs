//! Logs of JSON lines that only their owner may read, and that are only ever appended to.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::Serialize;

use crate::create_private_directory;

/// Appends `record` to the log at `path` as a line of JSON; the log, and directories above it, are made if need be.
/// A durable line is on the disk when this returns.
///
/// # Errors
///
/// A record that is no plain data, or a log that cannot be made or written.
pub fn append_json_line(path: &Path, record: &impl Serialize, is_durable: bool) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        create_private_directory(parent).map_err(|error| error.source)?;
    }
    let mut line = serde_json::to_string(record)?;
    line.push('\n');
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let mut file = options.open(path)?;
    file.write_all(line.as_bytes())?;
    if is_durable { file.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn lines_follow_one_another_for_their_owner_only() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b.jsonl");
        append_json_line(&path, &["one"], true).unwrap();
        append_json_line(&path, &2, false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[\"one\"]\n2\n");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }
}

//! Content of the drive when a recording begins.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Calls `entry` with inode number and relative path of all that is below `root`, each directory
/// before what is in it; a hard link appears under each of its names.
pub(super) fn walk(root: &Path, mut entry: impl FnMut(u64, PathBuf)) -> io::Result<()> {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for found in std::fs::read_dir(root.join(&folder))? {
            let found = found?;
            let metadata = found.metadata()?;
            let path = folder.join(found.file_name());
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            entry(metadata.ino(), path);
        }
    }
    Ok(())
}

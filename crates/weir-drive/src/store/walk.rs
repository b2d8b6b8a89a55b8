//! All regular files below a directory.

use std::collections::HashSet;
use std::fs::Metadata;
use std::io::Result;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Unit of `st_blocks` (stat(2)).
const STAT_BLOCK_BYTES: u64 = 512;

/// Visits each regular file below `path` once, whatever number of names it has.
pub(crate) fn each_file(path: &Path, mut visit: impl FnMut(&Path, &Metadata)) -> Result<()> {
    let mut seen = HashSet::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if metadata.is_file() && seen.insert(metadata.ino()) {
                visit(&entry.path(), &metadata);
            }
        }
    }
    Ok(())
}

/// Bytes that a file occupies, without its holes.
pub(crate) fn allocated_bytes(metadata: &Metadata) -> u64 {
    metadata.blocks() * STAT_BLOCK_BYTES
}

//! Holes in the place of zeroes: most of a new tablespace is zeroes, and every crash state is a copy.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use weir_process::PathError;

use crate::error::CrashError;

/// Unit of holes in file systems, bytes.
const BLOCK_BYTES: usize = 4096;

/// Makes holes of the zeroes in the files below `directory`: they read as before and take no room.
pub(crate) fn dig(directory: &Path) -> Result<(), CrashError> {
    for entry in fs::read_dir(directory).map_err(PathError::on("read", directory))? {
        let path = entry.map_err(PathError::on("read", directory))?.path();
        if path.is_dir() {
            dig(&path)?;
        } else if path.is_file() {
            dig_in(&path).map_err(PathError::on("read", &path))?;
        }
    }
    Ok(())
}

fn dig_in(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut block = [0; BLOCK_BYTES];
    let mut at = 0;
    let mut zeroes_from = None;
    while file.read_exact(&mut block).is_ok() {
        let is_zero = block == [0; BLOCK_BYTES];
        match (is_zero, zeroes_from) {
            (true, None) => zeroes_from = Some(at),
            (false, Some(from)) => {
                make_hole(&file, from, at);
                zeroes_from = None;
            }
            _ => {}
        }
        at += BLOCK_BYTES as u64;
    }
    if let Some(from) = zeroes_from {
        make_hole(&file, from, at);
    }
    Ok(())
}

/// A file system that has no holes keeps its zeroes.
fn make_hole(file: &File, from: u64, to: u64) {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let _ = fallocate(file, flags, from, to - from);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_file_reads_as_before_and_takes_less() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sub/undo_001");
        fs::create_dir(path.parent().unwrap()).unwrap();
        let mut bytes = vec![0; 64 * BLOCK_BYTES + 100];
        bytes[10 * BLOCK_BYTES] = 1;
        bytes[64 * BLOCK_BYTES + 99] = 2;
        fs::write(&path, &bytes).unwrap();
        dig(directory.path()).unwrap();
        assert!(fs::read(&path).unwrap() == bytes);
        let blocks = fs::metadata(&path).unwrap().blocks() * 512;
        assert!(blocks <= 3 * BLOCK_BYTES as u64, "{blocks}");
    }
}

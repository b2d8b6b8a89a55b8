//! Files that were not read yet, as far as the host's page cache knows.

use std::fs::{self, File};
use std::path::Path;

use rustix::fs::{Advice, fadvise};
use weir_process::PathError;

use crate::ServerError;

/// Drops the files of `directory` from the host's page cache; pages that are not on the medium yet stay
/// (`posix_fadvise(2)`).
///
/// # Errors
///
/// A file that cannot be opened.
pub fn make_cold(directory: &Path) -> Result<(), ServerError> {
    let entries = fs::read_dir(directory).map_err(PathError::on("read", directory))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let kind = entry.file_type().map_err(PathError::on("read", &path))?;
        if kind.is_dir() {
            make_cold(&path)?;
        } else if kind.is_file() {
            let file = File::open(&path).map_err(PathError::on("read", &path))?;
            let dropped = fadvise(&file, 0, None, Advice::DontNeed);
            dropped.map_err(|errno| PathError::on("read", &path)(errno.into()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::IoSliceMut;
    use std::time::{Duration, Instant};

    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    use super::*;

    /// Returns the bytes that a read finds without waiting for the storage.
    fn cached(file: &File) -> Result<usize, Errno> {
        let mut buffer = [0; 4096];
        preadv2(
            file,
            &mut [IoSliceMut::new(&mut buffer)],
            0,
            ReadWriteFlags::NOWAIT,
        )
    }

    #[test]
    fn what_is_on_the_medium_has_to_be_read_again() {
        // Beside the test program: a temporary directory may be in memory, where nothing can be dropped.
        let program = std::env::current_exe().unwrap();
        let directory = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let path = directory.path().join("sub/t.ibd");
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(&path, vec![7; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        assert_eq!(cached(&file), Ok(4096));
        // The kernel may hold a page that it has just written a moment longer.
        let limit = Instant::now() + Duration::from_mins(1);
        while cached(&file) != Err(Errno::AGAIN) {
            assert!(Instant::now() < limit, "the file stays in the page cache");
            make_cold(directory.path()).unwrap();
        }
    }
}

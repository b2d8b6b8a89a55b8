//! Storage of the data: the space left there (`statvfs(3)`) and the block device below.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use weir_model::metrics;

use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

/// The file system below a path.
#[derive(Debug)]
pub(super) struct Storage(PathBuf);

impl Storage {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }
}

impl Part<()> for Storage {
    fn name(&self) -> &'static str {
        "space left for the data"
    }

    fn read(&mut self, (): &mut (), readings: &mut Readings) -> Result<(), ProbeError> {
        let space = rustix::fs::statvfs(&self.0)
            .map_err(io::Error::from)
            .map_err(ProbeError::read(&self.0))?;
        let available = space.f_bavail as f64 * space.f_frsize as f64;
        readings.add(metrics::HOST_STORAGE_AVAILABLE, available);
        Ok(())
    }
}

/// The whole block device that `path` is on, by its name in `/proc/diskstats`; `None` in memory and
/// on file systems without a device of their own (`sysfs(5)`, `/sys/dev/block`).
pub fn block_device(path: &Path) -> Option<String> {
    let device = fs::metadata(path).ok()?.dev();
    let number = (rustix::fs::major(device), rustix::fs::minor(device));
    let link = format!("/sys/dev/block/{}:{}", number.0, number.1);
    let mut folder = fs::canonicalize(link).ok()?;
    if folder.join("partition").exists() {
        folder.pop();
    }
    Some(folder.file_name()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_on_no_device() {
        assert_eq!(block_device(Path::new("/dev/shm")), None);
        assert_eq!(block_device(Path::new("/no/such/place")), None);
        let names = fs::read_dir("/sys/block").unwrap().flatten();
        let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        let found = block_device(&std::env::temp_dir());
        assert!(found.is_none_or(|name| names.contains(&name.into())));
    }
}

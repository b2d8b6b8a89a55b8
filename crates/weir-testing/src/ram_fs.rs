//! A file system without direct I/O.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skipped;

/// Memory as a file system that knows no `O_DIRECT`, mounted until this is dropped.
#[derive(Debug)]
pub struct RamFs(PathBuf);

impl RamFs {
    /// Mounts it on a folder. `None` where the user may not; the test counts as left out.
    pub fn mount(at: &Path) -> Option<Self> {
        let mut command = Command::new("mount");
        let mounted = command.args(["-t", "ramfs", "ramfs"]).arg(at).output();
        let mounted = mounted.ok().filter(|output| output.status.success());
        if mounted.is_none() {
            skipped(
                "a file system without O_DIRECT",
                "this user may not mount ramfs",
            );
        }
        mounted.map(|_| Self(at.to_owned()))
    }
}

impl Drop for RamFs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

//! Temporary files of the server while an event lasts: `proc_pid_fd(5)` shows open files, also those without a name.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use weir_model::TemporaryFiles;

use crate::target::OwnServer;

/// Bytes of a block in `st_blocks` (`stat(2)`).
const BLOCK_BYTES: u64 = 512;
/// Suffix that the kernel adds to the name of a file that has none any more.
const DELETED: &str = " (deleted)";

/// Looks at the open files of a server of Weir's own.
pub(super) struct OpenFiles {
    server: OwnServer,
    seen: TemporaryFiles,
    folders: BTreeSet<String>,
}

impl OpenFiles {
    pub(super) fn new(server: &OwnServer) -> Self {
        Self {
            server: server.clone(),
            seen: TemporaryFiles {
                off_drive_peak_bytes: server.drive.as_ref().map(|_| 0),
                ..TemporaryFiles::default()
            },
            folders: BTreeSet::new(),
        }
    }

    /// Adds what is open now. A server that has ended has nothing open.
    pub(super) fn look(&mut self) {
        let (mut temporary, mut off_drive) = (0, 0);
        let folder = PathBuf::from(format!("/proc/{}/fd", self.server.server.pid()));
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(target) = fs::read_link(entry.path()) else {
                continue;
            };
            // Sockets, pipes and devices have no folder on a disk.
            let file = fs::metadata(entry.path())
                .ok()
                .filter(fs::Metadata::is_file);
            let Some(bytes) = file.map(|file| file.blocks() * BLOCK_BYTES) else {
                continue;
            };
            match self.side(&target) {
                Side::Temporary => temporary += bytes,
                Side::OffDrive => {
                    off_drive += bytes;
                    let parent = target.parent().unwrap_or(&target);
                    self.folders.insert(parent.display().to_string());
                }
                Side::Other => {}
            }
        }
        self.seen.peak_bytes = self.seen.peak_bytes.max(temporary);
        if let Some(peak) = &mut self.seen.off_drive_peak_bytes {
            *peak = (*peak).max(off_drive);
        }
    }

    fn side(&self, target: &Path) -> Side {
        let text = target.to_string_lossy();
        let path = Path::new(text.strip_suffix(DELETED).unwrap_or(&text));
        let OwnServer { drive, home, .. } = &self.server;
        let root = drive.clone().unwrap_or_else(|| home.join("backing"));
        if path.starts_with(root.join("tmp")) {
            return Side::Temporary;
        }
        // Nor have files of memory and of the kernel.
        let is_memory = path.starts_with("/memfd:") || text.starts_with("/[");
        let is_kernels = path.starts_with("/proc") || path.starts_with("/sys");
        let is_own_log = path.starts_with(home.join("server"));
        if drive.is_none() || is_memory || is_kernels || is_own_log || path.starts_with(root) {
            return Side::Other;
        }
        Side::OffDrive
    }

    pub(super) fn end(self) -> TemporaryFiles {
        TemporaryFiles {
            off_drive: self.folders.into_iter().collect(),
            ..self.seen
        }
    }
}

/// Directory of a file.
enum Side {
    /// In the server's temporary directory.
    Temporary,
    /// Elsewhere, although a drive is emulated.
    OffDrive,
    /// Data and logs.
    Other,
}

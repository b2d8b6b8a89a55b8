//! Folder of one run, and the files in it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation};
use weir_process::PathError;

use super::error::PowercutError;
use super::lane::{LANES, Lane};
use super::order::WriteOrder;
use super::record::Record;
use super::run_id::RunId;

const PREFIX: &str = "weir-powercut-";
/// File that a writer leaves which ended before any cut.
const ENDED: &str = "ended";

/// Folder of one run: a new one, below the folder that the user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunDirectory {
    pub(crate) run: RunId,
    pub(crate) path: PathBuf,
}

impl RunDirectory {
    pub(crate) fn new(parent: &Path, run: RunId) -> Self {
        Self {
            run,
            path: parent.join(format!("{PREFIX}{run}")),
        }
    }

    /// Returns the runs whose folders lie in `parent`, by their ids.
    pub(crate) fn find(parent: &Path) -> Result<Vec<Self>, PathError> {
        let entries = fs::read_dir(parent).map_err(PathError::on("read", parent))?;
        let mut found = Vec::new();
        for entry in entries {
            let name = entry.map_err(PathError::on("read", parent))?.file_name();
            let name = name.to_string_lossy();
            let run = name.strip_prefix(PREFIX).map(str::parse);
            if let Some(Ok(run)) = run {
                found.push(Self::new(parent, run));
            }
        }
        found.sort_by_key(|found| found.run);
        Ok(found)
    }

    /// Notes that the writer ended before any cut, for a check whose witness did not hear of it.
    pub(crate) fn mark_ended(&self) -> io::Result<()> {
        File::create(self.path.join(ENDED))?.sync_all()?;
        File::open(&self.path)?.sync_all()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.path.join(ENDED).exists()
    }

    /// Locks the folder for its writer, until the returned file is closed.
    pub(crate) fn lock(&self) -> io::Result<File> {
        let folder = File::open(&self.path)?;
        rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
        Ok(folder)
    }

    /// Returns true if its writer is still at work.
    pub(crate) fn is_locked(&self) -> bool {
        let locked = self.lock();
        locked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    pub(crate) fn file(&self, lane: &Lane) -> PathBuf {
        self.path.join(lane.file_name())
    }

    /// Makes the folder with the files of `lanes`, each filled with its first writes and flushed.
    pub(crate) fn create(
        &self,
        lanes: &[(u16, Lane)],
        order: WriteOrder,
    ) -> Result<(), PowercutError> {
        let mut folder = fs::DirBuilder::new();
        let made = folder.mode(0o700).create(&self.path);
        made.map_err(PathError::on("create", &self.path))?;
        for (number, lane) in lanes {
            let path = self.file(lane);
            let filled = self.fill(&path, (*number, lane), order);
            filled.map_err(PathError::on("fill", &path))?;
        }
        let parent = self.path.parent().unwrap_or(&self.path);
        for folder in [self.path.as_path(), parent] {
            let flushed = File::open(folder).and_then(|folder| folder.sync_all());
            flushed.map_err(PathError::on("flush", folder))?;
        }
        Ok(())
    }

    fn fill(&self, path: &Path, (number, lane): (u16, &Lane), order: WriteOrder) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let bytes = order.pages() * lane.page.0;
        // Where the file system cannot, the writes below do it.
        let _ = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes);
        let mut page = vec![0; lane.page.0 as usize];
        for sequence in 1..=order.pages() {
            let record = Record {
                run: self.run,
                lane: number,
                page: order.page(sequence) as u32,
                sequence,
                flushed: [0; LANES],
            };
            record.encode(&mut page);
            file.write_all_at(&page, u64::from(record.page) * lane.page.0)?;
        }
        file.sync_all()
    }
}

//! The file beside the result that tells where a running study is.
//!
//! It is small and written anew, whole, about once a second, so that a reader needs neither the
//! writer nor its past; and it is there only while the study runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use weir_process::PathError;

use crate::progress::{Progress, ProgressError};

/// Name in the folder of the result.
pub const PROGRESS_FILE: &str = "progress.json";

/// The file of a study that this process runs; removed when this is dropped.
#[derive(Debug)]
pub struct ProgressFile {
    folder: PathBuf,
}

impl ProgressFile {
    /// Takes the folder of a result for the study that `progress` is about.
    ///
    /// # Errors
    /// If the folder cannot be made, or another study runs in it.
    pub fn create(folder: &Path, progress: &Progress) -> Result<Self, ProgressError> {
        if let Some(other) = Self::read(folder) {
            return Err(ProgressError::FolderInUse {
                path: folder.to_owned(),
                pid: other.writer.pid,
            });
        }
        fs::create_dir_all(folder).map_err(PathError::on("create", folder))?;
        let file = Self {
            folder: folder.to_owned(),
        };
        file.write(progress)
            .map_err(PathError::on("write", folder))?;
        Ok(file)
    }

    /// Replaces what the file says.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, progress: &Progress) -> io::Result<()> {
        let aside = self.folder.join("progress.json.new");
        fs::write(&aside, serde_json::to_vec(progress)?)?;
        fs::rename(&aside, self.folder.join(PROGRESS_FILE))
    }

    /// The study that runs in `folder`; `None` without one, also if its process was killed.
    pub fn read(folder: &Path) -> Option<Progress> {
        let text = fs::read(folder.join(PROGRESS_FILE)).ok()?;
        let progress: Progress = serde_json::from_slice(&text).ok()?;
        progress.writer.is_alive().then_some(progress)
    }
}

impl Drop for ProgressFile {
    fn drop(&mut self) {
        // Whatever fails here, a reader sees that the writer has ended.
        let _ = fs::remove_file(self.folder.join(PROGRESS_FILE));
        // Only if nothing was stored: the folder of a result is not empty.
        let _ = fs::remove_dir(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> Progress {
        let text = serde_json::json!({
            "version": 1, "writer": weir_process::ProcessIdentity::current(),
            "title": "t", "question": "q", "started_at": "", "step": { "name": "preparing" },
            "runs_done": 0, "runs_total": 2, "time_left_s": 9, "run": null, "finished": [],
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_folder_belongs_to_one_running_study_and_is_left_as_it_was() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("results/a");
        let file = ProgressFile::create(&folder, &progress()).unwrap();
        assert_eq!(ProgressFile::read(&folder), Some(progress()));
        let error = ProgressFile::create(&folder, &progress()).unwrap_err();
        assert!(error.to_string().contains("is in use"), "{error}");
        drop(file);
        assert!(!folder.exists(), "nothing was stored");
    }

    #[test]
    fn a_study_whose_process_has_ended_does_not_run() {
        let home = tempfile::tempdir().unwrap();
        let mut dead = progress();
        dead.writer.started_ticks += 1;
        let file = ProgressFile::create(home.path(), &dead).unwrap();
        assert_eq!(ProgressFile::read(home.path()), None);
        // Its folder can be taken over, as --resume does.
        let again = ProgressFile::create(home.path(), &progress()).unwrap();
        assert!(ProgressFile::read(home.path()).is_some());
        drop((file, again));
    }
}

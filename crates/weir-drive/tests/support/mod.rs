//! A drive on a temporary directory, for the tests of this folder.
#![allow(dead_code)] // Each test file uses its own part.
#![allow(clippy::unwrap_used)] // A test's tools fail as a test does.

pub(crate) mod random_operations;

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use weir_drive::{DriveError, DriveProcess, MountOptions};

/// The process that serves drives in these tests.
pub(crate) const EXECUTABLE: &str = env!("CARGO_BIN_EXE_drive-process");

/// The file of a drive's own profile, in its folder.
const CHANGED_PROFILE: &str = "changed.toml";

/// A mounted drive with its directories, all gone when it is dropped.
pub(crate) struct Drive {
    // Fields are dropped in this order: unmounted first, removed then.
    pub(crate) process: DriveProcess,
    pub(crate) folder: TempDir,
}

impl Drive {
    /// A drive without any latency.
    pub(crate) fn null() -> Self {
        Self::mount(|options| options).unwrap()
    }

    /// A drive of the `null` profile with other options.
    pub(crate) fn mount(
        change: impl FnOnce(MountOptions) -> MountOptions,
    ) -> Result<Self, DriveError> {
        let folder = memory_folder();
        let options = change(options(&folder, "null"));
        let process = DriveProcess::mount(Path::new(EXECUTABLE), &options)?;
        Ok(Self { process, folder })
    }

    /// A drive whose profile is `null` with `changes` (old text, new text).
    pub(crate) fn with_profile(changes: &[(&str, &str)]) -> Result<Self, DriveError> {
        let folder = memory_folder();
        let profile = write_profile(folder.path(), changes);
        let options = options(&folder, profile.to_str().unwrap());
        let process = DriveProcess::mount(Path::new(EXECUTABLE), &options)?;
        Ok(Self { process, folder })
    }

    /// A path on the drive.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.process.mountpoint().join(name)
    }

    /// A new file on the drive, open for reading and writing with `flags` of open(2).
    pub(crate) fn create(&self, name: &str, flags: i32) -> File {
        open(&self.path(name), flags)
    }
}

/// Ends the drive's process as a crash of it does, and removes the dead mount; with what is
/// returned it is mounted again.
pub(crate) fn kill(drive: Drive) -> (MountOptions, TempDir) {
    let Drive { process, folder } = drive;
    let pid = rustix::process::Pid::from_raw(process.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let mountpoint = process.mountpoint().to_owned();
    let patience = Instant::now() + Duration::from_secs(10);
    while std::fs::metadata(&mountpoint).is_ok() {
        assert!(Instant::now() < patience, "a dead drive still answers");
        std::thread::sleep(Duration::from_millis(5));
    }
    process.unmount().unwrap();
    assert!(!weir_process::is_mounted(&mountpoint));
    let changed = folder.path().join(CHANGED_PROFILE);
    let profile = changed.is_file().then(|| changed.to_str().unwrap());
    (options(&folder, profile.unwrap_or("null")), folder)
}

/// The profile `null` with `changes`, as a file in `folder`.
pub(crate) fn write_profile(folder: &Path, changes: &[(&str, &str)]) -> PathBuf {
    let mut text = include_str!("../../../../drives/null.toml").to_owned();
    for (old, new) in changes {
        assert!(text.contains(old), "the null profile has no `{old}`");
        text = text.replacen(old, new, 1);
    }
    let path = folder.join(CHANGED_PROFILE);
    std::fs::write(&path, text).unwrap();
    path
}

/// Opens or creates `path` for reading and writing with `flags` of open(2).
pub(crate) fn open(path: &Path, flags: i32) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.custom_flags(flags).open(path).unwrap()
}

/// A memory-backed folder where there is one: the tests are about the drive, not the host's disk.
pub(crate) fn memory_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let builder = tempfile::Builder::new()
        .prefix("weir-drive-test-")
        .to_owned();
    if memory.is_dir() {
        builder.tempdir_in(memory).unwrap()
    } else {
        builder.tempdir().unwrap()
    }
}

pub(crate) fn options(folder: &TempDir, profile: &str) -> MountOptions {
    MountOptions::new(
        profile,
        folder.path().join("backing"),
        folder.path().join("mount"),
    )
}

/// The system's number of what went wrong.
pub(crate) fn errno<T: std::fmt::Debug>(result: std::io::Result<T>) -> i32 {
    result.unwrap_err().raw_os_error().unwrap()
}

/// Blocks of 512 bytes that a file occupies.
pub(crate) fn blocks(file: impl AsFd) -> i64 {
    rustix::fs::fstat(file).unwrap().st_blocks
}

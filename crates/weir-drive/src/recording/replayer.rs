//! A recording, applied to a directory.
//!
//! An operation on something that has no name any more does nothing, nor does one whose directory
//! the caller left out. Owners are not replayed: what is created belongs to this process.
//!
//! A recording is a file, which may be damaged or a stranger's. Nothing outside of the directory is touched:
//! no symbolic link is followed, and nothing but a regular file is opened, so that no pipe is waited for.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, RenameFlags};

use super::names::Names;
use super::{Data, Event, Node, Operation, Place};
use crate::DriveError;
use crate::store::allocate;

/// Files that are kept open for the next write.
const OPEN_MAX: usize = 64;

/// Applies operations to a directory that began as a copy of what the drive held.
#[derive(Debug)]
pub struct Replayer {
    root: PathBuf,
    names: Names,
    open: HashMap<u64, File>,
    buffer: Vec<u8>,
}

impl Replayer {
    /// Applies to `root`, which holds what [`crate::Recording::base`] lists.
    pub fn new(root: impl Into<PathBuf>, base: &[(u64, PathBuf)]) -> Self {
        Self::with_names(root.into(), Names::from_list(base))
    }

    /// Goes on from the same state in `root`, a copy of this one's directory.
    #[must_use]
    pub fn rebased(&self, root: impl Into<PathBuf>) -> Self {
        Self::with_names(root.into(), self.names.clone())
    }

    fn with_names(root: PathBuf, names: Names) -> Self {
        Self {
            root,
            names,
            open: HashMap::new(),
            buffer: Vec::new(),
        }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of `file` from the root, by the oldest of its names; `None` if it has none now.
    pub fn path(&self, file: u64) -> Option<PathBuf> {
        self.names.path(file)
    }

    /// Applies the whole operation.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, or an operation that does not fit those before it.
    pub fn apply(&mut self, event: &Event) -> Result<(), DriveError> {
        match &event.operation {
            Operation::Write {
                file, offset, data, ..
            } => self.write_part(*file, *offset, data),
            Operation::Flush { .. } | Operation::Done { .. } => Ok(()),
            Operation::Create { file, at, node } => self.create(*file, at, node),
            Operation::Link { file, at } => self.link(*file, at),
            Operation::Rename { from, to, flags } => self.rename(from, to, *flags),
            Operation::Remove { at, is_directory } => self.remove(at, *is_directory),
            Operation::Truncate { file, bytes } => {
                self.with_file(*file, "truncate", |open| open.set_len(*bytes))
            }
            Operation::Allocate {
                file,
                mode,
                offset,
                bytes,
            } => self.with_file(*file, "allocate", |open| {
                check_room(open, *mode, *bytes)?;
                Ok(allocate(open, *mode, *offset, *bytes)?)
            }),
            Operation::SetMode { file, mode } => self.set_mode(*file, *mode),
        }
    }

    /// Writes `data`, a write's or a part of them, into `file` from byte `offset` on.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write_part(&mut self, file: u64, offset: u64, data: &Data) -> Result<(), DriveError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        data.read_into(&mut buffer)?;
        let written = self.with_file(file, "write", |open| open.write_all_at(&buffer, offset));
        self.buffer = buffer;
        written
    }

    /// Calls `change` with `file`, if it still has a name.
    fn with_file(
        &mut self,
        file: u64,
        action: &'static str,
        change: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), DriveError> {
        let Some(path) = self.absolute(file)? else {
            return Ok(());
        };
        let opened = match self.open.get(&file) {
            Some(open) => change(open),
            None => open_file(&path).and_then(|open| change(self.keep_open(file, open))),
        };
        opened.map_err(DriveError::path(action, &path))
    }

    fn keep_open(&mut self, file: u64, open: File) -> &File {
        if self.open.len() >= OPEN_MAX {
            self.open.clear();
        }
        self.open.entry(file).insert_entry(open).into_mut()
    }

    fn create(&mut self, file: u64, at: &Place, node: &Node) -> Result<(), DriveError> {
        let Some(path) = self.absolute_of(at)? else {
            return Ok(());
        };
        // The number may be that of a file that is gone.
        self.open.remove(&file);
        let created = match node {
            Node::File { mode } => OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(*mode)
                .open(&path)
                .and_then(|open| {
                    // Not subject to this process's umask.
                    open.set_permissions(Permissions::from_mode(*mode))?;
                    self.keep_open(file, open);
                    Ok(())
                }),
            Node::Directory { mode } => std::fs::DirBuilder::new()
                .mode(*mode)
                .create(&path)
                .and_then(|()| set_permissions(&path, *mode)),
            Node::Symlink { target } => std::os::unix::fs::symlink(target, &path),
            Node::Special { mode, device } => {
                let kind = FileType::from_raw_mode(*mode);
                let bits = Mode::from_raw_mode(*mode);
                rustix::fs::mknodat(CWD, &path, kind, bits, *device)
                    .map_err(io::Error::from)
                    .and_then(|()| set_permissions(&path, *mode))
            }
        };
        created.map_err(DriveError::path("create", &path))?;
        self.names.add(file, at.clone());
        Ok(())
    }

    fn link(&mut self, file: u64, at: &Place) -> Result<(), DriveError> {
        let (Some(existing), Some(path)) = (self.absolute(file)?, self.absolute_of(at)?) else {
            return Ok(());
        };
        std::fs::hard_link(existing, &path).map_err(DriveError::path("link", &path))?;
        self.names.add(file, at.clone());
        Ok(())
    }

    fn rename(&mut self, from: &Place, to: &Place, flags: u32) -> Result<(), DriveError> {
        let (Some(old), Some(new)) = (self.absolute_of(from)?, self.absolute_of(to)?) else {
            return Ok(());
        };
        let flags_known = RenameFlags::from_bits_retain(flags);
        let renamed = rustix::fs::renameat_with(CWD, &old, CWD, &new, flags_known);
        renamed.map_err(|error| DriveError::path("rename", &old)(error.into()))?;
        let lost = self.names.rename(from, to, flags);
        self.close(lost);
        Ok(())
    }

    fn remove(&mut self, at: &Place, is_directory: bool) -> Result<(), DriveError> {
        let Some(path) = self.absolute_of(at)? else {
            return Ok(());
        };
        let removed = if is_directory {
            std::fs::remove_dir(&path)
        } else {
            std::fs::remove_file(&path)
        };
        removed.map_err(DriveError::path("remove", &path))?;
        let lost = self.names.remove(at);
        self.close(lost);
        Ok(())
    }

    fn set_mode(&self, file: u64, mode: u32) -> Result<(), DriveError> {
        let Some(path) = self.absolute(file)? else {
            return Ok(());
        };
        let is_link = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        if is_link {
            // As on the drive: a link's mode cannot be set, only that of the file behind it.
            return Ok(());
        }
        set_permissions(&path, mode).map_err(DriveError::path("set the mode of", &path))
    }

    fn close(&mut self, lost: Option<u64>) {
        if let Some(file) = lost {
            self.open.remove(&file);
        }
    }

    fn absolute(&self, file: u64) -> Result<Option<PathBuf>, DriveError> {
        self.inside(self.names.path(file))
    }

    fn absolute_of(&self, place: &Place) -> Result<Option<PathBuf>, DriveError> {
        self.inside(self.names.path_of(place))
    }

    /// Returns the path of `relative` below the root; an error if something on the way is no
    /// directory.
    fn inside(&self, relative: Option<PathBuf>) -> Result<Option<PathBuf>, DriveError> {
        let Some(relative) = relative else {
            return Ok(None);
        };
        // Without the path itself and the root.
        for folder in relative
            .ancestors()
            .skip(1)
            .filter(|folder| *folder != Path::new(""))
        {
            let path = self.root.join(folder);
            let found = std::fs::symlink_metadata(&path);
            if found.is_ok_and(|found| !found.is_dir()) {
                let error = io::Error::from(io::ErrorKind::NotADirectory);
                return Err(DriveError::path("enter", &path)(error));
            }
        }
        Ok(Some(self.root.join(relative)))
    }
}

/// Opens a regular file for writing. Opening anything else may wait, or do something.
fn open_file(path: &Path) -> io::Result<File> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        let why = "it is no regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    OpenOptions::new()
        .write(true)
        .custom_flags(flags)
        .open(path)
}

/// An allocation that the file system has no room for is refused before it fills what there is.
fn check_room(file: &File, mode: i32, bytes: u64) -> io::Result<()> {
    let room = rustix::fs::fstatvfs(file)?;
    let free_bytes = room.f_bavail.saturating_mul(room.f_frsize);
    if mode & libc::FALLOC_FL_PUNCH_HOLE == 0 && bytes > free_bytes {
        return Err(io::ErrorKind::StorageFull.into());
    }
    Ok(())
}

fn set_permissions(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(mode & 0o7777))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(replayer: &mut Replayer, operation: Operation) -> Result<(), String> {
        let event = Event {
            sequence: 0,
            at_ns: 0,
            operation,
        };
        replayer.apply(&event).map_err(|error| error.to_string())
    }

    fn create(file: u64, parent: u64, name: &str, node: Node) -> Operation {
        let at = Place::new(parent, name.as_ref());
        Operation::Create { file, at, node }
    }

    #[test]
    fn nothing_outside_of_the_directory_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        for path in [&root, &outside] {
            std::fs::create_dir(path).unwrap();
        }
        let mode = || outside.metadata().unwrap().permissions().mode();
        let before = mode();
        let mut replayer = Replayer::new(&root, &[]);
        let target = outside.clone();
        apply(&mut replayer, create(5, 1, "l", Node::Symlink { target })).unwrap();
        let error = apply(&mut replayer, create(6, 5, "t", Node::File { mode: 0o600 }));
        assert!(error.unwrap_err().contains("not a directory"));
        apply(&mut replayer, Operation::SetMode { file: 5, mode: 0 }).unwrap();
        apply(&mut replayer, Operation::Truncate { file: 5, bytes: 1 }).unwrap_err();
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(mode(), before);
    }

    #[test]
    fn no_pipe_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut replayer = Replayer::new(folder.path(), &[]);
        let pipe = Node::Special {
            mode: libc::S_IFIFO | 0o600,
            device: 0,
        };
        apply(&mut replayer, create(5, 1, "pipe", pipe)).unwrap();
        let error = apply(&mut replayer, Operation::Truncate { file: 5, bytes: 1 }).unwrap_err();
        assert!(error.contains("no regular file"), "{error}");
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_fills_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let mut replayer = Replayer::new(folder.path(), &[]);
        apply(&mut replayer, create(5, 1, "f", Node::File { mode: 0o600 })).unwrap();
        let allocate = Operation::Allocate {
            file: 5,
            mode: 0,
            offset: 0,
            bytes: 1 << 60,
        };
        apply(&mut replayer, allocate).unwrap_err();
        assert_eq!(folder.path().join("f").metadata().unwrap().len(), 0);
    }
}

//! Copies a directory tree: by reflink where the file system can, else extent by extent.
//!
//! `ioctl_ficlone(2)` shares the blocks, so size does not matter. Otherwise `copy_file_range(2)` copies
//! in the kernel, and lseek(2) with `SEEK_DATA` finds what there is to copy in sparse files.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::fs::{SeekFrom, copy_file_range, ioctl_ficlone, seek};
use rustix::io::Errno;
use weir_model::Bytes;

use super::space::{check_space, space_available, space_occupied};
use crate::ServerError;
use weir_process::{PathError, create_private_directory, create_private_file};

/// More threads do not make a disk faster, and two hide the latency of one another's fsync.
const THREADS: usize = 2;

/// One file to copy.
#[derive(Debug)]
struct Job {
    from: PathBuf,
    to: PathBuf,
    bytes: u64,
}

/// Copies all that is in `from` to the absent or empty directory `to`, by reflink where the file
/// system can, and flushes it to the medium.
///
/// On failure `to` is emptied. Links and special files (a socket) are passed over: data directories
/// have none that matter.
///
/// # Errors
///
/// A file that cannot be read or written, or no room.
pub fn copy_directory(from: &Path, to: &Path) -> Result<(), ServerError> {
    create_private_directory(to)?;
    copy_tree(from, to)
}

/// As [`copy_directory`], into an existing directory.
pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<(), ServerError> {
    let copied = plan(from, to).and_then(|jobs| run(jobs, from, to));
    if copied.is_err() {
        empty(to);
    }
    copied
}

/// Makes the directories and lists the files, the largest first.
fn plan(from: &Path, to: &Path) -> Result<VecDeque<Job>, ServerError> {
    let mut jobs = Vec::new();
    let mut directories = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = directories.pop() {
        let entries = fs::read_dir(&from).map_err(PathError::on("read", &from))?;
        for entry in entries {
            let entry = entry.map_err(PathError::on("read", &from))?;
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            let found = fs::symlink_metadata(&from).map_err(PathError::on("read", &from))?;
            if found.is_dir() {
                fs::create_dir(&to).map_err(PathError::on("create", &to))?;
                fs::set_permissions(&to, found.permissions())
                    .map_err(PathError::on("create", &to))?;
                directories.push((from, to));
            } else if found.is_file() {
                let bytes = found.len();
                jobs.push(Job { from, to, bytes });
            }
        }
    }
    // The largest first, so that no thread is left with a big one at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.bytes));
    Ok(jobs.into())
}

fn run(jobs: VecDeque<Job>, from: &Path, to: &Path) -> Result<(), ServerError> {
    let reflink = AtomicBool::new(match jobs.front() {
        Some(job) => can_reflink(job),
        None => false,
    });
    if !reflink.load(Ordering::Relaxed) {
        check_space(to, space_occupied(from)?)?;
    }
    let queue = Mutex::new(jobs);
    let failure = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(job) = next(&queue) {
                    if let Err(error) = copy_file(&job, &reflink) {
                        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                        queue.clear();
                        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                        failure.get_or_insert(PathError::on("copy to", &job.to)(error));
                    }
                }
            });
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

fn next(queue: &Mutex<VecDeque<Job>>) -> Option<Job> {
    queue
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop_front()
}

/// Tries a clone and takes it back: no file system says beforehand whether it can.
fn can_reflink(job: &Job) -> bool {
    let tried = File::open(&job.from)
        .and_then(|from| Ok((from, File::create(&job.to)?)))
        .map(|(from, to)| ioctl_ficlone(&to, &from).is_ok());
    let _ = fs::remove_file(&job.to);
    tried.unwrap_or(false)
}

/// Fails if copies do not fit that are there at the same time, some of them on the same file system. One that shares the
/// blocks of copies needs no space for them.
///
/// # Errors
///
/// Too little space, or a directory that is not there.
pub fn check_space_together(copies: &[(&Path, Bytes)]) -> Result<(), ServerError> {
    let device = |directory: &Path| fs::metadata(directory).map(|found| found.dev()).ok();
    for (directory, _) in copies {
        let is_beside = |(other, _): &&(&Path, Bytes)| device(other) == device(directory);
        let needed = copies.iter().filter(is_beside).map(|(_, bytes)| bytes.0);
        let (needed, available) = (Bytes(needed.sum()), space_available(directory)?);
        if available < needed && !shares_blocks(directory) {
            return Err(ServerError::SpaceOfCopies {
                path: (*directory).to_owned(),
                needed,
                available,
            });
        }
    }
    Ok(())
}

/// Returns true if copies of files on the file system of `directory` share their blocks.
fn shares_blocks(directory: &Path) -> bool {
    let [from, to] =
        ["from", "to"].map(|end| directory.join(format!(".weir-{}-{end}", std::process::id())));
    let job = Job { from, to, bytes: 0 };
    let shares = create_private_file(&job.from).is_ok() && can_reflink(&job);
    let _ = fs::remove_file(&job.from);
    shares
}

fn copy_file(job: &Job, reflink: &AtomicBool) -> io::Result<()> {
    let from = File::open(&job.from)?;
    let found = from.metadata()?;
    // No other user may look into the copy before it has the mode of the original.
    let to = create_private_file(&job.to)?;
    to.set_permissions(found.permissions())?;
    let cloned = reflink.load(Ordering::Relaxed) && ioctl_ficlone(&to, &from).is_ok();
    if !cloned {
        to.set_len(found.len())?;
        copy_extents(&from, &to, found.len())?;
    }
    to.sync_data()
}

/// Copies what is not a hole.
fn copy_extents(from: &File, to: &File, bytes: u64) -> io::Result<()> {
    let mut in_kernel = true;
    let mut position = 0;
    while position < bytes {
        let Some((start, end)) = next_extent(from, position, bytes)? else {
            break;
        };
        let mut at = start;
        if in_kernel {
            (at, in_kernel) = copy_in_kernel(from, to, start, end)?;
        }
        if !in_kernel {
            copy_through_memory(from, to, at, end)?;
        }
        position = end;
    }
    Ok(())
}

/// The next stretch of data at or after `position`.
fn next_extent(from: &File, position: u64, bytes: u64) -> io::Result<Option<(u64, u64)>> {
    let start = match seek(from, SeekFrom::Data(position)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        // A file system without holes says EINVAL or EOPNOTSUPP: all is data.
        Err(_) => return Ok(Some((position, bytes))),
    };
    let end = seek(from, SeekFrom::Hole(start)).map_err(io::Error::from)?;
    Ok(Some((start, end.min(bytes))))
}

/// Copies `start..end` with `copy_file_range`; where it stopped, and whether it is of use here.
fn copy_in_kernel(from: &File, to: &File, start: u64, end: u64) -> io::Result<(u64, bool)> {
    let mut at = start;
    while at < end {
        let (mut read_at, mut write_at) = (at, at);
        let length = usize::try_from(end - at).unwrap_or(usize::MAX);
        match copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), length) {
            Ok(0) => return Ok((at, false)),
            Ok(copied) => at += copied as u64,
            Err(Errno::INTR) => {}
            // Between file systems, or one that does not take part.
            Err(Errno::XDEV | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL | Errno::PERM) => {
                return Ok((at, false));
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok((at, true))
}

fn copy_through_memory(from: &File, to: &File, start: u64, end: u64) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    let mut at = start;
    while at < end {
        let length = buffer
            .len()
            .min(usize::try_from(end - at).unwrap_or(usize::MAX));
        let read = from.read_at(&mut buffer[..length], at)?;
        if read == 0 {
            return Err(io::Error::other(
                "the file became shorter while it was copied",
            ));
        }
        to.write_all_at(&buffer[..read], at)?;
        at += read as u64;
    }
    Ok(())
}

fn empty(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let _ = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_sparse_file_stays_sparse_and_keeps_its_mode() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("sub")).unwrap();
        fs::create_dir(&to).unwrap();
        let sparse = File::create(from.join("sub/undo")).unwrap();
        sparse.set_len(64 << 20).unwrap();
        sparse.write_all_at(b"middle", 32 << 20).unwrap();
        sparse.write_all_at(b"end", (64 << 20) - 3).unwrap();
        sparse
            .set_permissions(fs::Permissions::from_mode(0o640))
            .unwrap();
        copy_tree(&from, &to).unwrap();

        let copy = File::open(to.join("sub/undo")).unwrap();
        let found = copy.metadata().unwrap();
        assert_eq!((found.len(), found.mode() & 0o777), (64 << 20, 0o640));
        assert!(found.blocks() * 512 < 1 << 20, "{} blocks", found.blocks());
        let mut buffer = [0; 6];
        copy.read_exact_at(&mut buffer, 32 << 20).unwrap();
        assert_eq!(&buffer, b"middle");
        copy.read_exact_at(&mut buffer[..3], (64 << 20) - 3)
            .unwrap();
        assert_eq!(&buffer[..3], b"end");
    }

    #[test]
    fn copying_through_memory_gives_the_same_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
        let from = directory.path().join("from");
        fs::write(&from, &bytes).unwrap();
        let to = directory.path().join("to");
        let (from, copy) = (File::open(from).unwrap(), File::create(&to).unwrap());
        copy_through_memory(&from, &copy, 0, bytes.len() as u64).unwrap();
        assert!(fs::read(to).unwrap() == bytes);
    }

    #[test]
    fn a_copy_that_fails_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(&from).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("a"), "a").unwrap();
        // A directory in the place of a file stops the copy.
        fs::create_dir(to.join("a")).unwrap();
        assert!(copy_tree(&from, &to).is_err());
        assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
    }
}

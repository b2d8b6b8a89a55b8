//! Ends what a Weir that no longer lives has left behind.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::{
    Entry, EntryKind, PathError, ProcessError, ProcessIdentity, Registry, is_mounted, unmount,
};

/// One thing that a sweep ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SweptItem {
    /// A process, by its id.
    Process(EntryKind, u32),
    /// A mount.
    Mount(PathBuf),
    /// A directory.
    Directory(PathBuf),
}

/// Ends all that stands in the registry and whose owner is gone; returns what it ended.
///
/// Entries of living owners are not touched, so it is safe beside a running study.
///
/// # Errors
///
/// A registry that cannot be read, or a process, mount or directory that cannot be ended or removed.
pub fn sweep(registry: &Registry) -> Result<Vec<SweptItem>, ProcessError> {
    let mut swept = Vec::new();
    let mut leftovers: Vec<_> = registry
        .entries()?
        .into_iter()
        .filter(|(_, entry)| !entry.owner.is_alive())
        .collect();
    // Servers first, then the drives they write to, then the directories below the drives.
    leftovers.sort_by_key(|(_, entry)| match entry.kind {
        EntryKind::Server => 0,
        EntryKind::Drive => 1,
        EntryKind::Directory => 2,
    });
    for (file, entry) in leftovers {
        end(&entry, &mut swept)?;
        let _ = fs::remove_file(file);
    }
    Ok(swept)
}

fn end(entry: &Entry, swept: &mut Vec<SweptItem>) -> Result<(), ProcessError> {
    if let Some(process) = entry.process
        && end_process(process)?
    {
        swept.push(SweptItem::Process(entry.kind, process.pid));
    }
    if let Some(mountpoint) = &entry.mountpoint
        && is_mounted(mountpoint)
    {
        unmount(mountpoint)?;
        swept.push(SweptItem::Mount(mountpoint.clone()));
    }
    if let Some(directory) = &entry.directory
        && directory.exists()
    {
        fs::remove_dir_all(directory).map_err(PathError::on("remove", directory))?;
        swept.push(SweptItem::Directory(directory.clone()));
    }
    Ok(())
}

/// SIGTERM, five seconds of grace, SIGKILL. Whether there was a process to end.
fn end_process(process: ProcessIdentity) -> Result<bool, ProcessError> {
    if !process.signal(Signal::TERM)? {
        return Ok(false);
    }
    let grace_ends = Instant::now() + Duration::from_secs(5);
    while process.is_alive() && Instant::now() < grace_ends {
        std::thread::sleep(Duration::from_millis(20));
    }
    process.signal(Signal::KILL)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The identity of a process that has ended.
    fn ended() -> ProcessIdentity {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let identity = ProcessIdentity::for_pid(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        identity
    }

    #[test]
    fn leftovers_of_the_dead_go_and_those_of_the_living_stay() {
        let home = tempfile::tempdir().unwrap();
        let registry = Registry::at(&home.path().join("registry")).unwrap();
        let [left, wanted] = ["left", "wanted"].map(|name| home.path().join(name));
        fs::create_dir(&left).unwrap();
        fs::create_dir(&wanted).unwrap();
        let mut server = Command::new("sleep").arg("60").spawn().unwrap();
        let server_identity = ProcessIdentity::for_pid(server.id()).unwrap();
        let reaper = std::thread::spawn(move || server.wait().unwrap());

        let orphaned = Entry {
            owner: ended(),
            ..Entry::new(EntryKind::Server)
        };
        let server = Entry {
            process: Some(server_identity),
            ..orphaned.clone()
        };
        let leftover = Entry {
            kind: EntryKind::Directory,
            directory: Some(left.clone()),
            ..orphaned
        };
        let living = Entry {
            directory: Some(wanted.clone()),
            ..Entry::new(EntryKind::Directory)
        };
        let _records = [&server, &leftover, &living].map(|entry| registry.record(entry).unwrap());

        let swept = sweep(&registry).unwrap();
        assert_eq!(
            swept,
            [
                SweptItem::Process(EntryKind::Server, server_identity.pid),
                SweptItem::Directory(left.clone())
            ]
        );
        reaper.join().unwrap();
        assert!(!left.exists() && wanted.exists());
        assert_eq!(sweep(&registry).unwrap(), []);
    }
}

//! A limit of memory for a process: a control group of its own.
//!
//! Version 1 (`Documentation/admin-guide/cgroup-v1/memory.rst`) or 2 (`Documentation/admin-guide/
//! cgroup-v2.rst`), below the group in which this process is; whichever has the memory controller.
//! Empty groups whose maker has ended are removed when the next one is made.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{PathError, ProcessError};

/// Directory at which the kernel's control groups are mounted.
const ROOT: &str = "/sys/fs/cgroup";

/// Groups of Weir's.
const PREFIX: &str = "weir-";

/// A group with a limit; removed on drop if it is empty.
#[derive(Debug)]
pub struct MemoryGroup {
    path: PathBuf,
}

impl MemoryGroup {
    /// A group whose processes may have `limit_bytes` together, with the pages of files that they
    /// read.
    ///
    /// # Errors
    ///
    /// A system that lets this user make no control group with a limit of memory.
    pub fn create(limit_bytes: u64) -> Result<Self, ProcessError> {
        let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::create_below(Path::new(ROOT), &memberships, limit_bytes)
    }

    /// In the nearest group that lets this user make one.
    fn create_below(
        root: &Path,
        memberships: &str,
        limit_bytes: u64,
    ) -> Result<Self, ProcessError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let mut why = "no memory controller".to_owned();
        for (parent, limit_file) in places(root, memberships) {
            remove_abandoned(&parent);
            let path = parent.join(&name);
            let made = fs::create_dir(&path).and_then(|()| {
                let group = Self { path };
                fs::write(group.path.join(limit_file), limit_bytes.to_string())?;
                Ok(group)
            });
            match made {
                Ok(group) => return Ok(group),
                Err(error) => why = format!("{error} in `{}`", parent.display()),
            }
        }
        Err(ProcessError::MemoryLimit { limit_bytes, why })
    }

    /// Puts a process into the group, with all that it starts from now on.
    ///
    /// # Errors
    ///
    /// A process that is gone, or that the system does not let be moved.
    pub fn add(&self, pid: u32) -> Result<(), PathError> {
        let file = self.path.join("cgroup.procs");
        fs::write(&file, pid.to_string()).map_err(PathError::on("write", &file))
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // Refused while a process is in it: a server that goes on keeps its limit.
        let _ = fs::remove_dir(&self.path);
    }
}

/// The groups above which have a memory controller for those below them, nearest first, and the name of
/// the file that holds a limit, for a process with these `memberships` (`/proc/PID/cgroup`).
fn places(root: &Path, memberships: &str) -> Vec<(PathBuf, &'static str)> {
    let path_of = |controller: &str| -> Option<String> {
        memberships.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let controllers = fields.next()?;
            let is_it = controllers.split(',').any(|name| name == controller);
            is_it.then(|| fields.next().unwrap_or_default().to_owned())
        })
    };
    if let Some(own) = path_of("memory") {
        let root = root.join("memory");
        // Inside a container the path is the host's, which is not seen here.
        let below = root.join(own.trim_start_matches('/'));
        let parent = if below.is_dir() { below } else { root };
        return vec![(parent, "memory.limit_in_bytes")];
    }
    let Some(own) = path_of("") else {
        return Vec::new();
    };
    // A group with processes of its own has no controllers for others ("no internal processes"), so it is
    // usually one above this process's.
    let own = root.join(own.trim_start_matches('/'));
    let above = own.ancestors().take_while(|group| group.starts_with(root));
    above
        .filter(|group| {
            let controllers = fs::read_to_string(group.join("cgroup.subtree_control"));
            let controllers = controllers.unwrap_or_default();
            controllers.split_whitespace().any(|name| name == "memory")
        })
        .map(|group| (group.to_owned(), "memory.max"))
        .collect()
}

/// Groups whose maker has ended; the kernel refuses those that a process is in.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let maker = name
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.split_once('-'));
        if let Some((pid, _)) = maker
            && !Path::new("/proc").join(pid).exists()
        {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_that_of_the_version_that_has_the_controller() {
        let root = Path::new(ROOT);
        let first = places(root, "9:name=systemd:/\n4:memory:/nowhere\n0::/\n");
        assert_eq!(first, [(root.join("memory"), "memory.limit_in_bytes")]);
        assert_eq!(places(root, "3:cpuset:/\n"), []);
    }

    /// A tree as systemd makes it: the group of this process has processes, the slice above delegates.
    #[test]
    fn a_group_of_version_2_is_made_beside_that_of_this_process() {
        let root = tempfile::tempdir().unwrap();
        let slice = root.path().join("user.slice/app.slice");
        let own = slice.join("terminal.scope");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("cgroup.subtree_control"), "").unwrap();
        fs::write(slice.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let memberships = "0::/user.slice/app.slice/terminal.scope\n";
        let group = MemoryGroup::create_below(root.path(), memberships, 1 << 30).unwrap();
        assert_eq!(group.path().parent(), Some(slice.as_path()));
        let limit = fs::read_to_string(group.path().join("memory.max")).unwrap();
        assert_eq!(limit, (1 << 30).to_string());
        group.add(4711).unwrap();
        let members = fs::read_to_string(group.path().join("cgroup.procs")).unwrap();
        assert_eq!(members, "4711");
    }

    #[test]
    fn no_controller_and_no_leave_are_one_line_each() {
        let root = tempfile::tempdir().unwrap();
        for memberships in ["0::/\n", ""] {
            let refused = MemoryGroup::create_below(root.path(), memberships, 1 << 30);
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("no memory controller"), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
    }
}

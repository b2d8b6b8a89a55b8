//! A limit of memory for a process: a control group of its own.
//!
//! Version 1 (`Documentation/admin-guide/cgroup-v1/memory.rst`) or 2 (`Documentation/admin-guide/
//! cgroup-v2.rst`), below the group in which this process is; whichever has the memory controller.
//! Groups that nobody is in and whose maker has ended are removed when the next one is made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{PathError, ProcessError};

/// Where the kernel's control groups are mounted.
const ROOT: &str = "/sys/fs/cgroup";

/// Groups of Weir's.
const PREFIX: &str = "weir-";

/// A group with a limit; removed on drop if nobody is in it any more.
#[derive(Debug)]
pub struct MemoryGroup {
    path: PathBuf,
}

impl MemoryGroup {
    /// A group whose processes may have `limit_bytes` together, with the pages of files that they
    /// read.
    pub fn create(limit_bytes: u64) -> Result<Self, ProcessError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let refused = |why: String| ProcessError::MemoryLimit { limit_bytes, why };
        let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let (parent, limit_file) =
            place(&memberships).ok_or_else(|| refused("no memory controller".to_owned()))?;
        remove_abandoned(&parent);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let failed = |error: io::Error| refused(format!("{} in `{}`", error, parent.display()));
        fs::create_dir(&path).map_err(failed)?;
        let group = Self { path };
        fs::write(group.path.join(limit_file), limit_bytes.to_string()).map_err(failed)?;
        Ok(group)
    }

    /// Puts a process into the group, with all that it starts from now on.
    pub fn add(&self, pid: u32) -> Result<(), PathError> {
        let file = self.path.join("cgroup.procs");
        fs::write(&file, pid.to_string()).map_err(PathError::on("write", &file))
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // Refused while somebody is in it: a server that goes on keeps its limit.
        let _ = fs::remove_dir(&self.path);
    }
}

/// The group above, and the name of the file that holds a limit, for a process with these
/// `memberships` (`/proc/PID/cgroup`).
fn place(memberships: &str) -> Option<(PathBuf, &'static str)> {
    let paths = |controller: &str| -> Option<String> {
        memberships.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let controllers = fields.next()?;
            let is_it = controllers.split(',').any(|name| name == controller);
            is_it.then(|| fields.next().unwrap_or_default().to_owned())
        })
    };
    if let Some(own) = paths("memory") {
        let root = Path::new(ROOT).join("memory");
        // Inside a container the path is the host's, which is not seen here.
        let below = root.join(own.trim_start_matches('/'));
        let parent = if below.is_dir() { below } else { root };
        return Some((parent, "memory.limit_in_bytes"));
    }
    let own = paths("")?;
    let parent = Path::new(ROOT).join(own.trim_start_matches('/'));
    let controllers = fs::read_to_string(parent.join("cgroup.subtree_control")).ok()?;
    let has_memory = controllers.split_whitespace().any(|name| name == "memory");
    has_memory.then_some((parent, "memory.max"))
}

/// Groups whose maker has ended; the kernel refuses those that somebody is in.
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
        let first = place("9:name=systemd:/\n4:memory:/nowhere\n0::/\n").unwrap();
        assert_eq!(
            first,
            (Path::new(ROOT).join("memory"), "memory.limit_in_bytes")
        );
        assert_eq!(place("3:cpuset:/\n"), None);
    }
}

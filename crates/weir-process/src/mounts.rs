//! Mounts of emulated drives.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::mount::UnmountFlags;

use crate::{ProcessError, inherit_nothing};

/// The type under which drives appear in the mount table.
const FILE_SYSTEM_TYPE: &str = "fuse.weir";

/// The mount table of this process (`proc_pid_mountinfo(5)`).
const TABLE: &str = "/proc/self/mountinfo";

/// File systems that a power cut leaves nothing of.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// Options of a mount with which the kernel sends no flushes (ext4(5)).
const NO_FLUSHES: [&str; 2] = ["nobarrier", "barrier=0"];

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Directory of the mount.
    pub mountpoint: PathBuf,
    /// Type of the file system: `ext4`, `fuse.weir`.
    pub file_system: String,
    /// Device or server, as it was named: `/dev/sda1`.
    pub source: String,
    /// Options of the mount and of the file system: `rw`, `nobarrier`.
    pub options: Vec<String>,
}

impl Mount {
    /// The mount that `path` lies on; `None` where the table does not say.
    pub fn for_path(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let table = fs::read(TABLE).ok()?;
        let lines = table.split(|byte| *byte == b'\n');
        let above = lines
            .filter_map(Self::parse)
            .filter(|mount| path.starts_with(&mount.mountpoint));
        // Of two at one place the later lies above the other.
        above.max_by_key(|mount| mount.mountpoint.components().count())
    }

    /// Returns true if it is a drive that Weir emulates.
    pub fn is_drive(&self) -> bool {
        self.file_system == FILE_SYSTEM_TYPE
    }

    /// Returns true if a power cut leaves nothing of it.
    pub fn is_in_memory(&self) -> bool {
        IN_MEMORY.contains(&self.file_system.as_str())
    }

    /// The option with which the kernel sends no flushes to the device, if it is set.
    pub fn withholds_flushes(&self) -> Option<&str> {
        let mut options = self.options.iter().map(String::as_str);
        options.find(|option| NO_FLUSHES.contains(option))
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let mountpoint = OsString::from_vec(unescape(fields.nth(4)?)).into();
        let own = String::from_utf8_lossy(fields.next()?);
        let mut rest = fields.skip_while(|field| *field != b"-").skip(1);
        let file_system = String::from_utf8_lossy(rest.next()?).into_owned();
        let source = String::from_utf8_lossy(&unescape(rest.next()?)).into_owned();
        let shared = String::from_utf8_lossy(rest.next().unwrap_or_default());
        let options = own.split(',').chain(shared.split(','));
        Some(Self {
            mountpoint,
            file_system,
            source,
            options: options.map(str::to_owned).collect(),
        })
    }
}

/// Returns true if a drive of Weir's is mounted exactly at `path`.
pub fn is_mounted(path: &Path) -> bool {
    let table = fs::read(TABLE).unwrap_or_default();
    let mut mounts = table.split(|byte| *byte == b'\n').filter_map(Mount::parse);
    mounts.any(|mount| mount.mountpoint == path && mount.is_drive())
}

/// Unmounts the drive at `path`, lazily if files are still open on it; nothing if there is none.
///
/// # Errors
///
/// A mount that the system does not undo.
pub fn unmount(path: &Path) -> Result<(), ProcessError> {
    if !is_mounted(path) {
        return Ok(());
    }
    let direct = rustix::mount::unmount(path, UnmountFlags::DETACH);
    let Err(errno) = direct else { return Ok(()) };
    // Only root may call umount2(2); others go through the set-uid helper of fuse3.
    let mut helper = Command::new("fusermount3");
    let helper = inherit_nothing(helper.arg("-u").arg("-z").arg(path)).output();
    let reason = match helper {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(_) => errno.to_string(),
    };
    Err(ProcessError::Unmount {
        path: path.to_owned(),
        reason,
    })
}

/// Space, tab, newline and backslash stand as octal escapes in the mount table.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let code = after.get(..3).filter(|_| *first == b'\\');
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            plain.push(byte);
            rest = &after[3..];
        } else {
            plain.push(*first);
            rest = after;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_of_another_type_is_not_ours() {
        assert!(!is_mounted(Path::new("/proc")));
        assert!(unmount(Path::new("/proc")).is_ok());
        assert!(Path::new("/proc/self").exists());
    }

    #[test]
    fn a_line_of_the_mount_table_is_read_as_the_kernel_writes_it() {
        let line =
            b"36 35 98:0 / /mnt/a\\040b\\134c rw,noatime shared:1 - ext4 /dev/sda rw,nobarrier";
        let mount = Mount::parse(line).unwrap();
        assert_eq!(mount.mountpoint, Path::new("/mnt/a b\\c"));
        assert_eq!(mount.file_system, "ext4");
        assert_eq!(mount.source, "/dev/sda");
        assert_eq!(mount.options, ["rw", "noatime", "rw", "nobarrier"]);
        assert_eq!(mount.withholds_flushes(), Some("nobarrier"));
        assert!(!mount.is_in_memory());
        assert_eq!(Mount::parse(b"broken"), None);
    }

    #[test]
    fn a_path_lies_on_the_deepest_mount_above_it() {
        let mount = Mount::for_path(Path::new("/proc/self/status")).unwrap();
        assert_eq!(mount.file_system, "proc");
        assert!(!mount.is_drive());
        assert_eq!(Mount::for_path(Path::new("/no/such/place")), None);
    }
}

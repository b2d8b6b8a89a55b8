//! Mounts of emulated drives.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use rustix::mount::UnmountFlags;

use crate::ProcessError;

/// The type under which drives appear in the mount table.
const FILE_SYSTEM_TYPE: &str = "fuse.weir";

/// Whether a drive of Weir's is mounted exactly at `path` (`proc_pid_mountinfo(5)`).
pub fn is_mounted(path: &Path) -> bool {
    let Ok(table) = fs::read("/proc/self/mountinfo") else {
        return false;
    };
    let wanted = escape(path.as_os_str().as_bytes());
    table.split(|byte| *byte == b'\n').any(|line| {
        let mut fields = line.split(|byte| *byte == b' ');
        let mountpoint = fields.nth(4);
        let file_system = fields.skip_while(|field| *field != b"-").nth(1);
        mountpoint == Some(wanted.as_slice()) && file_system == Some(FILE_SYSTEM_TYPE.as_bytes())
    })
}

/// Unmounts the drive at `path`, lazily if files are still open on it; nothing if there is none.
pub fn unmount(path: &Path) -> Result<(), ProcessError> {
    if !is_mounted(path) {
        return Ok(());
    }
    let direct = rustix::mount::unmount(path, UnmountFlags::DETACH);
    let Err(errno) = direct else { return Ok(()) };
    // Only root may call umount2(2); others go through the set-uid helper of fuse3.
    let helper = Command::new("fusermount3")
        .arg("-u")
        .arg("-z")
        .arg(path)
        .output();
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
fn escape(path: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(path.len());
    for &byte in path {
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\\') {
            escaped.extend_from_slice(format!("\\{byte:03o}").as_bytes());
        } else {
            escaped.push(byte);
        }
    }
    escaped
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
    fn paths_are_escaped_as_the_kernel_does() {
        assert_eq!(escape(b"/a b\\c"), b"/a\\040b\\134c");
    }
}

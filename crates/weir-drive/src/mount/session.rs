//! The mount itself: by mount(2) as root, else by the set-uid helper of the package fuse3.
//!
//! `fuser` would mount as root under the type `fuse`; the type `fuse.weir` is what tells a drive
//! from all other FUSE mounts in the mount table, so that leftovers are found and others are not
//! touched.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fuser::{Config, MountOption, Session, SessionACL};
use rustix::mount::MountFlags;

use crate::DriveError;
use crate::fuse::DriveFileSystem;

const DEVICE: &str = "/dev/fuse";
/// Remedy where the kernel has FUSE but this process does not see it.
const GIVE_DEVICE: &str =
    "load the kernel's fuse module, or give the container `--device /dev/fuse`";
const TYPE: &str = "fuse.weir";
const SUBTYPE: &str = "weir";
/// `S_IFDIR` in octal, which mount(2) wants to know of a FUSE root.
const ROOT_MODE: &str = "40000";

/// Mounts `files` at `mountpoint` under the name `source`.
pub(super) fn mount(
    files: DriveFileSystem,
    source: &str,
    mountpoint: &Path,
) -> io::Result<Session<DriveFileSystem>> {
    let mut configuration = Config::default();
    // One reader keeps the operations in their order, and more did not make it faster.
    configuration.n_threads = Some(1);
    if rustix::process::geteuid().is_root() {
        let device = mount_as_root(source, mountpoint)?;
        return Session::from_fd(files, device, SessionACL::All, configuration);
    }
    configuration.acl = SessionACL::Owner;
    configuration.mount_options = vec![
        MountOption::FSName(source.to_owned()),
        MountOption::Subtype(SUBTYPE.to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoDev,
        MountOption::NoSuid,
    ];
    Session::new(files, mountpoint, &configuration)
}

fn mount_as_root(source: &str, mountpoint: &Path) -> io::Result<OwnedFd> {
    let device = OpenOptions::new().read(true).write(true).open(DEVICE)?;
    // `allow_other`: a server may run as a user of its own.
    let options = format!(
        "fd={},rootmode={ROOT_MODE},user_id=0,group_id=0,default_permissions,allow_other",
        device.as_raw_fd()
    );
    let options = std::ffi::CString::new(options)?;
    let flags = MountFlags::NODEV | MountFlags::NOSUID;
    rustix::mount::mount(source, mountpoint, TYPE, flags, options.as_c_str())?;
    Ok(device.into())
}

/// Checks that drives can be mounted here; if not, the error names in one line the missing part.
///
/// # Errors
///
/// The part that is missing.
pub fn check_fuse() -> Result<(), DriveError> {
    match OpenOptions::new().read(true).write(true).open(DEVICE) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let remedy = "let this user read and write /dev/fuse, or run as root";
            return Err(unavailable(format!("{DEVICE}: {error}"), remedy));
        }
        Err(error) => return Err(unavailable(format!("{DEVICE}: {error}"), GIVE_DEVICE)),
        Ok(device) if !is_fuse(&device) => {
            return Err(unavailable(
                format!("{DEVICE} is another device"),
                GIVE_DEVICE,
            ));
        }
        Ok(_) => {}
    }
    if rustix::process::geteuid().is_root() || has_helper() {
        return Ok(());
    }
    let why = "fusermount3 is not installed, and only root can mount without it";
    Err(unavailable(why.to_owned(), "install the package fuse3"))
}

/// Major and minor number as the kernel lists them (Documentation/admin-guide/devices.txt).
fn is_fuse(device: &File) -> bool {
    device
        .metadata()
        .is_ok_and(|found| found.rdev() == rustix::fs::makedev(10, 229))
}

/// The reason why a mount failed, with the remedy where one is known.
pub(super) fn explain(error: io::Error, mountpoint: &Path) -> DriveError {
    if error.kind() == ErrorKind::PermissionDenied {
        let remedy = "run where mounting is permitted: a container needs `--cap-add SYS_ADMIN`";
        return unavailable(format!("mount: {error}"), remedy);
    }
    DriveError::path("mount on", mountpoint)(error)
}

fn unavailable(why: String, remedy: &'static str) -> DriveError {
    DriveError::FuseUnavailable { why, remedy }
}

fn has_helper() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("fusermount3").is_file())
}

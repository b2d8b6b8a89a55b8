//! A host whose own disk is full below the drive's backing directory.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;
use support::{Drive, blocks, errno};

/// A file system of 4 MiB.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Self {
        fs::create_dir_all(at).unwrap();
        let size = Some(c"size=4m");
        rustix::mount::mount("small", at, "tmpfs", MountFlags::empty(), size).unwrap();
        Self(at.to_owned())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

#[test]
fn a_full_disk_of_the_host_is_a_full_drive_that_loses_nothing() {
    if !rustix::process::geteuid().is_root() {
        // Nobody else can make a disk small.
        return;
    }
    let home = support::memory_folder();
    let disk = SmallDisk::mount(&home.path().join("disk"));
    let drive = Drive::mount(|mut options| {
        options.backing = disk.0.join("backing");
        options
    })
    .unwrap();
    let file = drive.create("t.ibd", 0);
    let page = vec![7; 65_536];
    let fits = (0..).take_while(|number| file.write_all_at(&page, number * 65_536).is_ok());
    let written = fits.count() as u64;
    assert!((32..=64).contains(&written), "{written} pages");
    assert_eq!(errno(file.write_at(&page, written << 20)), libc::ENOSPC);
    // What was there is, may be written over, and the drive counts what it holds.
    let mut back = vec![0; 65_536];
    for number in 0..written {
        file.read_exact_at(&mut back, number * 65_536).unwrap();
        assert_eq!(back, page);
    }
    file.write_all_at(&vec![8; 65_536], 0).unwrap();
    let statistics = drive.process.statistics().unwrap();
    assert_eq!(statistics.used_bytes, blocks(&file).cast_unsigned() * 512);
    assert_eq!(statistics.backing_free_bytes, 0);
    // Cut off at once; a removed file's space comes back when the kernel has forgotten the file.
    file.set_len(0).unwrap();
    drive.create("u.ibd", 0).write_all_at(&page, 0).unwrap();
}

//! Random operations on a drive and on a plain directory: both must hold the same afterwards.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use support::random_operations::{apply, contents, draw, seeded};
use support::{Drive, open};

const OPERATIONS: usize = 3_000;

#[test]
fn a_drive_and_a_directory_hold_the_same_after_random_operations() {
    let mut random = seeded();
    let drive = Drive::null();
    let reference = support::memory_folder();
    let root = drive.path("");
    // A file that stays open sees all that happens to it under whatever name.
    let (ours, theirs) = (
        open(&root.join("a"), 0),
        open(&reference.path().join("a"), 0),
    );
    for number in 0..OPERATIONS {
        let operation = draw(&mut random);
        let found = apply(&root, &operation);
        let wanted = apply(reference.path(), &operation);
        assert!(
            found == wanted,
            "operation {number}, {operation:?}: differs"
        );
        let (size, links) = (
            |file: &fs::File| file.metadata().unwrap().len(),
            |file: &fs::File| file.metadata().unwrap().nlink(),
        );
        assert_eq!(
            (size(&ours), links(&ours)),
            (size(&theirs), links(&theirs)),
            "operation {number}, {operation:?}"
        );
    }
    let (found, wanted) = (contents(&root), contents(reference.path()));
    assert!(found.keys().eq(wanted.keys()), "names differ");
    assert!(found == wanted, "contents differ");
    let used: u64 = space_used(reference.path()) + theirs_if_unlinked(&theirs);
    assert_eq!(drive.process.statistics().unwrap().used_bytes, used);
}

/// Bytes allocated below `root`, hard links once.
fn space_used(root: &Path) -> u64 {
    let mut by_inode = BTreeMap::new();
    for path in contents(root).into_keys() {
        let metadata = fs::symlink_metadata(root.join(path)).unwrap();
        if metadata.is_file() {
            by_inode.insert(metadata.ino(), metadata.blocks() * 512);
        }
    }
    by_inode.into_values().sum()
}

fn theirs_if_unlinked(file: &fs::File) -> u64 {
    let metadata = file.metadata().unwrap();
    if metadata.nlink() == 0 {
        metadata.blocks() * 512
    } else {
        0
    }
}

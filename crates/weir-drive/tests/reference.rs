//! Random operations on a drive and on a plain directory: both must hold the same afterwards.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::FallocateFlags;
use support::{Drive, open};

const OPERATIONS: usize = 3_000;
const NAMES: [&str; 8] = ["a", "b", "c", "d/a", "d/b", "e/a", "e/b", "e"];
const FILE_BYTES_MAX: u64 = 300_000;

/// One operation; its numbers are drawn before it is applied to both sides.
#[derive(Debug, Clone)]
enum Operation {
    Write(&'static str, u64, usize, u8),
    Append(&'static str, usize, u8),
    Truncate(&'static str, u64),
    Punch(&'static str, u64, u64),
    Zero(&'static str, u64, u64),
    Allocate(&'static str, u64, u64),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    Remove(&'static str),
    MakeDirectory(&'static str),
    Read(&'static str, u64, usize),
}

fn draw(random: &mut Xoshiro256PlusPlus) -> Operation {
    let mut name = || NAMES[random.random_range(0..NAMES.len())];
    let (one, two) = (name(), name());
    let offset = random.random_range(0..FILE_BYTES_MAX);
    let bytes = random.random_range(1..100_000);
    let byte = random.random();
    match random.random_range(0..22) {
        0..6 => Operation::Write(one, offset, bytes, byte),
        6..8 => Operation::Append(one, bytes, byte),
        8..10 => Operation::Truncate(one, offset),
        10 => Operation::Punch(one, offset, bytes as u64),
        11 => Operation::Zero(one, offset, bytes as u64),
        12 => Operation::Allocate(one, offset, bytes as u64),
        13..15 => Operation::Rename(one, two),
        15 => Operation::Link(one, two),
        16..18 => Operation::Remove(one),
        18 => Operation::MakeDirectory(["d", "e"][bytes % 2]),
        _ => Operation::Read(one, offset, bytes),
    }
}

/// Applies `operation` below `root`; the outcome is what both sides must agree on.
fn apply(root: &Path, operation: &Operation) -> Result<Vec<u8>, i32> {
    let path = |name: &str| root.join(name);
    let existing = |name: &str| {
        fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path(name))
    };
    let fallocate = |name: &str, mode, offset, bytes| {
        Ok(rustix::fs::fallocate(existing(name)?, mode, offset, bytes)?)
    };
    let done: io::Result<()> = match *operation {
        Operation::Write(name, offset, bytes, byte) => (|| {
            let mut options = fs::OpenOptions::new();
            let file = options
                .write(true)
                .create(true)
                .truncate(false)
                .open(path(name))?;
            file.write_all_at(&vec![byte; bytes], offset)
        })(),
        Operation::Append(name, bytes, byte) => (|| {
            let file = fs::OpenOptions::new().append(true).open(path(name))?;
            io::Write::write_all(&mut &file, &vec![byte; bytes])
        })(),
        Operation::Truncate(name, size) => existing(name).and_then(|file| file.set_len(size)),
        Operation::Punch(name, offset, bytes) => {
            let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(name, mode, offset, bytes)
        }
        Operation::Zero(name, offset, bytes) => zero(existing(name), offset, bytes),
        Operation::Allocate(name, offset, bytes) => {
            fallocate(name, FallocateFlags::empty(), offset, bytes)
        }
        Operation::Rename(from, to) => fs::rename(path(from), path(to)),
        Operation::Link(from, to) => fs::hard_link(path(from), path(to)),
        Operation::Remove(name) => fs::remove_file(path(name)),
        Operation::MakeDirectory(name) => fs::create_dir(path(name)),
        Operation::Read(name, offset, bytes) => {
            let mut buffer = vec![0; bytes];
            let read = existing(name).and_then(|file| file.read_at(&mut buffer, offset));
            let got = read.map_err(|error| error.raw_os_error().unwrap())?;
            buffer.truncate(got);
            return Ok(buffer);
        }
    };
    done.map(|()| Vec::new())
        .map_err(|error| error.raw_os_error().unwrap())
}

/// `ZERO_RANGE`, by writing where the plain directory's file system does not have it.
fn zero(file: io::Result<fs::File>, offset: u64, bytes: u64) -> io::Result<()> {
    let file = file?;
    match rustix::fs::fallocate(&file, FallocateFlags::ZERO_RANGE, offset, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => file.write_all_at(&vec![0; bytes as usize], offset),
        done => Ok(done?),
    }
}

/// Relative path -> size, links and contents of every file below `root`.
fn contents(root: &Path) -> BTreeMap<PathBuf, (u64, u64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let relative = path.strip_prefix(root).unwrap().to_owned();
            let metadata = fs::metadata(&path).unwrap();
            if metadata.is_dir() {
                found.insert(relative, (0, 0, Vec::new()));
                folders.push(path);
            } else {
                let data = fs::read(&path).unwrap();
                found.insert(relative, (metadata.len(), metadata.nlink(), data));
            }
        }
    }
    found
}

#[test]
fn a_drive_and_a_directory_hold_the_same_after_random_operations() {
    let seed = match std::env::var("WEIR_TEST_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => 20_261_120,
    };
    println!("seed {seed}; another one by WEIR_TEST_SEED");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
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
        let metadata = fs::metadata(root.join(path)).unwrap();
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

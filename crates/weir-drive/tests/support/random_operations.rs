//! Random operations of files and directories, for whatever must agree with a plain directory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::FallocateFlags;

const NAMES: [&str; 8] = ["a", "b", "c", "d/a", "d/b", "e/a", "e/b", "e"];
const FILE_BYTES_MAX: u64 = 300_000;

/// One operation; its numbers are drawn before it is applied to both sides.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Write(&'static str, u64, usize, u8),
    Append(&'static str, usize, u8),
    Truncate(&'static str, u64),
    Punch(&'static str, u64, u64),
    Zero(&'static str, u64, u64),
    Allocate(&'static str, u64, u64),
    AllocateBeyond(&'static str, u64, u64),
    MapWrite(&'static str, u64, usize, u8),
    SetMode(&'static str, u32),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    SymbolicLink(&'static str, &'static str),
    Remove(&'static str),
    MakeDirectory(&'static str),
    Read(&'static str, u64, usize),
}

pub(crate) fn draw(random: &mut Xoshiro256PlusPlus) -> Operation {
    let mut name = || NAMES[random.random_range(0..NAMES.len())];
    let (one, two) = (name(), name());
    let offset = random.random_range(0..FILE_BYTES_MAX);
    let bytes = random.random_range(1..100_000);
    let byte = random.random();
    match random.random_range(0..26) {
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
        19 => Operation::SymbolicLink(one, two),
        20 => Operation::SetMode(one, 0o600 | (bytes as u32 & 0o177)),
        21 => Operation::AllocateBeyond(one, offset, bytes as u64),
        22 => Operation::MapWrite(one, offset, bytes, byte),
        _ => Operation::Read(one, offset, bytes),
    }
}

/// Applies `operation` below `root`; the outcome is what both sides must agree on.
pub(crate) fn apply(root: &Path, operation: &Operation) -> Result<Vec<u8>, i32> {
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
        Operation::AllocateBeyond(name, offset, bytes) => {
            fallocate(name, FallocateFlags::KEEP_SIZE, offset, bytes)
        }
        Operation::MapWrite(name, offset, bytes, byte) => {
            existing(name).and_then(|file| map_write(&file, offset, bytes, byte))
        }
        Operation::SetMode(name, mode) => {
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode))
        }
        Operation::Rename(from, to) => fs::rename(path(from), path(to)),
        Operation::Link(from, to) => fs::hard_link(path(from), path(to)),
        // Relative to the folder of the link, so that both sides have the same target.
        Operation::SymbolicLink(target, name) => symlink(target, path(name)),
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

/// Writes what of the range lies within the file through a shared mapping.
#[allow(unsafe_code)] // mmap(2) is what is tested.
fn map_write(file: &fs::File, offset: u64, bytes: usize, byte: u8) -> io::Result<()> {
    use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
    let size = file.metadata()?.len();
    let end = size.min(offset + bytes as u64) as usize;
    let start = offset as usize;
    if !file.metadata()?.is_file() || start >= end {
        return Ok(());
    }
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping of the file's first `end` bytes, used within them, unmapped once.
    unsafe {
        let map = mmap(
            std::ptr::null_mut(),
            end,
            protection,
            MapFlags::SHARED,
            file,
            0,
        )?;
        std::slice::from_raw_parts_mut(map.cast::<u8>(), end)[start..].fill(byte);
        msync(map, end, MsyncFlags::SYNC)?;
        munmap(map, end)?;
    }
    Ok(())
}

/// `ZERO_RANGE`, by writing where the plain directory's file system does not have it.
fn zero(file: io::Result<fs::File>, offset: u64, bytes: u64) -> io::Result<()> {
    let file = file?;
    match rustix::fs::fallocate(&file, FallocateFlags::ZERO_RANGE, offset, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => file.write_all_at(&vec![0; bytes as usize], offset),
        done => Ok(done?),
    }
}

/// Relative path -> mode, links and contents of all that is below `root`; of a symbolic link, its
/// target.
pub(crate) fn contents(root: &Path) -> BTreeMap<PathBuf, (u32, u64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let relative = path.strip_prefix(root).unwrap().to_owned();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let (mode, links) = (metadata.mode(), metadata.nlink());
            if metadata.is_dir() {
                found.insert(relative, (mode, 0, Vec::new()));
                folders.push(path);
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).unwrap().into_os_string();
                found.insert(relative, (mode, links, target.into_encoded_bytes()));
            } else {
                found.insert(relative, (mode, links, fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// The numbers of a test; `WEIR_TEST_SEED` gives others.
#[allow(clippy::print_stdout)] // The harness shows it when the test fails.
pub(crate) fn seeded() -> Xoshiro256PlusPlus {
    let seed = match std::env::var("WEIR_TEST_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => 20_261_120,
    };
    println!("seed {seed}; another one by WEIR_TEST_SEED");
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

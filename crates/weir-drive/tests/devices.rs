//! Sections of a profile on a mounted drive: physical space that ends, a fast drive in front of a
//! slow one.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use support::{Drive, EXECUTABLE, errno, kill};
use weir_drive::DriveProcess;
use weir_model::{DriveStatistics, FileKind, SpaceState};

const CHUNK_BYTES: usize = 65_536;
const FLASH_BYTES: u64 = 8 << 20;

/// A drive that compresses, with 8 MiB of flash for 64 MiB that it shows.
fn thin_drive() -> Drive {
    Drive::with_profile(&[
        (
            "capacity = \"64T\"",
            "capacity = \"8M\"\ncompression = \"zlib4k\"",
        ),
        (
            "[sources]",
            "[provisioning]\nlogical_capacity = \"64M\"\nwarning_above = 0.5\ncritical_above = 0.75\n\
             \n[sources]",
        ),
    ])
    .unwrap()
}

/// Returns data that no method compresses.
fn noise() -> Vec<u8> {
    let mut data = vec![0; CHUNK_BYTES];
    Xoshiro256PlusPlus::seed_from_u64(20_261_120).fill_bytes(&mut data);
    data
}

/// Appends chunks until the drive refuses one; what state the drive was in after each.
fn fill(drive: &Drive, file: &File) -> Vec<SpaceState> {
    let data = noise();
    let mut states = Vec::new();
    for number in 0..2 * FLASH_BYTES / CHUNK_BYTES as u64 {
        match file.write_at(&data, number * CHUNK_BYTES as u64) {
            Ok(written) => assert_eq!(written, CHUNK_BYTES),
            Err(error) => {
                assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
                return states;
            }
        }
        states.push(drive.process.statistics().unwrap().space_state);
    }
    panic!("flash of {FLASH_BYTES} bytes took twice as much");
}

#[test]
fn physical_space_ends_after_a_warning_although_the_file_system_has_room() {
    let drive = thin_drive();
    let file = drive.create("t.ibd", 0);
    let states = fill(&drive, &file);
    assert!(states.is_sorted(), "{states:?}");
    assert_eq!(states[0], SpaceState::Normal);
    assert!(states.contains(&SpaceState::Warning) && states.contains(&SpaceState::Critical));
    let free = rustix::fs::statvfs(drive.path("")).unwrap();
    assert!(free.f_bavail * free.f_frsize > 40 << 20, "as real ones do");
    // Writing over what is there may need more flash as well, and is refused; what is there, is.
    assert_eq!(errno(file.write_at(&noise(), 0)), libc::ENOSPC);
    let mut back = vec![0; CHUNK_BYTES];
    file.read_exact_at(&mut back, 0).unwrap();
    assert_eq!(back, noise());
    // TRIM, by a hole and by the end of the file, gives flash back.
    let used = || drive.process.statistics().unwrap().physical_used_bytes;
    let before = used();
    let hole = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&file, hole, 0, 1 << 20).unwrap();
    assert_eq!(used(), before - (1 << 20));
    file.write_all_at(&noise(), 0).unwrap();
    drop(file);
    fs::remove_file(drive.path("t.ibd")).unwrap();
    let after = drive.process.statistics().unwrap();
    assert_eq!(
        (after.physical_used_bytes, after.space_state),
        (0, SpaceState::Normal)
    );
}

#[test]
fn a_drive_that_was_killed_opens_again_as_full_as_it_was() {
    let drive = thin_drive();
    let file = drive.create("t.ibd", 0);
    fill(&drive, &file);
    let before = drive.process.statistics().unwrap();
    drop(file);
    let (options, folder) = kill(drive);
    let again = DriveProcess::mount(Path::new(EXECUTABLE), &options).unwrap();
    let after = again.statistics().unwrap();
    assert!(after.space_state >= SpaceState::Critical, "{after:?}");
    // Sampled: of what does not compress at all, exact.
    assert_eq!(after.physical_used_bytes, before.physical_used_bytes);
    fs::remove_file(again.mountpoint().join("t.ibd")).unwrap();
    assert_eq!(again.statistics().unwrap().physical_used_bytes, 0);
    again.unmount().unwrap();
    drop(folder);
}

#[test]
fn a_fast_drive_in_front_answers_what_was_read_before() {
    const PAGES: u64 = 32;
    let drive = Drive::with_profile(&[
        ("latency_us = 1\n", "latency_us = 2_000\n"),
        ("latency_us = 1\n", "latency_us = 100\n"),
        (
            "[sources]",
            "[cache]\ndrive = \"intel-optane-p4800x\"\ncapacity = \"16M\"\nwrites = \"around\"\n\n[sources]",
        ),
    ])
    .unwrap();
    let file = drive.create("t.ibd", 0);
    file.write_all_at(&vec![7; PAGES as usize * 16_384], 0)
        .unwrap();
    let read_all = || -> DriveStatistics {
        let before = drive.process.statistics().unwrap();
        for page in 0..PAGES {
            file.read_exact_at(&mut [0; 16_384], page * 16_384).unwrap();
        }
        drive.process.statistics().unwrap().since(&before)
    };
    let (cold, warm) = (read_all(), read_all());
    let hits = |of: &DriveStatistics| of.cache.unwrap().hit_ratio().unwrap();
    assert_eq!((hits(&cold), hits(&warm)), (0.0, 1.0));
    assert_eq!(warm.by_kind[&FileKind::Data].cache_hits, PAGES);
    let latency = |of: &DriveStatistics| of.by_kind[&FileKind::Data].read_latency_s;
    assert!(latency(&cold) > PAGES as f64 * 2e-3);
    assert!(latency(&warm) < PAGES as f64 * 2e-4, "{}", latency(&warm));
}

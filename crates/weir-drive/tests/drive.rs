//! The drive as a device and as a process: time, capacity, counters, life and death.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use support::{Drive, EXECUTABLE, errno, memory_folder, options};
use weir_drive::DriveProcess;
use weir_model::{FileKind, WriteCache};

const SLOW: [(&str, &str); 2] = [
    ("latency_us = 1\n", "latency_us = 2_000\n"),
    ("[write]\nlatency_us = 1\n", "[write]\nlatency_us = 3_000\n"),
];

#[test]
fn no_operation_is_faster_than_the_model() {
    let drive = Drive::with_profile(&SLOW).unwrap();
    let file = drive.create("t.ibd", libc::O_DIRECT);
    let time = |operation: &dyn Fn()| {
        let began = Instant::now();
        operation();
        began.elapsed()
    };
    let mut page = [1; 16_384];
    // Replies leave early by the way back, which is measured: the caller sees the latency itself,
    // less what that measurement may be off by.
    let allowance = Duration::from_micros(100);
    for _ in 0..20 {
        let write = time(&|| file.write_all_at(&page, 0).unwrap());
        assert!(write + allowance > Duration::from_millis(3), "{write:?}");
    }
    for _ in 0..20 {
        let began = Instant::now();
        file.read_exact_at(&mut page, 0).unwrap();
        let read = began.elapsed();
        assert!(read + allowance > Duration::from_millis(2), "{read:?}");
        assert!(read < Duration::from_millis(1500), "{read:?}");
    }
    let data = drive.process.statistics().unwrap().by_kind[&FileKind::Data];
    assert!((data.read_latency_s / data.reads as f64 - 0.002).abs() < 0.0002);
    assert!((data.write_latency_s / data.writes as f64 - 0.003).abs() < 0.0002);
}

#[test]
fn a_write_into_the_page_cache_returns_at_once_and_its_flush_waits_for_the_device() {
    const WRITE: Duration = Duration::from_millis(500);
    let slow = format!("[write]\nlatency_us = {}\n", WRITE.as_micros());
    let slow = ("[write]\nlatency_us = 1\n", slow.as_str());
    let drive = Drive::with_profile(&[SLOW[0], slow]).unwrap();
    let (log, other) = (drive.create("ib_logfile0", 0), drive.create("t.ibd", 0));
    let began = Instant::now();
    for offset in 0..4 {
        log.write_all_at(&[1; 512], offset * 512).unwrap();
    }
    other.sync_data().unwrap();
    let written = began.elapsed();
    log.sync_data().unwrap();
    let flushed = began.elapsed();
    assert!(written < WRITE, "{written:?}");
    assert!(flushed + Duration::from_millis(1) > WRITE, "{flushed:?}");
    let redo = drive.process.statistics().unwrap().by_kind[&FileKind::Redo];
    assert_eq!((redo.writes, redo.write_latency_s), (4, 0.0));
    assert!(redo.flush_latency_s < WRITE.as_secs_f64() && redo.flush_latency_s > 0.0);
}

/// 4 MiB through a buffer of 1 MiB to media of 4 MB/s: all is accepted after 0.8 s, and the buffer empty after 1.05 s.
#[test]
fn a_flush_waits_for_writes_and_buffer_together() {
    let media = [
        (
            "bandwidth_mb_per_s = 1_000_000\nbuffer = \"1G\"",
            "bandwidth_mb_per_s = 4\nbuffer = \"1M\"",
        ),
        ("cache = \"power-protected\"", "cache = \"volatile\""),
    ];
    let drive = Drive::with_profile(&[SLOW[0], SLOW[1], media[0], media[1]]).unwrap();
    let log = drive.create("ib_logfile0", 0);
    let began = Instant::now();
    for block in 0..64 {
        log.write_all_at(&vec![1; 65_536], block * 65_536).unwrap();
    }
    log.sync_data().unwrap();
    assert!(began.elapsed() > Duration::from_secs(1));
    let redo = drive.process.statistics().unwrap().by_kind[&FileKind::Redo];
    assert!(redo.flush_latency_s < 1.2, "{redo:?}");
}

#[test]
fn reads_in_parallel_take_one_latency_and_beyond_the_units_they_queue() {
    // 2 ms and 2,000 IOPS: 4 units.
    let changes = [
        SLOW[0],
        SLOW[1],
        ("iops_max = 100_000_000", "iops_max = 2_000"),
    ];
    let drive = Drive::with_profile(&changes).unwrap();
    let file = drive.create("t.ibd", 0);
    file.write_all_at(&[1; 4096], 0).unwrap();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    file.read_exact_at(&mut [0; 4096], 0).unwrap();
                }
            });
        }
    });
    // 80 reads at 2,000 a second, of which the first four need not wait for their turn.
    let elapsed = began.elapsed();
    assert!(elapsed > Duration::from_millis(37), "{elapsed:?}");
}

#[test]
fn traffic_is_counted_by_kind_of_file() {
    let drive = Drive::null();
    fs::create_dir(drive.path("#innodb_redo")).unwrap();
    let redo = drive.create("#innodb_redo/#ib_redo0", libc::O_DSYNC);
    redo.write_all_at(&[0; 512], 0).unwrap();
    let table = drive.create("#sql-1.ibd", 0);
    table.write_all_at(&[0; 16_384], 0).unwrap();
    // A table that is rebuilt gets its name at the end.
    fs::rename(drive.path("#sql-1.ibd"), drive.path("t.ibd")).unwrap();
    table.write_all_at(&[0; 16_384], 16_384).unwrap();
    table.sync_data().unwrap();
    let statistics = drive.process.statistics().unwrap();
    let of = |kind| statistics.by_kind[&kind];
    let redo = of(FileKind::Redo);
    assert_eq!((redo.writes, redo.write_bytes, redo.flushes), (1, 512, 1));
    assert_eq!(of(FileKind::Temporary).write_bytes, 16_384);
    let data = of(FileKind::Data);
    assert_eq!(
        (data.writes, data.write_bytes, data.flushes),
        (1, 16_384, 1)
    );
    assert_eq!(
        of(FileKind::Other).writes,
        0,
        "the calibration is not counted"
    );
    assert!(statistics.uptime_s > 0.0 && statistics.queue_depth == 0);
}

#[test]
fn a_full_drive_says_so_and_takes_data_again_when_space_is_freed() {
    let drive = Drive::with_profile(&[("\"64T\"", "\"1M\"")]).unwrap();
    let file = drive.create("t.ibd", 0);
    file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
    assert_eq!(errno(file.write_at(&[1; 4096], 1 << 20)), libc::ENOSPC);
    // What is there may still be written over.
    file.write_all_at(&[2; 4096], 0).unwrap();
    let free = rustix::fs::statvfs(drive.path("")).unwrap();
    assert_eq!((free.f_blocks * free.f_frsize, free.f_bavail), (1 << 20, 0));
    let more = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 1 << 20, 4096);
    assert_eq!(more, Err(rustix::io::Errno::NOSPC));
    file.set_len(4096).unwrap();
    file.write_all_at(&[1; 4096], 1 << 16).unwrap();
    assert_eq!(drive.process.statistics().unwrap().used_bytes, 8192);
}

#[test]
fn the_data_scale_shrinks_the_capacity() {
    let scaled = |mut options: weir_drive::MountOptions| {
        options.data_scale = "1/64".parse().unwrap();
        options
    };
    let drive = Drive::mount(scaled).unwrap();
    let free = rustix::fs::statvfs(drive.path("")).unwrap();
    assert_eq!(free.f_blocks * free.f_frsize, 1 << 40);
}

#[test]
fn compressible_data_are_seen_as_such() {
    let drive = Drive::with_profile(&[(
        "capacity = \"64T\"",
        "capacity = \"64T\"\ncompression = \"zlib4k\"",
    )])
    .unwrap();
    let file = drive.create("t.ibd", 0);
    let patience = Instant::now() + Duration::from_secs(20);
    // The estimate comes from samples, a few milliseconds apart.
    loop {
        file.write_all_at(&vec![b'a'; 65_536], 0).unwrap();
        let fraction = drive.process.statistics().unwrap().compressed_fraction;
        if fraction < 0.5 {
            break;
        }
        assert!(Instant::now() < patience, "still {fraction}");
    }
}

/// Media bytes per byte of random page writes over half of a drive of 64 MiB with 7 % spare.
fn amplification_on_a_drive_filled_to(fill: &str) -> f64 {
    let flash = format!("[flash]\nover_provisioning = 0.07\nfill = {fill}\n[flush]");
    let drive = Drive::with_profile(&[
        ("capacity = \"64T\"", "capacity = \"64M\""),
        ("amplification_random = 1\n", ""),
        ("[flush]", &flash),
    ])
    .unwrap();
    let file = drive.create("t.ibd", 0);
    let pages = (32 << 20) / 16_384;
    for number in 0..pages {
        let offset = number * 7919 % pages * 16_384;
        file.write_all_at(&[1; 16_384], offset).unwrap();
    }
    let statistics = drive.process.statistics().unwrap();
    statistics.media_written_bytes as f64 / (pages * 16_384) as f64
}

#[test]
fn a_mounted_drive_is_in_steady_state_or_as_new_as_its_profile_says() {
    let (aged, new) = (
        amplification_on_a_drive_filled_to("1"),
        amplification_on_a_drive_filled_to("0"),
    );
    assert!(aged > 4.0, "{aged}");
    assert!((new - 1.0).abs() < 0.01, "{new}");
}

#[test]
fn deleted_files_give_their_flash_back() {
    let drive = Drive::with_profile(&[
        ("capacity = \"64T\"", "capacity = \"64M\""),
        ("amplification_random = 1\n", ""),
        (
            "[flush]",
            "[flash]\nover_provisioning = 0.07\nfill = 0\n[flush]",
        ),
    ])
    .unwrap();
    let pages = (48 << 20) / 16_384;
    for _ in 0..4 {
        let file = drive.create("t.ibd", 0);
        for number in 0..pages {
            let offset = number * 7919 % pages * 16_384;
            file.write_all_at(&[1; 16_384], offset).unwrap();
        }
        fs::remove_file(drive.path("t.ibd")).unwrap();
    }
    let statistics = drive.process.statistics().unwrap();
    let amplification = statistics.media_written_bytes as f64 / (4 * pages * 16_384) as f64;
    assert!(amplification < 1.1, "{amplification}");
}

#[test]
fn a_profile_below_the_floor_is_refused_unless_wanted() {
    let below = [("latency_us = 1\n", "latency_us = 5\n")];
    let error = Drive::with_profile(&below)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("--below-floor") && error.contains("5 us"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
    let folder = memory_folder();
    let profile = support::write_profile(folder.path(), &below);
    let mut options = options(&folder, profile.to_str().unwrap());
    options.below_floor = true;
    DriveProcess::mount(Path::new(EXECUTABLE), &options).unwrap();
}

#[test]
fn an_unknown_drive_and_a_mountpoint_in_use_are_one_line_errors() {
    let mount = |name: &str| {
        Drive::mount(|mut options| {
            options.profile = name.to_owned();
            options
        })
    };
    let error = mount("intel-p4611").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("did you mean `intel-p4610`?"), "{error}");
    let drive = mount("null").unwrap();
    let again = DriveProcess::mount(Path::new(EXECUTABLE), &options(&drive.folder, "null"));
    let error = again.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("a drive is mounted there"), "{error}");
    assert_eq!(error.lines().count(), 1);
    // The refused second one must not have disturbed the first.
    fs::write(drive.path("a"), "still there").unwrap();
    drive.process.statistics().unwrap();
}

#[test]
fn an_unmount_from_elsewhere_ends_the_process_and_an_open_file_does_not_hinder_it() {
    let drive = Drive::null();
    let file = drive.create("held", 0);
    let mountpoint = drive.process.mountpoint().to_owned();
    assert!(weir_drive::statistics(&mountpoint).is_ok());
    weir_drive::unmount(&mountpoint).unwrap();
    assert!(!weir_process::is_mounted(&mountpoint));
    drop(file);
    let Drive { process, folder } = drive;
    process.unmount().unwrap();
    drop(folder);
}

#[test]
fn a_dropped_drive_leaves_no_mount_no_process_and_no_backing_that_is_not_wanted() {
    let drive = Drive::mount(|mut options| {
        options.remove_backing = true;
        options
    })
    .unwrap();
    fs::write(drive.path("a"), "a").unwrap();
    let Drive { process, folder } = drive;
    let (pid, mountpoint) = (process.pid(), process.mountpoint().to_owned());
    let backing = folder.path().join("backing");
    assert!(backing.join("a").exists());
    drop(process);
    assert!(!weir_process::is_mounted(&mountpoint));
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(!backing.exists());
}

#[test]
fn a_killed_drive_is_removed_by_its_owner_and_its_data_open_again() {
    let drive = Drive::null();
    fs::write(drive.path("a"), "kept").unwrap();
    let (options, _folder) = support::kill(drive);
    let again = DriveProcess::mount(Path::new(EXECUTABLE), &options).unwrap();
    let kept = fs::read_to_string(again.mountpoint().join("a")).unwrap();
    assert_eq!(kept, "kept");
}

/// A reader of a mount's rules must not get those of the profile's file.
#[test]
fn a_mounted_drive_tells_its_profile_with_its_settings() {
    let drive = Drive::mount(|mut options| {
        options.settings = vec![("write.cache".to_owned(), "volatile".to_owned())];
        options
    })
    .unwrap();
    let profile = weir_drive::profile(drive.process.mountpoint()).unwrap();
    assert_eq!(profile.name, "null");
    assert_eq!(profile.write.cache, WriteCache::Volatile);
}

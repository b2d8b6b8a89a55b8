//! A drive that is made to misbehave while it is mounted.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::fs;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use support::{Drive, errno};
use weir_drive::{reset_faults, set_faults};
use weir_model::Faults;

fn set(drive: &Drive, settings: &[(&str, &str)]) -> Faults {
    let settings = settings
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    set_faults(drive.process.mountpoint(), settings.collect()).unwrap()
}

fn reset(drive: &Drive) {
    reset_faults(drive.process.mountpoint()).unwrap();
}

#[test]
fn errors_come_on_the_files_that_were_named_until_the_reset() {
    let drive = Drive::null();
    let (table, log) = (drive.create("t1.ibd", 0), drive.create("ib_logfile0", 0));
    table.write_all_at(&[1; 4096], 0).unwrap();
    set(&drive, &[("error_rate", "1"), ("error_files", "ib_log*")]);
    assert_eq!(errno(log.write_at(&[2; 512], 0)), libc::EIO);
    assert_eq!(log.metadata().unwrap().len(), 0, "a failed write wrote");
    table.write_all_at(&[2; 4096], 0).unwrap();
    // What is known under a new name is judged by that name.
    fs::rename(drive.path("t1.ibd"), drive.path("ib_log_of_old")).unwrap();
    assert_eq!(errno(table.read_at(&mut [0; 4096], 0)), libc::EIO);
    reset(&drive);
    log.write_all_at(&[2; 512], 0).unwrap();
    let faults = drive.process.statistics().unwrap().faults.unwrap();
    assert_eq!(faults.errors, 2);
    assert!(faults.set.are_none());
}

#[test]
fn a_failed_flush_keeps_the_data_and_the_next_one_may_succeed() {
    let drive = Drive::null();
    let file = drive.create("binlog.000001", 0);
    file.write_all_at(b"event", 0).unwrap();
    set(
        &drive,
        &[("error_rate", "1"), ("error_operations", "flush")],
    );
    assert_eq!(errno(file.sync_data()), libc::EIO);
    assert_eq!(fs::read(drive.path("binlog.000001")).unwrap(), b"event");
    reset(&drive);
    file.sync_data().unwrap();
    assert_eq!(fs::read(drive.path("binlog.000001")).unwrap(), b"event");
}

#[test]
fn the_share_of_errors_is_the_rate_and_its_seed_decides_which() {
    let drive = Drive::null();
    let file = drive.create("t.ibd", 0);
    file.write_all_at(&[1; 4096], 0).unwrap();
    let outcomes = || -> Vec<bool> {
        set(&drive, &[("error_rate", "0.2"), ("seed", "5")]);
        let read = |_| file.read_at(&mut [0; 512], 0).is_err();
        (0..1000).map(read).collect()
    };
    let first = outcomes();
    let failed = first.iter().filter(|failed| **failed).count();
    assert!((140..260).contains(&failed), "{failed}");
    assert_eq!(first, outcomes());
}

#[test]
fn a_stuck_queue_moves_again_when_it_is_released() {
    let drive = Drive::null();
    let file = drive.create("t.ibd", 0);
    file.write_all_at(&[1; 4096], 0).unwrap();
    set(&drive, &[("stuck", "true")]);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| file.read_exact_at(&mut [0; 4096], 0));
        let patience = Instant::now() + Duration::from_secs(10);
        while drive.process.statistics().unwrap().queue_depth == 0 {
            assert!(Instant::now() < patience, "the read never arrived");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(!reader.is_finished());
        set(&drive, &[("stuck", "false")]);
        reader.join().unwrap().unwrap();
    });
    assert_eq!(drive.process.statistics().unwrap().queue_depth, 0);
}

#[test]
fn a_stuck_drive_can_be_unmounted() {
    let drive = Drive::null();
    let file = drive.create("t.ibd", 0);
    set(&drive, &[("stuck", "true")]);
    std::thread::scope(|scope| {
        let _waiting = scope.spawn(|| file.sync_data());
        std::thread::sleep(Duration::from_millis(20));
        weir_drive::unmount(drive.process.mountpoint()).unwrap();
    });
}

#[test]
fn a_flipped_bit_stays_flipped() {
    let drive = Drive::null();
    let (rotten, sound) = (drive.create("t1.ibd", 0), drive.create("t2.ibd", 0));
    for file in [&rotten, &sound] {
        file.write_all_at(&[0; 4096], 0).unwrap();
    }
    set(&drive, &[("rot_rate", "1"), ("rot_files", "t1.ibd")]);
    let bits = |file: &fs::File| {
        let mut data = [0; 4096];
        file.read_exact_at(&mut data, 0).unwrap();
        data.iter().map(|byte| byte.count_ones()).sum::<u32>()
    };
    assert_eq!((bits(&rotten), bits(&sound)), (1, 0));
    reset(&drive);
    assert_eq!((bits(&rotten), bits(&sound)), (1, 0));
    let faults = drive.process.statistics().unwrap().faults.unwrap();
    assert_eq!(faults.flipped_bits, 1);
}

#[test]
fn a_full_drive_takes_nothing_new_until_it_is_not() {
    let drive = Drive::null();
    let file = drive.create("t.ibd", 0);
    file.write_all_at(&[1; 8192], 0).unwrap();
    set(&drive, &[("full", "true")]);
    assert_eq!(errno(file.write_at(&[1; 4096], 8192)), libc::ENOSPC);
    file.write_all_at(&[2; 4096], 0).unwrap();
    set(&drive, &[("full", "false")]);
    file.write_all_at(&[1; 4096], 8192).unwrap();
}

#[test]
fn a_slow_drain_fills_the_buffer_and_then_writes_wait() {
    // 100 MB/s behind a buffer of 1 MiB: 4 MiB take at least 30 ms, at a tenth of that 300 ms.
    let drive = Drive::with_profile(&[
        (
            "[write]\nlatency_us = 1\niops_max = 100_000_000\nbandwidth_mb_per_s = 1_000_000\nbuffer = \"1G\"",
            "[write]\nlatency_us = 1\niops_max = 100_000_000\nbandwidth_mb_per_s = 100\nbuffer = \"1M\"",
        ),
    ])
    .unwrap();
    let file = drive.create("t.ibd", libc::O_DIRECT);
    set(&drive, &[("drain_share", "0.1")]);
    let began = Instant::now();
    for number in 0..64 {
        file.write_all_at(&vec![1; 65_536], number * 65_536)
            .unwrap();
    }
    assert!(began.elapsed() > Duration::from_millis(280));
}

#[test]
fn spikes_make_operations_longer() {
    let drive = Drive::null();
    let file = drive.create("t.ibd", libc::O_DIRECT);
    set(&drive, &[("spike_rate", "1"), ("spike_us", "20_000")]);
    let began = Instant::now();
    file.write_all_at(&[1; 512], 0).unwrap();
    file.sync_data().unwrap();
    assert!(began.elapsed() > Duration::from_millis(39));
    let statistics = drive.process.statistics().unwrap();
    assert_eq!(statistics.faults.as_ref().unwrap().spikes, 2);
    let slowest = statistics.latencies[&weir_model::FileKind::Data]
        .writes
        .clone();
    assert!(slowest.quantile_us(0.5).unwrap() > 19_000.0);
}

#[test]
fn a_wrong_fault_changes_nothing_and_is_named_in_one_line() {
    let drive = Drive::null();
    let wrong = |key: &str, value: &str| {
        let settings = [("error_rate", "1"), (key, value)];
        let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let error = set_faults(drive.process.mountpoint(), settings.into());
        let error = error.unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1);
        error
    };
    assert!(wrong("stuk", "true").contains("did you mean `stuck`?"));
    assert!(wrong("spike_rate", "7").contains("0 to 1"));
    assert!(wrong("rot_files", "[").contains("rot_files"));
    fs::write(drive.path("a"), "works").unwrap();
    assert_eq!(drive.process.statistics().unwrap().faults, None);
}

//! Recording what a mounted drive is asked.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::fs;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::io::{IoSlice, ReadWriteFlags};
use support::Drive;
use weir_drive::{TraceOperation, TraceReader, start_trace, stop_trace};
use weir_model::{FileKind, OpKind};

fn traced(drive: &Drive, work: impl FnOnce()) -> Vec<(TraceOperation, String)> {
    let path = drive.folder.path().join("trace");
    start_trace(drive.process.mountpoint(), &path).unwrap();
    work();
    let summary = stop_trace(drive.process.mountpoint()).unwrap();
    assert_eq!(summary.lost, 0);
    let mut reader = TraceReader::open(&path).unwrap();
    let mut operations = Vec::new();
    while let Some(operation) = reader.next() {
        let operation = operation.unwrap();
        let path = reader.path(operation.file).unwrap().to_owned();
        operations.push((operation, path));
    }
    assert_eq!(summary.operations, operations.len() as u64);
    fs::remove_file(path).unwrap();
    operations
}

#[test]
fn operations_are_recorded_in_order_with_their_files() {
    let drive = Drive::null();
    fs::create_dir(drive.path("sbtest")).unwrap();
    let file = drive.create("sbtest/t1.ibd", 0);
    let found = traced(&drive, || {
        file.write_all_at(&[1; 16_384], 32_768).unwrap();
        file.read_exact_at(&mut [0; 4096], 40_960).unwrap();
        file.sync_data().unwrap();
    });
    let seen: Vec<_> = found
        .iter()
        .map(|(operation, _)| (operation.what, operation.offset, operation.bytes))
        .collect();
    assert_eq!(
        seen,
        [
            (OpKind::Write, 32_768, 16_384),
            (OpKind::Read, 40_960, 4096),
            (OpKind::Flush, 0, 0)
        ]
    );
    assert!(found.iter().all(|(_, path)| path == "sbtest/t1.ibd"));
    assert!(found.is_sorted_by_key(|(operation, _)| operation.at_ns));
    assert_eq!(found[0].0.file_kind, FileKind::Data);
}

#[test]
fn durable_writes_are_flushed_and_a_close_is_no_flush() {
    let drive = Drive::null();
    let kinds = |work: &dyn Fn()| -> Vec<OpKind> {
        let found = traced(&drive, work);
        found.iter().map(|(operation, _)| operation.what).collect()
    };
    for flags in [libc::O_DSYNC, libc::O_SYNC] {
        let synchronous = || {
            let file = drive.create("synchronous", flags);
            file.write_all_at(&[1; 512], 0).unwrap();
        };
        assert_eq!(kinds(&synchronous), [OpKind::Write, OpKind::Flush]);
    }
    let of_one_write = || {
        let file = drive.create("one write", 0);
        let data = [IoSlice::new(&[1; 512])];
        rustix::io::pwritev2(&file, &data, 0, ReadWriteFlags::DSYNC).unwrap();
    };
    assert_eq!(kinds(&of_one_write), [OpKind::Write, OpKind::Flush]);
    let closed = || fs::write(drive.path("closed"), [1; 512]).unwrap();
    assert_eq!(kinds(&closed), [OpKind::Write]);
}

#[test]
fn what_nobody_can_read_any_longer_is_discarded() {
    let drive = Drive::null();
    let size = 1 << 20;
    let write = |name: &str| {
        let file = drive.create(name, 0);
        file.write_all_at(&vec![1; size], 0).unwrap();
        file
    };
    let discards = |work: &dyn Fn()| -> Vec<(u64, u64)> {
        let found = traced(&drive, work);
        let discards = found
            .iter()
            .filter(|(operation, _)| operation.what == OpKind::Discard);
        discards
            .map(|(operation, _)| (operation.offset, operation.bytes))
            .collect()
    };
    let free_blocks = || rustix::fs::statvfs(drive.path("")).unwrap().f_bfree;
    // The kernel tells of a close some time after it; until then a file can be read.
    let frees = |work: &dyn Fn()| {
        let before = free_blocks();
        work();
        let until = Instant::now() + Duration::from_secs(30);
        while free_blocks() == before {
            assert!(Instant::now() < until, "the file is still there");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let whole = vec![(0, size as u64)];
    drop(write("deleted"));
    let delete = |name: &str| fs::remove_file(drive.path(name)).unwrap();
    assert_eq!(discards(&|| frees(&|| delete("deleted"))), whole);

    let open = write("open");
    assert_eq!(discards(&|| delete("open")), [], "it can still be read");
    let open = std::cell::Cell::new(Some(open));
    assert_eq!(discards(&|| frees(&|| drop(open.take()))), whole);

    drop((write("new"), write("old")));
    let replace = || fs::rename(drive.path("new"), drive.path("old")).unwrap();
    assert_eq!(discards(&|| frees(&replace)), whole);

    let shrunk = write("shrunk");
    let truncate = || shrunk.set_len(4096).unwrap();
    assert_eq!(discards(&truncate), [(4096, size as u64 - 4096)]);
    fs::hard_link(drive.path("shrunk"), drive.path("other name")).unwrap();
    drop(shrunk);
    assert_eq!(discards(&|| delete("shrunk")), [], "it has another name");
}

#[test]
fn a_second_recording_is_refused_and_none_cannot_be_stopped() {
    let drive = Drive::null();
    let mountpoint = drive.process.mountpoint();
    let error = stop_trace(mountpoint).unwrap_err().to_string();
    assert_eq!(error, "no trace is being recorded");
    let path = |name: &str| drive.folder.path().join(name);
    start_trace(mountpoint, &path("one")).unwrap();
    let error = start_trace(mountpoint, &path("two")).unwrap_err();
    assert!(error.to_string().contains("already"), "{error}");
    stop_trace(mountpoint).unwrap();
}

#[test]
fn an_unmounted_drive_leaves_a_whole_trace() {
    let drive = Drive::null();
    let path = drive.folder.path().join("trace");
    start_trace(drive.process.mountpoint(), &path).unwrap();
    fs::write(drive.path("a"), "a").unwrap();
    let Drive { process, folder } = drive;
    process.unmount().unwrap();
    let found: Result<Vec<_>, _> = TraceReader::open(&path).unwrap().collect();
    assert_eq!(found.unwrap().len(), 1);
    drop(folder);
}

//! Flushes that the drive's user has made for a child hold up no writes to the same file.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use support::Drive;
use weir_model::FileKind;
use weir_process::FlushCalls;

/// Longer than a busy machine holds a test up.
const FLUSH: Duration = Duration::from_secs(2);

/// Returns true if a write to a file returns while `sync` flushes it.
fn passes_a_flush(with_calls: bool) -> bool {
    let slow = format!("[flush]\nlatency_us = {}", FLUSH.as_micros());
    let drive = Drive::with_profile(&[("[flush]\nlatency_us = 1", &slow)]).unwrap();
    let file = drive.create("ib_logfile0", libc::O_DIRECT);
    let mut command = Command::new("sync");
    command.arg(drive.path("ib_logfile0"));
    let calls = with_calls.then(|| FlushCalls::intercept(&mut command).unwrap());
    let mut child = command.spawn().unwrap();
    if let Some(calls) = calls {
        calls.serve(child.id()).unwrap();
    }
    let statistics = || drive.process.statistics().unwrap();
    let is_flushing = || statistics().by_kind[&FileKind::Redo].flushes > 0;
    let patience = Instant::now() + Duration::from_mins(1);
    while !is_flushing() {
        assert!(Instant::now() < patience, "no flush came");
    }
    file.write_all_at(&[1; 4096], 0).unwrap();
    let passed = statistics().queue_depth > 0;
    assert!(child.wait().unwrap().success());
    assert_eq!(statistics().by_kind[&FileKind::Redo].flushes, 1);
    passed
}

#[test]
fn a_write_waits_for_a_flush_unless_it_is_made_for_the_child() {
    // Linux holds the file's lock; should it cease to, `FlushCalls` is needed no more.
    assert!(!passes_a_flush(false));
    assert!(passes_a_flush(true));
}

#[test]
fn a_flush_that_fails_fails_for_the_child() {
    let drive = Drive::null();
    drive.create("ib_logfile0", 0);
    let faults = [("error_rate", "1"), ("error_files", "ib_logfile*")];
    let faults = faults.map(|(key, value)| (key.to_owned(), value.to_owned()));
    weir_drive::set_faults(drive.process.mountpoint(), faults.into()).unwrap();
    let mut command = Command::new("sync");
    command.arg(drive.path("ib_logfile0"));
    let calls = FlushCalls::intercept(&mut command).unwrap();
    let child = command
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    calls.serve(child.id()).unwrap();
    let said = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&said.stderr);
    assert!(words.contains("Input/output error"), "{words}");
}

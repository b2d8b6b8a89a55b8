//! A drive's process holds nothing of its starter's caller.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::io::Read;

use rustix::io::{FdFlags, fcntl_setfd};
use support::Drive;

#[test]
fn a_pipe_of_the_caller_ends_while_the_drive_is_mounted() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    fcntl_setfd(&writer, FdFlags::empty()).unwrap();
    let drive = Drive::null();
    drop(writer);
    assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    drive.process.statistics().unwrap();
}

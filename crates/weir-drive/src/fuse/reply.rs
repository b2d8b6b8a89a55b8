//! Replies that are sent at once: metadata, for which no profile says what they take.

use fuser::{Errno, FileAttr, FopenFlags, Generation, ReplyAttr, ReplyEmpty, ReplyEntry, Request};

use super::{CACHED, Result};
use crate::store::Caller;

pub(super) fn open_flags() -> FopenFlags {
    FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
}

pub(super) fn caller(request: &Request) -> Caller {
    Caller {
        uid: request.uid(),
        gid: request.gid(),
    }
}

pub(super) fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_i32(error.raw_os_error())
}

pub(super) fn entry(reply: ReplyEntry, found: Result<FileAttr>) {
    match found {
        Ok(attributes) => reply.entry(&CACHED, &attributes, Generation(0)),
        Err(error) => reply.error(errno(error)),
    }
}

pub(super) fn attributes(reply: ReplyAttr, found: Result<FileAttr>) {
    match found {
        Ok(attributes) => reply.attr(&CACHED, &attributes),
        Err(error) => reply.error(errno(error)),
    }
}

pub(super) fn done(reply: ReplyEmpty, result: Result<()>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(error)),
    }
}

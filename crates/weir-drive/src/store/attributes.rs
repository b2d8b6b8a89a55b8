//! File attributes, between the host's `stat` and the kernel's FUSE protocol.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, INodeNo, TimeOrNow};
use rustix::fs::{FileType, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

use super::directory::kind_of;
use super::space::BLOCK_BYTES;

/// Changes by setattr.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) mode: Option<u32>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) size: Option<u64>,
    pub(crate) times: Option<Timestamps>,
}

/// The attributes of inode `number`.
pub(super) fn from_stat(number: u64, stat: &Stat) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        blocks: u64::try_from(stat.st_blocks).unwrap_or(0),
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        perm: (stat.st_mode & 0o7777) as u16,
        nlink: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: stat.st_rdev as u32,
        blksize: BLOCK_BYTES as u32,
        flags: 0,
    }
}

fn time(seconds: i64, nanoseconds: u64) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let base = if seconds < 0 {
        UNIX_EPOCH.checked_sub(whole)
    } else {
        UNIX_EPOCH.checked_add(whole)
    };
    base.unwrap_or(UNIX_EPOCH) + Duration::from_nanos(nanoseconds)
}

/// Access and modification time for utimensat(2); `None` if neither changes.
pub(crate) fn timestamps(
    accessed: Option<TimeOrNow>,
    modified: Option<TimeOrNow>,
) -> Option<Timestamps> {
    if accessed.is_none() && modified.is_none() {
        return None;
    }
    Some(Timestamps {
        last_access: timespec(accessed),
        last_modification: timespec(modified),
    })
}

fn timespec(time: Option<TimeOrNow>) -> Timespec {
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    match time {
        None => special(UTIME_OMIT),
        Some(TimeOrNow::Now) => special(UTIME_NOW),
        Some(TimeOrNow::SpecificTime(time)) => specific(time),
    }
}

fn specific(time: SystemTime) -> Timespec {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => Timespec {
            tv_sec: after.as_secs().cast_signed(),
            tv_nsec: i64::from(after.subsec_nanos()),
        },
        // Before 1970: whole seconds downwards, nanoseconds upwards.
        Err(before) => {
            let before = before.duration();
            let nanoseconds = i64::from(before.subsec_nanos());
            let borrow = i64::from(nanoseconds > 0);
            Timespec {
                tv_sec: -before.as_secs().cast_signed() - borrow,
                tv_nsec: borrow * 1_000_000_000 - nanoseconds,
            }
        }
    }
}

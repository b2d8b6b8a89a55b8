//! Model of the kernel's page cache for writes without `O_DIRECT` before a real drive. The caller is answered from
//! memory, the device writes in the background, and a flush waits for that.
//!
//! All files of a FUSE drive are `FOPEN_DIRECT_IO`, so that each write comes at once and alone. Only its time is that of
//! a page cache. What is read again costs a read of the device, and a page that is written twice is written twice.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use weir_model::Nanoseconds;

/// A writer is held up once the device is so far behind it. (assumed: the kernel's limit is a share of the memory, which
/// an emulated host does not have)
const BEHIND_NS_MAX: Nanoseconds = 1_000_000_000;
/// Files that are remembered before those that are written are forgotten.
const FILES_MIN: usize = 1_024;

/// Time at which the device will have written each file's part of the page cache.
#[derive(Debug, Default)]
pub(crate) struct PageCache(Mutex<HashMap<u64, Nanoseconds>>);

impl PageCache {
    /// Takes a write to `file` that came at `now` and that the device has done at `done`; when to answer.
    pub(crate) fn write(&self, file: u64, now: Nanoseconds, done: Nanoseconds) -> Nanoseconds {
        let mut files = self.lock();
        if files.len() >= FILES_MIN && !files.contains_key(&file) {
            files.retain(|_, written| *written > now);
        }
        let written = files.entry(file).or_default();
        *written = done.max(*written);
        now.max(done.saturating_sub(BEHIND_NS_MAX))
    }

    /// Returns the time at which all that was written to `file` before `now` is on the device.
    pub(crate) fn written(&self, file: u64, now: Nanoseconds) -> Nanoseconds {
        self.lock()
            .get(&file)
            .map_or(now, |written| now.max(*written))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Nanoseconds>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_answered_at_once_and_a_flush_waits_for_the_files_own() {
        let cache = PageCache::default();
        assert_eq!(cache.write(1, 1_000, 90_000), 1_000);
        assert_eq!(cache.write(1, 2_000, 50_000), 2_000);
        assert_eq!(cache.written(1, 3_000), 90_000);
        assert_eq!(cache.written(1, 100_000), 100_000);
        assert_eq!(cache.written(2, 3_000), 3_000);
    }

    #[test]
    fn a_writer_waits_for_a_device_that_is_far_behind() {
        let cache = PageCache::default();
        let done = 5 * BEHIND_NS_MAX;
        assert_eq!(cache.write(1, 7, done), 4 * BEHIND_NS_MAX);
    }

    #[test]
    fn files_that_are_written_are_forgotten() {
        let cache = PageCache::default();
        for file in 0..10_000 {
            cache.write(file, file, file + 10);
        }
        assert!(cache.lock().len() <= FILES_MIN);
        assert_eq!(cache.written(9_999, 9_999), 10_009);
    }
}

//! Writes that a power cut may still take back, at each moment of a recording.
//!
//! Pure bookkeeping over the order of events. A device with power-loss protection keeps what it has
//! completed. A volatile cache keeps what a completed flush covers: writes that had completed before
//! the flush was asked for (as a block device promises; `Documentation/block/writeback_cache_control`).
//! A drive that lies says "flushed" and does nothing. Whatever the drive, it destages its oldest
//! writes once more than its cache is full.
//!
//! Before the device stands the kernel's page cache. A write without `O_DIRECT` stays there until its own
//! file is flushed (fsync(2)) or the kernel writes it back, whatever the device promises. A drive in FUSE
//! gets such writes at once; the recording says which they were.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use weir_drive::{Event, OpenMode, Operation};
use weir_model::{Atomicity, Bytes, CachedWrites, DriveProfile, Pieces, WriteCache};

/// The page cache writes back in pages of this size, and promises nothing beyond one.
const KERNEL_PAGE_BYTES: u64 = 4096;
/// Bytes that the page cache holds back at most; then the kernel writes its oldest pages back
/// (`vm.dirty_background_bytes`, on small machines).
const PAGE_CACHE_BYTES_MAX: u64 = 64 << 20;
/// Undecided writes of a device at most, so that memory is bounded whatever the size of its cache.
const UNDECIDED_MAX: usize = 1 << 16;

/// Writes that a device keeps in a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheRule {
    /// Completed writes.
    PowerProtected,
    /// Flushed writes.
    Volatile,
    /// Nothing for sure but what has left its cache: its flushes do nothing.
    Lying,
}

/// The rules by which crash states of a device are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRules {
    /// Rule of the cache.
    pub cache: CacheRule,
    /// Bytes that the cache can hold back.
    pub cache_size: Bytes,
    /// Into what it may tear a write.
    pub atomicity: Atomicity,
}

impl DeviceRules {
    /// Returns the rules of the drive's data sheet. A write-back tier before a slow drive acknowledges by its own
    /// rules, all other tiers by those of the slow drive.
    pub fn for_profile(profile: &DriveProfile) -> Self {
        let tier = profile.cache.as_ref();
        let back = tier.filter(|tier| tier.writes == CachedWrites::Back);
        let keeper = back.and_then(|tier| tier.profile()).unwrap_or(profile);
        Self {
            cache: match keeper.write.cache {
                WriteCache::PowerProtected => CacheRule::PowerProtected,
                WriteCache::Volatile if keeper.flush.ignored => CacheRule::Lying,
                WriteCache::Volatile => CacheRule::Volatile,
            },
            cache_size: keeper.write.buffer,
            atomicity: keeper.atomicity,
        }
    }

    /// The parts of `write` of which a cut leaves each whole or as it was before.
    pub(crate) fn pieces(&self, write: &OpenWrite) -> Pieces {
        let atomicity = if write.is_direct {
            self.atomicity
        } else {
            self.of_page_cache()
        };
        atomicity.pieces(write.offset, write.bytes)
    }

    /// The kernel may send each of its pages apart.
    fn of_page_cache(&self) -> Atomicity {
        let boundary = self.atomicity.boundary.unwrap_or(self.atomicity.unit).0;
        let boundary = match boundary {
            0 => KERNEL_PAGE_BYTES,
            boundary => boundary.min(KERNEL_PAGE_BYTES),
        };
        Atomicity {
            unit: Bytes(self.atomicity.unit.0.min(KERNEL_PAGE_BYTES)),
            boundary: Some(Bytes(boundary)),
            ..self.atomicity
        }
    }
}

/// A write that may still be lost, or torn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenWrite {
    pub(crate) sequence: u64,
    pub(crate) file: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// It was asked for with `O_DSYNC`: durable when completed.
    is_durable: bool,
    /// It goes past the page cache.
    pub(crate) is_direct: bool,
    at: Stage,
}

/// Stage of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    InFlight,
    /// Answered by the kernel at this position in the recording; the device has not seen it.
    PageCache(u64),
    /// Completed by the device at this position.
    Device(u64),
}

impl OpenWrite {
    pub(crate) fn is_in_flight(&self) -> bool {
        self.at == Stage::InFlight
    }

    /// Returns its bytes, cut where the kernel's pages end.
    pub(crate) fn kernel_pages(&self) -> Pieces {
        let page = Bytes(KERNEL_PAGE_BYTES);
        let pages = Atomicity {
            unit: page,
            ..Atomicity::default()
        };
        pages.pieces(self.offset, self.bytes)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.is_into(other.file, &(other.offset..other.offset + other.bytes))
    }

    /// Returns true if it writes into these bytes of `file`.
    fn is_into(&self, file: u64, bytes: &Range<u64>) -> bool {
        self.file == file && self.offset < bytes.end && bytes.start < self.offset + self.bytes
    }
}

/// The undecided writes of a device.
#[derive(Debug)]
pub(crate) struct Cache {
    rules: DeviceRules,
    open: BTreeMap<u64, OpenWrite>,
    /// Flushes in flight, with the files that they were asked for.
    flushes: BTreeMap<u64, u64>,
    /// Bytes of writes in the page cache, and in the device's.
    page_cache_bytes: u64,
    device_bytes: u64,
}

impl Cache {
    pub(crate) fn new(rules: DeviceRules) -> Self {
        Self {
            rules,
            open: BTreeMap::new(),
            flushes: BTreeMap::new(),
            page_cache_bytes: 0,
            device_bytes: 0,
        }
    }

    /// Returns the writes that a cut decides now, oldest first.
    pub(crate) fn open(&self) -> impl Iterator<Item = &OpenWrite> {
        self.open.values()
    }

    /// Takes one event; the writes that are durable from now on, in order.
    pub(crate) fn advance(&mut self, event: &Event) -> Vec<OpenWrite> {
        match &event.operation {
            Operation::Write {
                file,
                offset,
                data,
                opened,
            } => self.write(event.sequence, (*file, *offset, data.bytes()), *opened),
            Operation::Flush { file } => self.flush(event.sequence, *file),
            Operation::Done { sequence } => return self.done(*sequence, event.sequence),
            // The number of a removed file may be taken again: its writes are not those of the new file.
            Operation::Create { file, .. } => return self.settle_bytes(*file, 0..u64::MAX),
            Operation::Truncate { file, bytes } => {
                return self.settle_bytes(*file, *bytes..u64::MAX);
            }
            Operation::Allocate {
                file,
                offset,
                bytes,
                ..
            } => return self.settle_bytes(*file, *offset..offset.saturating_add(*bytes)),
            _ => {}
        }
        Vec::new()
    }

    /// A write arrived.
    pub(crate) fn write(
        &mut self,
        sequence: u64,
        (file, offset, bytes): (u64, u64, u64),
        opened: OpenMode,
    ) {
        let write = OpenWrite {
            sequence,
            file,
            offset,
            bytes,
            is_durable: opened.durable,
            is_direct: opened.direct,
            at: Stage::InFlight,
        };
        self.open.insert(sequence, write);
    }

    /// A flush of `file` arrived.
    pub(crate) fn flush(&mut self, sequence: u64, file: u64) {
        self.flushes.insert(sequence, file);
    }

    /// Event number `position` says that the write or flush `sequence` is done: the writes that are
    /// durable from now on, in the order in which they are to be applied.
    pub(crate) fn done(&mut self, sequence: u64, position: u64) -> Vec<OpenWrite> {
        if let Some(file) = self.flushes.remove(&sequence) {
            return self.flushed(sequence, file);
        }
        let Some(write) = self.open.get_mut(&sequence) else {
            return Vec::new();
        };
        if !write.is_in_flight() {
            // A damaged recording answers a write twice.
            return Vec::new();
        }
        if !write.is_direct && !write.is_durable {
            write.at = Stage::PageCache(position);
            self.page_cache_bytes += write.bytes;
            return self.write_back();
        }
        let is_durable = write.is_durable;
        let mut settled = self.reached_device(sequence, position);
        if is_durable && self.rules.cache == CacheRule::Volatile {
            settled.extend(self.settle_one(sequence));
        }
        settled
    }

    /// A flush of `file` that was asked for at `asked` is done.
    fn flushed(&mut self, asked: u64, file: u64) -> Vec<OpenWrite> {
        let in_page_cache = |write: &OpenWrite| {
            write.file == file && matches!(write.at, Stage::PageCache(at) if at < asked)
        };
        let mut settled = Vec::new();
        for sequence in self.chosen(in_page_cache) {
            settled.extend(self.reached_device(sequence, asked));
        }
        if self.rules.cache == CacheRule::Volatile {
            settled
                .extend(self.settle(|write| matches!(write.at, Stage::Device(at) if at <= asked)));
        }
        settled
    }

    /// The device has completed a write: what is on the media for good because of it.
    fn reached_device(&mut self, sequence: u64, position: u64) -> Vec<OpenWrite> {
        if self.rules.cache == CacheRule::PowerProtected {
            return self.settle_one(sequence);
        }
        let Some(write) = self.open.get_mut(&sequence) else {
            return Vec::new();
        };
        if let Stage::PageCache(_) = write.at {
            self.page_cache_bytes -= write.bytes;
        }
        write.at = Stage::Device(position);
        self.device_bytes += write.bytes;
        self.overflow()
    }

    /// The kernel writes its oldest pages back once it has too many.
    fn write_back(&mut self) -> Vec<OpenWrite> {
        let mut settled = Vec::new();
        while self.page_cache_bytes > PAGE_CACHE_BYTES_MAX {
            let (oldest, at) = self
                .open
                .values()
                .find_map(|write| match write.at {
                    Stage::PageCache(at) => Some((write.sequence, at)),
                    _ => None,
                })
                .expect("invariant: the bytes are of open writes");
            settled.extend(self.reached_device(oldest, at));
        }
        settled.extend(self.overflow());
        settled
    }

    /// The writes into these bytes of `file` are decided: its size or its space changes under them.
    fn settle_bytes(&mut self, file: u64, bytes: Range<u64>) -> Vec<OpenWrite> {
        self.settle(|write| write.is_into(file, &bytes))
    }

    /// The oldest completed writes leave a cache that is too full.
    fn overflow(&mut self) -> Vec<OpenWrite> {
        let mut settled = Vec::new();
        while self.device_bytes > self.rules.cache_size.0 || self.open.len() > UNDECIDED_MAX {
            let oldest = self.open.values().find(|write| !write.is_in_flight());
            let Some(oldest) = oldest.map(|write| write.sequence) else {
                break;
            };
            settled.extend(self.settle_one(oldest));
        }
        settled
    }

    fn settle(&mut self, which: impl Fn(&OpenWrite) -> bool) -> Vec<OpenWrite> {
        let chosen = self.chosen(which);
        chosen
            .into_iter()
            .flat_map(|sequence| self.settle_one(sequence))
            .collect()
    }

    fn chosen(&self, which: impl Fn(&OpenWrite) -> bool) -> Vec<u64> {
        let chosen = self.open.values().filter(|write| which(write));
        chosen.map(|write| write.sequence).collect()
    }

    /// Settles a write after the older ones below it, which it would else be overwritten by later.
    fn settle_one(&mut self, sequence: u64) -> Vec<OpenWrite> {
        let Some(write) = self.open.get(&sequence) else {
            return Vec::new();
        };
        let older = self.open.range(..sequence).map(|(_, other)| other);
        let mut settled: Vec<u64> = older
            .filter(|other| other.overlaps(write))
            .map(|other| other.sequence)
            .collect();
        settled.push(sequence);
        settled
            .into_iter()
            .filter_map(|sequence| self.take(sequence))
            .collect()
    }

    fn take(&mut self, sequence: u64) -> Option<OpenWrite> {
        let write = self.open.remove(&sequence)?;
        match write.at {
            Stage::InFlight => {}
            Stage::PageCache(_) => self.page_cache_bytes -= write.bytes,
            Stage::Device(_) => self.device_bytes -= write.bytes,
        }
        Some(write)
    }
}

#[cfg(test)]
mod tests {
    use weir_drive::{Node, Place};

    use super::*;

    const PAGE: u64 = 16_384;
    const DIRECT: OpenMode = OpenMode {
        durable: false,
        direct: true,
    };
    const DURABLE: OpenMode = OpenMode {
        durable: true,
        direct: true,
    };
    const BUFFERED: OpenMode = OpenMode {
        durable: false,
        direct: false,
    };

    fn cache(cache: CacheRule, pages: u64) -> Cache {
        Cache::new(DeviceRules {
            cache,
            cache_size: Bytes(pages * PAGE),
            atomicity: Atomicity::default(),
        })
    }

    fn open(cache: &Cache) -> Vec<u64> {
        cache.open().map(|write| write.sequence).collect()
    }

    /// The sequence numbers of `writes`.
    fn numbers(writes: &[OpenWrite]) -> Vec<u64> {
        writes.iter().map(|write| write.sequence).collect()
    }

    fn page(number: u64) -> (u64, u64, u64) {
        (1, number * PAGE, PAGE)
    }

    #[test]
    fn power_loss_protection_keeps_what_completed() {
        let mut cache = cache(CacheRule::PowerProtected, 100);
        cache.write(1, page(1), DIRECT);
        cache.write(2, page(2), DIRECT);
        assert_eq!(numbers(&cache.done(2, 2)), [2]);
        assert_eq!(open(&cache), [1]);
    }

    #[test]
    fn a_flush_covers_what_had_completed_when_it_was_asked_for() {
        let mut cache = cache(CacheRule::Volatile, 100);
        cache.write(1, page(1), DIRECT);
        cache.write(2, page(2), DIRECT);
        assert!(cache.done(1, 2).is_empty());
        cache.flush(3, 7);
        assert!(cache.done(2, 4).is_empty());
        assert_eq!(numbers(&cache.done(3, 5)), [1]);
        assert_eq!(open(&cache), [2]);
        cache.write(6, page(3), DURABLE);
        assert_eq!(numbers(&cache.done(6, 7)), [6], "O_DSYNC");
    }

    #[test]
    fn the_page_cache_keeps_nothing_until_its_file_is_flushed() {
        for rule in [CacheRule::PowerProtected, CacheRule::Volatile] {
            let mut cache = cache(rule, 100);
            cache.write(1, page(1), BUFFERED);
            assert!(cache.done(1, 2).is_empty(), "{rule:?}");
            cache.flush(3, 2);
            assert!(cache.done(3, 4).is_empty(), "another file's: {rule:?}");
            cache.flush(5, 1);
            assert_eq!(numbers(&cache.done(5, 6)), [1], "{rule:?}");
        }
        let mut cache = cache(CacheRule::Lying, 1);
        cache.write(1, page(1), BUFFERED);
        cache.done(1, 2);
        cache.flush(3, 1);
        assert!(cache.done(3, 4).is_empty(), "now the drive's cache has it");
        cache.write(5, page(5), DIRECT);
        assert_eq!(numbers(&cache.done(5, 6)), [1]);
    }

    #[test]
    fn what_is_undecided_is_bounded() {
        let mut cache = cache(CacheRule::PowerProtected, 0);
        let mut settled = 0;
        for sequence in 0..(2 * PAGE_CACHE_BYTES_MAX / PAGE) {
            cache.write(2 * sequence, page(sequence), BUFFERED);
            settled += cache.done(2 * sequence, 2 * sequence + 1).len();
        }
        assert_eq!(open(&cache).len() as u64, PAGE_CACHE_BYTES_MAX / PAGE);
        assert_eq!(settled as u64, PAGE_CACHE_BYTES_MAX / PAGE);
    }

    #[test]
    fn a_write_that_is_answered_twice_counts_once() {
        for opened in [BUFFERED, DIRECT] {
            let mut cache = cache(CacheRule::Volatile, 1);
            cache.write(1, page(1), opened);
            for position in 2..2 + 2 * PAGE_CACHE_BYTES_MAX / PAGE {
                assert!(cache.done(1, position).is_empty());
            }
            assert_eq!(open(&cache), [1]);
            assert_eq!(cache.page_cache_bytes + cache.device_bytes, PAGE);
        }
    }

    #[test]
    fn the_kernel_may_send_each_of_its_pages_apart() {
        let rules = DeviceRules {
            atomicity: Atomicity {
                unit: Bytes(PAGE),
                ..Atomicity::default()
            },
            ..cache(CacheRule::Volatile, 1).rules
        };
        let pieces = |opened| {
            let mut cache = Cache::new(rules);
            cache.write(1, page(1), opened);
            cache
                .open()
                .map(|write| rules.pieces(write).count())
                .sum::<usize>()
        };
        assert_eq!((pieces(DIRECT), pieces(BUFFERED)), (1, 4));
    }

    #[test]
    fn writes_of_a_removed_file_are_none_of_the_file_that_has_its_number_next() {
        for rule in [CacheRule::Volatile, CacheRule::Lying] {
            let mut cache = cache(rule, 100);
            cache.write(1, page(1), DIRECT);
            cache.done(1, 2);
            let created = Event {
                sequence: 3,
                at_ns: 0,
                operation: Operation::Create {
                    file: 1,
                    at: Place {
                        parent: 1,
                        name: "new".into(),
                    },
                    node: Node::Directory { mode: 0o700 },
                },
            };
            assert_eq!(numbers(&cache.advance(&created)), [1]);
            assert!(open(&cache).is_empty(), "{rule:?}");
        }
    }

    #[test]
    fn a_lying_drive_keeps_what_left_its_cache() {
        let mut cache = cache(CacheRule::Lying, 2);
        for sequence in 1..=2 {
            cache.write(sequence, page(sequence), DURABLE);
            assert!(cache.done(sequence, sequence).is_empty());
        }
        cache.flush(3, 7);
        assert!(cache.done(3, 4).is_empty());
        cache.write(5, page(5), DIRECT);
        assert_eq!(numbers(&cache.done(5, 6)), [1]);
        assert_eq!(open(&cache), [2, 5]);
    }

    #[test]
    fn a_durable_write_takes_the_older_ones_below_it_along() {
        let mut cache = cache(CacheRule::Volatile, 100);
        cache.write(1, page(1), DIRECT);
        cache.write(2, page(9), DIRECT);
        cache.done(1, 2);
        cache.write(3, (1, PAGE + 512, 512), DURABLE);
        assert_eq!(numbers(&cache.done(3, 4)), [1, 3]);
        assert_eq!(open(&cache), [2]);
    }

    #[test]
    fn a_hole_or_a_new_end_of_the_file_decides_the_writes_below_it_alone() {
        let event = |operation| Event {
            sequence: 9,
            at_ns: 9,
            operation,
        };
        let mut cache = cache(CacheRule::Lying, 100);
        for sequence in 1..=5 {
            cache.write(sequence, page(sequence), DIRECT);
            cache.done(sequence, sequence);
        }
        let hole = Operation::Allocate {
            file: 1,
            mode: 3,
            offset: 2 * PAGE + 512,
            bytes: 512,
        };
        assert_eq!(numbers(&cache.advance(&event(hole))), [2]);
        let end = |bytes| Operation::Truncate { file: 1, bytes };
        assert!(cache.advance(&event(end(100 * PAGE))).is_empty());
        assert_eq!(numbers(&cache.advance(&event(end(4 * PAGE)))), [4, 5]);
        assert_eq!(open(&cache), [1, 3]);
    }
}

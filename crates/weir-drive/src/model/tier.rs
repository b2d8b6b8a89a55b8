//! A fast drive in front of a slow one: what flash caches (`FlashCache`, dm-cache, bcache), clouds'
//! "IO acceleration" and controllers with SSDs do.
//!
//! Pages are found by file and offset. The cache keeps the least recently used ones that fit, at
//! most four million of them: a larger cache has larger pages, so that the list of them stays below
//! 250 MB. What the cache does in the background (filling, destaging) is asked of both drives at the
//! time of the operation that caused it: it takes their throughput and no operation waits for it.

mod pages;

use weir_model::{
    CacheFill, CacheStatistics, CachedWrites, DeviceModel, FileKind, FrontCache, Nanoseconds, Op,
    OpKind, Scale,
};

use self::pages::{CachedPages, Page};
use super::device::Device;

const SLOTS_MAX: u64 = 1 << 22;
/// The file that the cache is on the fast drive.
const CACHE_FILE: u64 = 0;
/// Pages that are destaged at most because of one operation: what is due beyond them, after a long
/// time without any, comes with the next.
const DESTAGED_MAX: usize = 32;

/// The fast drive and what is on it.
#[derive(Debug)]
pub(super) struct Tier {
    fast: Device,
    pages: CachedPages,
    page_bytes: u64,
    writes: CachedWrites,
    dirty_max: usize,
    destage_above: usize,
    /// Time at which each of the background writes to the slow drive is done.
    destaging: Vec<Nanoseconds>,
    destaged_bytes: u64,
    reads: [Reads; FileKind::ALL.len()],
}

#[derive(Debug, Clone, Copy, Default)]
struct Reads {
    hits: u64,
    misses: u64,
}

impl Tier {
    /// The cache of a drive whose capacity is `data_share` of what its profile says, and with it
    /// the cache's: a hit ratio is one of amounts of data. `None` if the fast drive's profile was
    /// not found yet.
    pub(super) fn new(cache: &FrontCache, scale: Scale, data_share: f64) -> Option<Self> {
        let profile = cache.profile()?;
        let shrunk = |bytes: u64| (bytes as f64 * data_share).max(1.0) as u64;
        let capacity = shrunk(cache.capacity.0);
        let least = (capacity / SLOTS_MAX).next_power_of_two();
        let page_bytes = cache.page.0.max(least);
        let slots = (capacity / page_bytes).max(1);
        let with_host = match cache.fill {
            CacheFill::Read => 0,
            CacheFill::Eviction { host_cache } => shrunk(host_cache.0) / page_bytes,
        };
        let share_of_slots = |share: f64| (slots as f64 * share) as usize;
        Some(Self {
            fast: Device::new(profile, scale, shrunk(profile.capacity.0)),
            pages: CachedPages::new(slots as u32, with_host as usize),
            page_bytes,
            writes: cache.writes,
            dirty_max: share_of_slots(cache.dirty_share_max),
            destage_above: share_of_slots(cache.destage_above),
            destaging: vec![0; cache.destage_depth as usize],
            destaged_bytes: 0,
            reads: Default::default(),
        })
    }

    /// Accepts an operation on the drive that `slow` is the slow part of.
    pub(super) fn submit(&mut self, op: &Op, now: Nanoseconds, slow: &mut Device) -> Nanoseconds {
        let done = match op.kind {
            OpKind::Read => self.read(op, now, slow),
            OpKind::Write => self.write(op, now, slow),
            // It destages nothing: it changes no state, and may be asked for a time to come.
            OpKind::Flush => return self.fast.submit(op, now).max(slow.submit(op, now)),
            OpKind::Discard => {
                self.drop_pages(op);
                slow.submit(op, now)
            }
        };
        self.destage(now, slow);
        done
    }

    fn read(&mut self, op: &Op, now: Nanoseconds, slow: &mut Device) -> Nanoseconds {
        let counted = &mut self.reads[op.file_kind.index()];
        let mut first_slot = None;
        let all_here = pages_of(op, self.page_bytes).all(|page| {
            let slot = self.pages.touch(page);
            first_slot = first_slot.or(slot);
            slot.is_some()
        });
        if let (true, Some(slot)) = (all_here, first_slot) {
            counted.hits += 1;
            return self.fast.submit(&self.on_fast(op, slot, op.bytes), now);
        }
        counted.misses += 1;
        let done = slow.submit(op, now);
        for page in pages_of(op, self.page_bytes) {
            let entered = match self.pages.touch(page) {
                Some(_) => None,
                None => self.pages.read_by_host(page),
            };
            if let Some(slot) = entered {
                let write = Op {
                    kind: OpKind::Write,
                    ..*op
                };
                self.fast
                    .submit(&self.on_fast(&write, slot, self.page_bytes), now);
            }
        }
        done
    }

    fn write(&mut self, op: &Op, now: Nanoseconds, slow: &mut Device) -> Nanoseconds {
        let mut done = now;
        let mut only_fast = self.writes == CachedWrites::Back;
        for page in pages_of(op, self.page_bytes) {
            // A dirty page is overwritten where it is, however many there are.
            let back = self.writes == CachedWrites::Back
                && (self.pages.dirty() < self.dirty_max || self.pages.is_dirty(page));
            let slot = match self.writes {
                CachedWrites::Around => {
                    self.pages.remove(page);
                    None
                }
                _ if back => self.pages.write_back(page),
                _ => self.pages.write_through(page),
            };
            only_fast &= back && slot.is_some();
            if let Some(slot) = slot {
                let bytes = overlap(op, page.1 * self.page_bytes, self.page_bytes);
                done = done.max(self.fast.submit(&self.on_fast(op, slot, bytes), now));
            }
        }
        if only_fast {
            done
        } else {
            done.max(slow.submit(op, now))
        }
    }

    fn drop_pages(&mut self, op: &Op) {
        let first = op.offset.div_ceil(self.page_bytes);
        let end = op.offset.saturating_add(op.bytes);
        if end == u64::MAX {
            self.pages.remove_from(op.file, first);
            return;
        }
        for page in first..end / self.page_bytes {
            self.pages.remove((op.file, page));
        }
    }

    /// Writes dirty pages to the slow drive, each of the background writers one after another.
    fn destage(&mut self, now: Nanoseconds, slow: &mut Device) {
        let mut left = DESTAGED_MAX;
        for writer in 0..self.destaging.len() {
            while self.destaging[writer] <= now
                && self.pages.dirty() > self.destage_above
                && left > 0
            {
                left -= 1;
                let Some(((file, page), slot)) = self.pages.clean_oldest() else {
                    return;
                };
                let write = Op {
                    kind: OpKind::Write,
                    file,
                    file_kind: FileKind::Data,
                    offset: page * self.page_bytes,
                    bytes: self.page_bytes,
                    compressed_fraction: 1.0,
                };
                let read = Op {
                    kind: OpKind::Read,
                    ..write
                };
                self.fast
                    .submit(&self.on_fast(&read, slot, self.page_bytes), now);
                self.destaging[writer] = slow.submit(&write, now);
                self.destaged_bytes += self.page_bytes;
            }
        }
    }

    /// `op` where the fast drive has its page.
    fn on_fast(&self, op: &Op, slot: u32, bytes: u64) -> Op {
        Op {
            file: CACHE_FILE,
            offset: u64::from(slot) * self.page_bytes,
            bytes,
            ..*op
        }
    }

    /// Reads of a kind of file that the cache answered.
    pub(super) fn hits(&self, kind: FileKind) -> u64 {
        self.reads[kind.index()].hits
    }

    pub(super) fn statistics(&self) -> CacheStatistics {
        let share = |pages: usize| pages as f64 / f64::from(self.pages.slots());
        CacheStatistics {
            read_hits: self.reads.iter().map(|reads| reads.hits).sum(),
            read_misses: self.reads.iter().map(|reads| reads.misses).sum(),
            dirty_share: share(self.pages.dirty()),
            filled_share: share(self.pages.held()),
            destaged_bytes: self.destaged_bytes,
        }
    }
}

fn pages_of(op: &Op, page_bytes: u64) -> impl Iterator<Item = Page> + use<> {
    let pages = op.offset / page_bytes..(op.offset + op.bytes).div_ceil(page_bytes);
    let file = op.file;
    pages.map(move |page| (file, page))
}

/// Bytes of `op` inside the page that begins at `page_start`.
fn overlap(op: &Op, page_start: u64, page_bytes: u64) -> u64 {
    let end = (op.offset + op.bytes).min(page_start + page_bytes);
    end - op.offset.max(page_start)
}

//! The single-bit cache of a consumer drive: fast until it is full.
//!
//! Writes go to blocks that hold one bit a cell. Whenever the drive is idle it folds them into dense
//! blocks; when the cache is full, writes go to the dense blocks at their own bandwidth: the cliff.
//! The cache is made of free blocks, so that a full drive has less of it.

use weir_model::{Scale, SlcCache};

/// Fill of the cache, and the rates at which it fills and empties.
#[derive(Debug)]
pub(super) struct Slc {
    bytes_when_empty: f64,
    bytes_when_full: f64,
    used_bytes: f64,
    ns_per_byte: f64,
    fold_bytes_per_ns: f64,
}

impl Slc {
    /// The cache of a drive that is `filled` (0 to 1). One that was in use has its cache full: it
    /// was brought into steady state. The amount is one of time at the drive's bandwidth, so it
    /// shrinks with the throughput.
    pub(super) fn new(slc: &SlcCache, scale: Scale, filled: f64) -> Self {
        let mut cache = Self {
            bytes_when_empty: slc.capacity.0 as f64 * scale.factor(),
            bytes_when_full: slc.capacity_when_full.0 as f64 * scale.factor(),
            used_bytes: 0.0,
            ns_per_byte: 1e3 / (slc.bandwidth_mb_per_s * scale.factor()),
            fold_bytes_per_ns: slc.fold_mb_per_s * scale.factor() / 1e3,
        };
        if filled > 0.0 {
            cache.used_bytes = cache.capacity_bytes(filled);
        }
        cache
    }

    /// Folds for as long as the drive was idle.
    pub(super) fn fold(&mut self, idle_ns: f64) {
        self.used_bytes = (self.used_bytes - idle_ns * self.fold_bytes_per_ns).max(0.0);
    }

    /// Takes `bytes` if there is room on a drive that is `filled`; then returns what a byte takes,
    /// nanoseconds.
    pub(super) fn take(&mut self, bytes: f64, filled: f64) -> Option<f64> {
        let fits = self.used_bytes + bytes <= self.capacity_bytes(filled);
        fits.then(|| {
            self.used_bytes += bytes;
            self.ns_per_byte
        })
    }

    fn capacity_bytes(&self, filled: f64) -> f64 {
        let filled = filled.clamp(0.0, 1.0);
        self.bytes_when_empty + (self.bytes_when_full - self.bytes_when_empty) * filled
    }
}

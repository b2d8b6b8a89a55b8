//! Drives that begin fast: an SLC cache in front of dense flash, or credit that a cloud volume has saved.

use weir_model::{Bytes, SlcCache};

use crate::cliff::{Cliff, cliff};
use crate::samples::Samples;
use crate::throttled::Throttled;

/// Rates that differ by less are the same.
const SAME: f64 = 0.1;
/// A rest that gave back more than this share of the cache may have given back all of it.
const ALL: f64 = 0.95;

/// A drop after fewer bytes than so many write buffers is the buffer's own.
const BUFFERS: f64 = 4.0;

/// The drop in the first write of the file, if it is not where the write buffer is full.
pub(crate) fn first_drop(samples: &Samples) -> Option<Cliff> {
    let buffer_bytes = samples.mean("buffer_bytes").unwrap_or(0.0);
    cliff(&samples.first_write).filter(|drop| drop.after_bytes > BUFFERS * buffer_bytes)
}

/// The cache of single-bit blocks that the drop and the rest after it show. Capacity and speed of
/// emptying are those of the drive as full as it is.
pub(crate) fn slc_cache(samples: &Samples, drop: &Cliff) -> Option<(SlcCache, String)> {
    let (rest_ns, curve) = samples.after_rest.as_ref()?;
    let regained = cliff(curve).map(|again| again.after_bytes);
    let capacity = Bytes(drop.after_bytes as u64);
    let rest_s = *rest_ns as f64 / 1e9;
    // Without a drop all that was written was fast.
    let written = (curve.bytes * curve.ends_ns.len() as u64) as f64;
    let regained_bytes = regained.unwrap_or(written).min(drop.after_bytes);
    let is_all = regained.is_none() || regained_bytes > ALL * drop.after_bytes;
    let at_least = if is_all { "at least " } else { "" };
    let fold_mb_per_s = regained_bytes / rest_s / 1e6;
    let how = format!(
        "measured: the first write of the file dropped from {:.0} to {:.0} MB/s after {:.2} GB; a rest of {rest_s:.1} s \
         gave back {at_least}{:.2} GB",
        drop.before / 1e6,
        drop.after / 1e6,
        drop.after_bytes / 1e9,
        regained_bytes / 1e9
    );
    let cache = SlcCache {
        capacity,
        capacity_when_full: capacity,
        bandwidth_mb_per_s: drop.before / 1e6,
        fold_mb_per_s,
    };
    Some((cache, how))
}

/// The credit that a throttled volume had saved: operations, and 10^6 bytes.
pub(crate) fn credit(
    drop: &Cliff,
    throttled: &Throttled,
    bytes_per_operation: u64,
) -> Option<(f64, f64)> {
    let spent_bytes = drop.after_bytes * (1.0 - drop.after / drop.before);
    let by_bytes = throttled.mb_per_s.value * 1e6;
    let by_operations = throttled.iops.value * bytes_per_operation as f64;
    let is_same = |rate: f64| (drop.after / rate - 1.0).abs() < SAME;
    if is_same(by_bytes) {
        Some((0.0, spent_bytes / 1e6))
    } else if is_same(by_operations) {
        Some((spent_bytes / bytes_per_operation as f64, 0.0))
    } else {
        None
    }
}

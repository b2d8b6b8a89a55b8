//! Drives that begin fast: an SLC cache in front of dense flash, or credit that a cloud volume has saved.

use weir_model::{Bytes, SlcCache};

use crate::measure::cliff::{Cliff, cliff};
use crate::measure::provider_limits::ProviderLimits;
use crate::measure::samples::Samples;
use crate::measure::session::PAGE;

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

/// The credit that a throttled volume had saved: operations, and 10^6 bytes; 0 where no long go spent it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Credit {
    pub(crate) operations: f64,
    pub(crate) megabytes: f64,
    /// Operations and 10^6 bytes a second until it was spent.
    pub(crate) operations_per_s: Option<f64>,
    pub(crate) mb_per_s: Option<f64>,
}

/// The credit that the long goes of a volume with such limits have spent.
pub(crate) fn credit(throttled: &ProviderLimits) -> Credit {
    let mut credit = Credit::default();
    // More than the limit gives in the time until the drop.
    let spent = |drop: &Cliff| drop.after_bytes * (1.0 - drop.after / drop.before);
    if let Some(drop) = &throttled.drop_of_reads {
        credit.operations = spent(drop) / PAGE as f64;
        credit.operations_per_s = Some(drop.before / PAGE as f64);
    }
    if let Some(drop) = &throttled.drop_of_writes {
        credit.megabytes = spent(drop) / 1e6;
        credit.mb_per_s = Some(drop.before / 1e6);
    }
    credit
}

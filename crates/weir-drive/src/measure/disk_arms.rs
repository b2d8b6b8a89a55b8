//! Spinning disks: reads that go on where the last one ended need no arm.

use weir_model::Disks;

use crate::measure::latencies::percentile;
use crate::measure::provider_limits::most_reads_per_s;
use crate::measure::random_write_limit::large_writes_per_s;
use crate::measure::samples::{Samples, mean};

/// A random access of a disk takes longer than this, microseconds.
const ACCESS_US_MIN: f64 = 1_000.0;
/// A read in sequence is so many times as fast.
const FASTER: f64 = 5.0;

/// The disks behind the reads; `None` for other drives.
pub(crate) fn disks(samples: &Samples) -> Option<Disks> {
    let access_us = samples.mean("read_us")?;
    let on_us = samples.mean("read_on_us")?;
    if access_us < ACCESS_US_MIN || access_us < FASTER * on_us {
        return None;
    }
    // Uniform over one turn: 5 to 95 % of the reads are nine tenths of it.
    let at = |percent| percentile(&samples.read_us, percent);
    let rotation_us = (at(95.0)? - at(5.0)?) / 0.9;
    let per_s = mean(&most_reads_per_s(samples)?)?;
    let arms = (per_s * access_us / 1e6).ceil().max(1.0) as u32;
    // Large ones: a buffer full of those before takes small ones faster than arms move.
    let writes_per_s = mean(&large_writes_per_s(samples))?;
    let mirrored = arms >= 2 && writes_per_s < 0.7 * per_s;
    Some(Disks {
        count: if mirrored {
            arms.next_multiple_of(2)
        } else {
            arms
        },
        mirrored,
        seek_us: (access_us - rotation_us / 2.0).max(1.0),
        rotation_us,
        // A measurement covers a file, so its mean seek is that of the file's span.
        seek_min_us: None,
        sorted: 1,
    })
}

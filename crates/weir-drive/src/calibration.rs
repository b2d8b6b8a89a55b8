//! Time for which requests and replies are under way between a caller and the drive's process.
//!
//! The model's time runs from the caller's system call to its return, but the drive sees a request
//! only when it is read, and a reply still has to wake the caller. Right after the mount the drive
//! therefore reads and writes files of its own, holds each reply for a known time, and takes what
//! exceeds that time for the way there and back. Replies then leave that much earlier.
//!
//! The fastest tenth is taken, not the mean: a busy host makes some round trips longer, and not the
//! same share of reads as of writes. How much longer the way takes while the drive is in use, the
//! prober finds out.

mod correction;
mod prober;

pub(crate) use self::correction::{Correction, Ticket};
pub(crate) use self::prober::Prober;

use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use weir_model::Nanoseconds;
use weir_process::create_private_file;

/// The file, removed as soon as it is open; replies to its reads and writes are held for `HOLD_NS`.
pub(crate) const FILE: &str = ".weir-calibration";
/// For how long the replies to round trips of the drive's own are held: as long as those of the
/// fastest drives for which accuracy is a question.
pub(crate) const HOLD_NS: Nanoseconds = 60_000;
/// Rounds of all sizes and directions, of which each one's fastest counts: the first round finds
/// threads elsewhere and a timer that does not know its wake-ups yet, and any may meet a busy moment.
const ROUNDS: usize = 3;
/// Round trips of each size and direction in a round; all rounds together take about 20 ms.
const ROUND_TRIPS: usize = 16;
const SMALL_BYTES: usize = 4096;
const LARGE_BYTES: usize = 65_536;
/// More than this is a busy host, not the way.
const WAY_NS_MAX: f64 = 30_000.0;

/// Time under way, to the drive and back.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct WayBack {
    read: Line,
    write: Line,
    /// Of a request and a reply that carry no data.
    bare_ns: f64,
}

/// A line over the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Line {
    base_ns: f64,
    ns_per_byte: f64,
}

impl WayBack {
    /// The way of a read.
    pub(crate) fn read_ns(&self, bytes: u64) -> Nanoseconds {
        self.read.at(bytes) as Nanoseconds
    }

    /// The way of a write.
    pub(crate) fn write_ns(&self, bytes: u64) -> Nanoseconds {
        self.write.at(bytes) as Nanoseconds
    }

    /// The way of what carries no data.
    pub(crate) fn bare_ns(&self) -> Nanoseconds {
        self.bare_ns as Nanoseconds
    }
}

impl Line {
    fn through(small_ns: f64, large_ns: f64) -> Self {
        let span = (LARGE_BYTES - SMALL_BYTES) as f64;
        let ns_per_byte = ((large_ns - small_ns) / span).max(0.0);
        let base_ns = small_ns - ns_per_byte * SMALL_BYTES as f64;
        Self {
            base_ns: base_ns.max(0.0),
            ns_per_byte,
        }
    }

    fn at(&self, bytes: u64) -> f64 {
        let bytes = bytes.min(LARGE_BYTES as u64) as f64;
        (self.base_ns + self.ns_per_byte * bytes).min(WAY_NS_MAX)
    }
}

/// Measures the way to the drive that is mounted at `mountpoint` and back.
pub(crate) fn measure(mountpoint: &Path, correction: &Correction) -> io::Result<WayBack> {
    let path = mountpoint.join(FILE);
    let file = create_private_file(&path)?;
    std::fs::remove_file(&path)?;
    let mut buffer = vec![0x5a; LARGE_BYTES];
    file.write_all_at(&buffer, 0)?;
    let mut fastest = [f64::INFINITY; 5];
    for _ in 0..ROUNDS {
        let found = [
            way(|| file.read_exact_at(&mut buffer[..SMALL_BYTES], 0))?,
            way(|| file.read_exact_at(&mut buffer, 0))?,
            way(|| file.write_all_at(&buffer[..SMALL_BYTES], 0))?,
            way(|| file.write_all_at(&buffer, 0))?,
            bare_way(mountpoint, correction)?,
        ];
        for (fastest, found) in fastest.iter_mut().zip(found) {
            *fastest = fastest.min(found);
        }
    }
    let [read_small, read_large, write_small, write_large, bare] = fastest;
    Ok(WayBack {
        read: Line::through(read_small, read_large),
        write: Line::through(write_small, write_large),
        bare_ns: bare.min(WAY_NS_MAX),
    })
}

/// The way of a request of the prober's kind.
fn bare_way(mountpoint: &Path, correction: &Correction) -> io::Result<f64> {
    correction.set_prober(prober::own_thread());
    let found = way(|| prober::ask(mountpoint));
    correction.set_prober(0);
    found
}

/// Returns the time that a fast one of many round trips takes beyond the time for which its reply
/// is held.
fn way(mut round_trip: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let began = Instant::now();
        round_trip()?;
        times.push(began.elapsed().as_nanos() as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[ROUND_TRIPS / 10] - HOLD_NS as f64).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_passes_through_both_points_and_stays_bounded() {
        let line = Line::through(5_000.0, 11_000.0);
        assert!((line.at(4096) - 5_000.0).abs() < 1.0);
        assert!((line.at(65_536) - 11_000.0).abs() < 1.0);
        assert!(line.at(0) < 5_000.0 && line.at(1 << 20) <= line.at(65_536));
        let busy = Line::through(900_000.0, 900_000.0);
        assert!(busy.at(4096) <= WAY_NS_MAX);
    }
}

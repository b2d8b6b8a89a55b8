//! How long requests and replies are under way between a caller and the drive's process.
//!
//! The model's time runs from the caller's system call to its return, but the drive sees a request
//! only when it is read, and a reply still has to wake the caller. Right after the mount the drive
//! therefore reads and writes a file of its own, each reply held for a fixed time, and takes the
//! rest of the round trip for the way there and back. Replies then leave that much earlier.
//!
//! The lower quartile is taken, not the mean: a busy host makes some round trips longer, and a
//! reply that is a little late is honest, while one that is early is not.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

use weir_model::Nanoseconds;

/// Name of the file, which is removed as soon as it is open.
pub(crate) const CALIBRATION_NAME: &str = ".weir-calibration";
/// How long replies are held meanwhile: as long as flash takes.
pub(crate) const CALIBRATION_HOLD_NS: Nanoseconds = 80_000;
/// Round trips of each size and direction; all together take about 30 ms.
const ROUND_TRIPS: usize = 64;
const SMALL_BYTES: usize = 4096;
const LARGE_BYTES: usize = 65_536;
/// More than this is a busy host, not the way.
const WAY_NS_MAX: f64 = 25_000.0;

/// Time under way, to the drive and back, as a line over the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct WayBack {
    read: Line,
    write: Line,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Line {
    base_ns: f64,
    ns_per_byte: f64,
}

impl WayBack {
    pub(crate) fn read_ns(&self, bytes: u64) -> Nanoseconds {
        self.read.at(bytes)
    }

    pub(crate) fn write_ns(&self, bytes: u64) -> Nanoseconds {
        self.write.at(bytes)
    }
}

impl Line {
    fn through(small_ns: f64, large_ns: f64) -> Self {
        let span = (LARGE_BYTES - SMALL_BYTES) as f64;
        let ns_per_byte = ((large_ns - small_ns) / span).max(0.0);
        let base_ns = small_ns - ns_per_byte * SMALL_BYTES as f64;
        Self {
            base_ns: base_ns.clamp(0.0, WAY_NS_MAX),
            ns_per_byte,
        }
    }

    fn at(&self, bytes: u64) -> Nanoseconds {
        let bytes = bytes.min(LARGE_BYTES as u64) as f64;
        (self.base_ns + self.ns_per_byte * bytes).min(2.0 * WAY_NS_MAX) as Nanoseconds
    }
}

/// Measures the way to the drive that is mounted at `mountpoint` and back.
pub(crate) fn measure(mountpoint: &Path) -> io::Result<WayBack> {
    let path = mountpoint.join(CALIBRATION_NAME);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    let mut buffer = vec![0x5a; LARGE_BYTES];
    file.write_all_at(&buffer, 0)?;
    let mut times = |bytes: usize, one: &dyn Fn(&File, &mut [u8]) -> io::Result<()>| {
        lower_quartile(&file, &mut buffer[..bytes], one)
    };
    let read = |file: &File, buffer: &mut [u8]| file.read_exact_at(buffer, 0);
    let write = |file: &File, buffer: &mut [u8]| file.write_all_at(buffer, 0);
    Ok(WayBack {
        read: Line::through(times(SMALL_BYTES, &read)?, times(LARGE_BYTES, &read)?),
        write: Line::through(times(SMALL_BYTES, &write)?, times(LARGE_BYTES, &write)?),
    })
}

fn lower_quartile(
    file: &File,
    buffer: &mut [u8],
    one: &dyn Fn(&File, &mut [u8]) -> io::Result<()>,
) -> io::Result<f64> {
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let began = Instant::now();
        one(file, buffer)?;
        let under_way = began.elapsed().as_nanos() as f64 - CALIBRATION_HOLD_NS as f64;
        times.push(under_way.max(0.0));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUND_TRIPS / 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_passes_through_both_points_and_stays_bounded() {
        let line = Line::through(5_000.0, 11_000.0);
        assert!(line.at(4096).abs_diff(5_000) <= 1 && line.at(65_536).abs_diff(11_000) <= 1);
        assert!(line.at(0) < 5_000 && line.at(1 << 20) == line.at(65_536));
        let busy = Line::through(900_000.0, 900_000.0);
        assert!(busy.at(4096) <= 25_000);
        assert_eq!(WayBack::default().read_ns(16_384), 0);
    }
}

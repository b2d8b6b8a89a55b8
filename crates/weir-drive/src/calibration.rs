//! How long requests and replies are under way between a caller and the drive's process.
//!
//! The model's time runs from the caller's system call to its return, but the drive sees a request
//! only when it is read, and a reply still has to wake the caller. Right after the mount the drive
//! therefore reads and writes files of its own and takes what exceeds the time for which it held
//! the replies for the way there and back. Replies then leave that much earlier.
//!
//! The way is short while processors are awake and several times as long when each wake-up meets a
//! sleeping one, so both are measured (replies sent at once, and replies held as long as flash
//! takes), and the share of idle processor time, looked at several times a second, says which of
//! the two holds: near idle on a development machine at queue depth 1, near awake under load.
//!
//! The fastest tenth is taken, not the mean: a busy host makes round trips longer, and a reply that
//! is a little late is honest, while one that is early is not.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

use weir_model::Nanoseconds;

/// The files, removed as soon as they are open, and how long their replies are held.
const AWAKE: (&str, Nanoseconds) = (".weir-calibration-awake", 0);
const IDLE: (&str, Nanoseconds) = (".weir-calibration-idle", 80_000);
/// Round trips of each size and direction; all together take about 30 ms.
const ROUND_TRIPS: usize = 48;
const SMALL_BYTES: usize = 4096;
const LARGE_BYTES: usize = 65_536;
/// More than this is a busy host, not the way.
const WAY_NS_MAX: f64 = 30_000.0;

/// If `name` is a file of the calibration: how long its replies are held.
pub(crate) fn hold_of(name: &std::ffi::OsStr) -> Option<Nanoseconds> {
    let mut files = [AWAKE, IDLE].into_iter();
    files.find(|(file, _)| name == *file).map(|(_, hold)| hold)
}

/// Time under way, to the drive and back.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct WayBack {
    awake: Ways,
    idle: Ways,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Ways {
    read: Line,
    write: Line,
}

/// A line over the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Line {
    base_ns: f64,
    ns_per_byte: f64,
}

impl WayBack {
    /// The way of a read, when processors are idle for `idle_share` of their time.
    pub(crate) fn read_ns(&self, bytes: u64, idle_share: f64) -> Nanoseconds {
        between(
            self.awake.read.at(bytes),
            self.idle.read.at(bytes),
            idle_share,
        )
    }

    /// The way of a write, or with 0 bytes of anything else.
    pub(crate) fn write_ns(&self, bytes: u64, idle_share: f64) -> Nanoseconds {
        between(
            self.awake.write.at(bytes),
            self.idle.write.at(bytes),
            idle_share,
        )
    }
}

fn between(awake_ns: f64, idle_ns: f64, idle_share: f64) -> Nanoseconds {
    (awake_ns + (idle_ns - awake_ns).max(0.0) * idle_share) as Nanoseconds
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
pub(crate) fn measure(mountpoint: &Path) -> io::Result<WayBack> {
    Ok(WayBack {
        awake: measure_with(mountpoint, AWAKE)?,
        idle: measure_with(mountpoint, IDLE)?,
    })
}

fn measure_with(mountpoint: &Path, (name, hold): (&str, Nanoseconds)) -> io::Result<Ways> {
    let path = mountpoint.join(name);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    let mut buffer = vec![0x5a; LARGE_BYTES];
    file.write_all_at(&buffer, 0)?;
    let mut way = |bytes: usize, one: RoundTrip| {
        let fast = fast_round_trip(&file, &mut buffer[..bytes], one)?;
        io::Result::Ok((fast - hold as f64).max(0.0))
    };
    let read: RoundTrip = |file, buffer| file.read_exact_at(buffer, 0);
    let write: RoundTrip = |file, buffer| file.write_all_at(buffer, 0);
    Ok(Ways {
        read: Line::through(way(SMALL_BYTES, read)?, way(LARGE_BYTES, read)?),
        write: Line::through(way(SMALL_BYTES, write)?, way(LARGE_BYTES, write)?),
    })
}

type RoundTrip = fn(&File, &mut [u8]) -> io::Result<()>;

fn fast_round_trip(file: &File, buffer: &mut [u8], one: RoundTrip) -> io::Result<f64> {
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let began = Instant::now();
        one(file, buffer)?;
        times.push(began.elapsed().as_nanos() as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUND_TRIPS / 10])
}

/// Share of the processors' time that was idle between two looks at it.
#[derive(Debug, Default)]
pub(crate) struct IdleShare {
    idle: u64,
    total: u64,
}

impl IdleShare {
    /// The share since the last call, 0 to 1; `None` if the clock has not moved.
    pub(crate) fn look(&mut self) -> Option<f64> {
        let (idle, total) = idle_and_total(&std::fs::read_to_string("/proc/stat").ok()?)?;
        let passed = total.checked_sub(self.total).filter(|ticks| *ticks > 0)?;
        let share = idle.saturating_sub(self.idle) as f64 / passed as f64;
        (self.idle, self.total) = (idle, total);
        Some(share.clamp(0.0, 1.0))
    }
}

/// Ticks idle (with and without I/O pending) and ticks in all, of the first line (`proc_stat`(5)).
fn idle_and_total(stat: &str) -> Option<(u64, u64)> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = fields
        .split_ascii_whitespace()
        .filter_map(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal; guest time is contained in user.
    Some((ticks.get(3..5)?.iter().sum(), ticks.get(..8)?.iter().sum()))
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

    #[test]
    fn the_idle_share_chooses_between_the_ways() {
        assert_eq!(between(6_000.0, 26_000.0, 0.0), 6_000);
        assert_eq!(between(6_000.0, 26_000.0, 0.5), 16_000);
        assert_eq!(between(6_000.0, 2_000.0, 1.0), 6_000);
        assert_eq!(WayBack::default().read_ns(16_384, 0.5), 0);
    }

    #[test]
    fn idle_time_is_read_from_the_first_line() {
        let stat = "cpu  10 0 20 300 40 1 2 3 9 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(idle_and_total(stat), Some((340, 376)));
        assert_eq!(idle_and_total("intr 1"), None);
    }
}

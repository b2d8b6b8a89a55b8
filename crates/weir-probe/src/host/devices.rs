//! Block devices: `/proc/diskstats` (kernel, `Documentation/admin-guide/iostats.rst`).

use std::collections::BTreeSet;
use std::fs;

use weir_model::{Metric, metrics};

use crate::probe_parts::Part;
use crate::proc_file::ProcFile;
use crate::{ProbeError, Readings};

const DISKSTATS: &str = "/proc/diskstats";
/// The unit of traffic there, whatever the device's own is.
const SECTOR_BYTES: f64 = 512.0;

/// All whole block devices that were ever used.
#[derive(Debug)]
pub(super) struct Devices {
    file: ProcFile,
    /// Whole devices: a partition's traffic is its device's too.
    whole: BTreeSet<String>,
}

impl Default for Devices {
    fn default() -> Self {
        let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        Self {
            file: ProcFile::new(DISKSTATS),
            whole: names.collect(),
        }
    }
}

impl Part<()> for Devices {
    fn name(&self) -> &'static str {
        DISKSTATS
    }

    fn read(&mut self, (): &mut (), readings: &mut Readings) -> Result<(), ProbeError> {
        for line in self.file.read()?.lines() {
            add_device(line, &self.whole, readings);
        }
        Ok(())
    }
}

/// Field of a line after the name, from 1 as the kernel numbers them, with the metric and the
/// factor that makes its unit of the kernel's (sectors, milliseconds). Fields 16 and 17 are there
/// since Linux 5.5.
const FIELDS: [(usize, Metric, f64); 10] = [
    (1, metrics::HOST_DEVICE_READS, 1.0),
    (3, metrics::HOST_DEVICE_READ_BYTES, SECTOR_BYTES),
    (4, metrics::HOST_DEVICE_READ_TIME, 1e-3),
    (5, metrics::HOST_DEVICE_WRITES, 1.0),
    (7, metrics::HOST_DEVICE_WRITE_BYTES, SECTOR_BYTES),
    (8, metrics::HOST_DEVICE_WRITE_TIME, 1e-3),
    (9, metrics::HOST_DEVICE_IN_FLIGHT, 1.0),
    (10, metrics::HOST_DEVICE_BUSY, 1e-3),
    (16, metrics::HOST_DEVICE_FLUSHES, 1.0),
    (17, metrics::HOST_DEVICE_FLUSH_TIME, 1e-3),
];

/// `major minor name`, then the counters.
fn add_device(line: &str, whole: &BTreeSet<String>, readings: &mut Readings) {
    let mut words = line.split_ascii_whitespace().skip(2);
    let Some(name) = words.next().filter(|name| whole.contains(*name)) else {
        return;
    };
    // Before the first number that is not zero the device was never used.
    if words.clone().all(|word| word == "0") {
        return;
    }
    let mut fields = FIELDS.iter().peekable();
    for (position, word) in (1..).zip(words) {
        if let Some((_, metric, factor)) = fields.next_if(|field| field.0 == position)
            && let Ok(value) = word.parse::<f64>()
        {
            readings.add_of(*metric, name, value * factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_counters_in_our_units() {
        let whole = BTreeSet::from(["vda".to_owned(), "loop1".to_owned()]);
        let mut readings = Readings::default();
        for line in [
            " 254       0 vda 45 1 262 5394 86 15 1240 5373 2 1299 11375 13 1 1278 279 23 327",
            " 254       1 vda1 45 1 262 5394 86 15 1240 5373 2 1299 11375 13 1 1278 279 23 327",
            "   7       1 loop1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
        ] {
            add_device(line, &whole, &mut readings);
        }
        assert_eq!(readings.pending().count(), FIELDS.len());
        for (metric, value) in [
            (metrics::HOST_DEVICE_READS, 45.0),
            (metrics::HOST_DEVICE_READ_BYTES, 262.0 * 512.0),
            (metrics::HOST_DEVICE_READ_TIME, 5.394),
            (metrics::HOST_DEVICE_WRITES, 86.0),
            (metrics::HOST_DEVICE_WRITE_TIME, 5.373),
            (metrics::HOST_DEVICE_IN_FLIGHT, 2.0),
            (metrics::HOST_DEVICE_BUSY, 1.299),
            (metrics::HOST_DEVICE_FLUSHES, 23.0),
            (metrics::HOST_DEVICE_FLUSH_TIME, 0.327),
        ] {
            let found = readings.value_of(metric, "vda").unwrap();
            assert!((found - value).abs() < 1e-9, "{} {found}", metric.name);
        }
    }
}

//! Counters of an emulated drive, from whoever holds the drive.

use weir_model::{DriveStatistics, FileKindStatistics, metrics};

use crate::{Probe, ProbeError, Reading};

type Source = Box<dyn FnMut() -> Option<DriveStatistics> + Send>;

/// Reads what an emulated drive has counted.
pub struct DriveProbe {
    source: Source,
}

impl DriveProbe {
    /// A drive whose statistics `source` gives; `None` when it no longer can.
    pub fn new(source: impl FnMut() -> Option<DriveStatistics> + Send + 'static) -> Self {
        Self {
            source: Box::new(source),
        }
    }
}

impl std::fmt::Debug for DriveProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DriveProbe").finish_non_exhaustive()
    }
}

impl Probe for DriveProbe {
    fn name(&self) -> &'static str {
        "drive"
    }

    fn sample(&mut self) -> Result<Vec<Reading>, ProbeError> {
        let statistics = (self.source)().ok_or(ProbeError::Drive)?;
        Ok(readings(&statistics))
    }
}

fn readings(statistics: &DriveStatistics) -> Vec<Reading> {
    let sum = |field: fn(&FileKindStatistics) -> u64| {
        statistics.by_kind.values().map(field).sum::<u64>() as f64
    };
    vec![
        (metrics::DRIVE_READS, sum(|kind| kind.reads)),
        (metrics::DRIVE_WRITES, sum(|kind| kind.writes)),
        (metrics::DRIVE_FLUSHES, sum(|kind| kind.flushes)),
        (metrics::DRIVE_READ_BYTES, sum(|kind| kind.read_bytes)),
        (metrics::DRIVE_WRITE_BYTES, sum(|kind| kind.write_bytes)),
        (
            metrics::DRIVE_MEDIA_BYTES,
            statistics.media_written_bytes as f64,
        ),
        (metrics::DRIVE_READ_BUSY, statistics.read_busy_s),
        (metrics::DRIVE_WRITE_BUSY, statistics.write_busy_s),
        (
            metrics::DRIVE_QUEUE_DEPTH,
            f64::from(statistics.queue_depth),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use weir_model::FileKind;

    use super::*;

    #[test]
    fn traffic_is_summed_over_the_kinds_of_files() {
        let traffic = |reads, write_bytes| FileKindStatistics {
            reads,
            write_bytes,
            ..FileKindStatistics::default()
        };
        let statistics = DriveStatistics {
            by_kind: [
                (FileKind::Redo, traffic(1, 512)),
                (FileKind::Data, traffic(41, 16384)),
            ]
            .into(),
            queue_depth: 3,
            ..DriveStatistics::default()
        };
        let mut probe = DriveProbe::new(move || Some(statistics.clone()));
        let readings = probe.sample().unwrap();
        assert!(readings.contains(&(metrics::DRIVE_READS, 42.0)));
        assert!(readings.contains(&(metrics::DRIVE_WRITE_BYTES, 16896.0)));
        assert!(readings.contains(&(metrics::DRIVE_QUEUE_DEPTH, 3.0)));
    }

    #[test]
    fn a_drive_that_is_gone_is_a_gap() {
        let mut probe = DriveProbe::new(|| None);
        assert!(matches!(probe.sample(), Err(ProbeError::Drive)));
    }
}

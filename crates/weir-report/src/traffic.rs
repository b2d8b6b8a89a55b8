//! What a drive did for each cell: traffic by kind of file, and how true the emulation was.

use serde::Serialize;
use weir_model::{DriveStatistics, FileKind, FileKindStatistics, StudyResult};

use crate::number::Rounded;
use crate::words::file_kind_name;

/// Traffic of one cell, averaged over its repetitions.
#[derive(Debug, Serialize)]
pub(crate) struct CellTraffic {
    cell: usize,
    kinds: Vec<KindTraffic>,
    /// Bytes that the media wrote per byte that the server wrote.
    media_bytes_per_host_byte: Option<Rounded>,
    /// Stored bytes per written byte; 1 without compression.
    compressed_fraction: Option<Rounded>,
    /// Of the worst repetition, as all lateness.
    lateness_us_p50: Option<Rounded>,
    lateness_us_p99: Option<Rounded>,
    late_share: Option<Rounded>,
}

/// Traffic of one kind of file.
#[derive(Debug, Serialize)]
pub(crate) struct KindTraffic {
    name: &'static str,
    reads_per_s: Option<Rounded>,
    read_mb_per_s: Option<Rounded>,
    writes_per_s: Option<Rounded>,
    write_mb_per_s: Option<Rounded>,
    flushes_per_s: Option<Rounded>,
    /// Mean modelled latencies; absent without an operation.
    read_latency_us_mean: Option<Rounded>,
    write_latency_us_mean: Option<Rounded>,
    flush_latency_us_mean: Option<Rounded>,
}

/// Traffic of every cell that ran on an emulated drive.
pub(crate) fn of(result: &StudyResult) -> Vec<CellTraffic> {
    let cells = 0..result.plan.cells.len();
    cells.filter_map(|cell| of_cell(result, cell)).collect()
}

fn of_cell(result: &StudyResult, cell: usize) -> Option<CellTraffic> {
    let runs: Vec<(&DriveStatistics, f64)> = result
        .runs
        .iter()
        .filter(|run| run.record.cell == cell)
        .filter_map(|run| Some((run.drive.as_ref()?, run.record.measured_s)))
        .collect();
    if runs.is_empty() {
        return None;
    }
    let seconds: f64 = runs.iter().map(|(_, measured_s)| measured_s).sum();
    let kinds = FileKind::ALL.into_iter().filter_map(|kind| {
        let total = sum(runs
            .iter()
            .filter_map(|(drive, _)| drive.by_kind.get(&kind)));
        let operations = total.reads + total.writes + total.flushes;
        (operations > 0).then(|| kind_traffic(kind, &total, seconds))
    });
    let written: u64 = runs
        .iter()
        .flat_map(|(drive, _)| drive.by_kind.values())
        .map(|kind| kind.write_bytes)
        .sum();
    let media: u64 = runs
        .iter()
        .map(|(drive, _)| drive.media_written_bytes)
        .sum();
    let mean = |value: fn(&DriveStatistics) -> f64| {
        let total: f64 = runs.iter().map(|(drive, _)| value(drive)).sum();
        Rounded::new(total / runs.len() as f64, 3)
    };
    let worst = |value: fn(&DriveStatistics) -> f64| {
        let worst = runs
            .iter()
            .map(|(drive, _)| value(drive))
            .fold(0.0, f64::max);
        Rounded::new(worst, 3)
    };
    Some(CellTraffic {
        cell,
        kinds: kinds.collect(),
        media_bytes_per_host_byte: Rounded::new(media as f64 / written as f64, 3),
        compressed_fraction: mean(|drive| drive.compressed_fraction),
        lateness_us_p50: worst(|drive| drive.lateness_us_p50),
        lateness_us_p99: worst(|drive| drive.lateness_us_p99),
        late_share: worst(|drive| drive.late_share),
    })
}

fn sum<'a>(parts: impl Iterator<Item = &'a FileKindStatistics>) -> FileKindStatistics {
    parts.fold(FileKindStatistics::default(), |sum, part| sum.plus(part))
}

fn kind_traffic(kind: FileKind, total: &FileKindStatistics, seconds: f64) -> KindTraffic {
    let rate = |count: u64| Rounded::new(count as f64 / seconds, 4);
    let mb_rate = |bytes: u64| Rounded::new(bytes as f64 / 1e6 / seconds, 4);
    // 0 / 0 is not finite and so becomes absent.
    let mean_us = |total_s: f64, count: u64| Rounded::new(total_s * 1e6 / count as f64, 3);
    KindTraffic {
        name: file_kind_name(kind),
        reads_per_s: rate(total.reads),
        read_mb_per_s: mb_rate(total.read_bytes),
        writes_per_s: rate(total.writes),
        write_mb_per_s: mb_rate(total.write_bytes),
        flushes_per_s: rate(total.flushes),
        read_latency_us_mean: mean_us(total.read_latency_s, total.reads),
        write_latency_us_mean: mean_us(total.write_latency_s, total.writes),
        flush_latency_us_mean: mean_us(total.flush_latency_s, total.flushes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn rates_are_totals_over_the_time_of_all_repetitions() {
        let mut result = sample::study(1, 2);
        for (run, writes) in result.runs.iter_mut().zip([100, 300]) {
            let redo = FileKindStatistics {
                writes,
                write_bytes: writes * 1_000_000,
                write_latency_s: writes as f64 * 20e-6,
                ..FileKindStatistics::default()
            };
            run.record.measured_s = 10.0;
            run.drive = Some(DriveStatistics {
                by_kind: [
                    (FileKind::Redo, redo),
                    (FileKind::Undo, FileKindStatistics::default()),
                ]
                .into(),
                media_written_bytes: writes * 2_000_000,
                late_share: writes as f64 / 1000.0,
                ..DriveStatistics::default()
            });
        }
        let traffic = of(&result);
        let [cell] = traffic.as_slice() else {
            panic!("one cell, not {}", traffic.len());
        };
        assert_eq!(cell.kinds.len(), 1, "a kind without operations is left out");
        assert_eq!(cell.kinds[0].writes_per_s, Rounded::fine(20.0));
        assert_eq!(cell.kinds[0].write_mb_per_s, Rounded::fine(20.0));
        assert_eq!(cell.kinds[0].write_latency_us_mean, Rounded::fine(20.0));
        assert_eq!(cell.kinds[0].read_latency_us_mean, None);
        assert_eq!(cell.media_bytes_per_host_byte, Rounded::fine(2.0));
        assert_eq!(cell.late_share, Rounded::fine(0.3));
    }

    #[test]
    fn cells_on_the_hosts_own_storage_have_no_traffic() {
        let mut result = sample::study(2, 2);
        for run in &mut result.runs {
            run.drive = None;
        }
        assert!(of(&result).is_empty());
    }
}

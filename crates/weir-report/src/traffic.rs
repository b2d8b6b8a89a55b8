//! Work of a drive for each cell: traffic by kind of file, and the accuracy of the emulation.

use serde::Serialize;
use weir_model::{DriveStatistics, FileKind, FileKindStatistics, StudyResult};

use crate::number::RoundedNumber;
use crate::spread::Spread;
use crate::words::file_kind_name;

/// Traffic of one cell, averaged over its repetitions, with the lowest and the highest of them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CellTraffic {
    cell: usize,
    kinds: Vec<KindTraffic>,
    /// Bytes that the media wrote per byte that the server wrote.
    media_bytes_per_host_byte: Option<Spread>,
    /// Stored bytes per written byte; 1 without compression.
    compressed_fraction: Option<RoundedNumber>,
    /// Of the worst repetition, as all lateness.
    lateness_us_p50: Option<RoundedNumber>,
    lateness_us_p99: Option<RoundedNumber>,
    late_share: Option<RoundedNumber>,
}

/// Traffic of one kind of file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct KindTraffic {
    name: &'static str,
    reads_per_s: Option<Spread>,
    read_mb_per_s: Option<Spread>,
    writes_per_s: Option<Spread>,
    write_mb_per_s: Option<Spread>,
    flushes_per_s: Option<Spread>,
    /// Mean modelled latencies; absent without an operation.
    read_latency_us_mean: Option<Spread>,
    write_latency_us_mean: Option<Spread>,
    flush_latency_us_mean: Option<Spread>,
}

/// Traffic of every cell that ran on an emulated drive.
pub(crate) fn traffic(result: &StudyResult) -> Vec<CellTraffic> {
    let cells = 0..result.plan.cells.len();
    cells.filter_map(|cell| of_cell(result, cell)).collect()
}

fn of_cell(result: &StudyResult, cell: usize) -> Option<CellTraffic> {
    let runs: Vec<(&DriveStatistics, f64)> = result
        .runs
        .iter()
        .filter(|run| run.record.cell == cell)
        .filter_map(|run| Some((run.drive.as_deref()?, run.record.measured_s)))
        .collect();
    if runs.is_empty() {
        return None;
    }
    let kinds = FileKind::ALL
        .into_iter()
        .filter_map(|kind| kind_traffic(kind, &runs));
    let mean = |value: fn(&DriveStatistics) -> f64| {
        let total: f64 = runs.iter().map(|(drive, _)| value(drive)).sum();
        RoundedNumber::new(total / runs.len() as f64, 3)
    };
    let worst = |value: fn(&DriveStatistics) -> f64| {
        let worst = runs
            .iter()
            .map(|(drive, _)| value(drive))
            .fold(0.0, f64::max);
        RoundedNumber::new(worst, 3)
    };
    Some(CellTraffic {
        cell,
        kinds: kinds.collect(),
        media_bytes_per_host_byte: amplification(&runs),
        compressed_fraction: mean(|drive| drive.compressed_fraction),
        lateness_us_p50: worst(|drive| drive.lateness_us_p50),
        lateness_us_p99: worst(|drive| drive.lateness_us_p99),
        late_share: worst(|drive| drive.late_share),
    })
}

/// Bytes on the media per byte written, of all `runs` together and of each.
fn amplification(runs: &[(&DriveStatistics, f64)]) -> Option<Spread> {
    let media = |drive: &DriveStatistics| drive.media_written_bytes as f64;
    let written = |drive: &DriveStatistics| -> f64 {
        let kinds = drive.by_kind.values();
        kinds.map(|kind| kind.write_bytes as f64).sum()
    };
    let total = |of: &dyn Fn(&DriveStatistics) -> f64| -> f64 {
        runs.iter().map(|(drive, _)| of(drive)).sum()
    };
    let each: Vec<_> = runs
        .iter()
        .map(|(drive, _)| media(drive) / written(drive))
        .collect();
    Spread::around(total(&media) / total(&written), &each, 3)
}

/// Traffic of `kind` in all `runs` together, each with its seconds; `None` without an operation.
fn kind_traffic(kind: FileKind, runs: &[(&DriveStatistics, f64)]) -> Option<KindTraffic> {
    let each: Vec<(FileKindStatistics, f64)> = runs
        .iter()
        .map(|(drive, seconds)| {
            (
                drive.by_kind.get(&kind).copied().unwrap_or_default(),
                *seconds,
            )
        })
        .collect();
    let nothing = (FileKindStatistics::default(), 0.0);
    let total = each
        .iter()
        .fold(nothing, |sum, one| (sum.0.plus(&one.0), sum.1 + one.1));
    let spread = |value: &dyn Fn(&FileKindStatistics, f64) -> f64, digits| {
        let repetitions: Vec<_> = each.iter().map(|one| value(&one.0, one.1)).collect();
        Spread::around(value(&total.0, total.1), &repetitions, digits)
    };
    let rate = |count: fn(&FileKindStatistics) -> u64| {
        spread(&|kind, seconds| count(kind) as f64 / seconds, 4)
    };
    let mb_rate = |bytes: fn(&FileKindStatistics) -> u64| {
        spread(&|kind, seconds| bytes(kind) as f64 / 1e6 / seconds, 4)
    };
    // 0 / 0 is not finite and so becomes absent.
    let mean_us = |of: fn(&FileKindStatistics) -> (f64, u64)| {
        let mean = |kind: &FileKindStatistics, _| {
            let (total_s, count) = of(kind);
            total_s * 1e6 / count as f64
        };
        spread(&mean, 3)
    };
    (total.0.reads + total.0.writes + total.0.flushes > 0).then(|| KindTraffic {
        name: file_kind_name(kind),
        reads_per_s: rate(|kind| kind.reads),
        read_mb_per_s: mb_rate(|kind| kind.read_bytes),
        writes_per_s: rate(|kind| kind.writes),
        write_mb_per_s: mb_rate(|kind| kind.write_bytes),
        flushes_per_s: rate(|kind| kind.flushes),
        read_latency_us_mean: mean_us(|kind| (kind.read_latency_s, kind.reads)),
        write_latency_us_mean: mean_us(|kind| (kind.write_latency_s, kind.writes)),
        flush_latency_us_mean: mean_us(|kind| (kind.flush_latency_s, kind.flushes)),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sample;

    #[test]
    fn rates_are_totals_over_the_time_of_all_repetitions() {
        let mut result = sample::study(1, 2);
        for (run, writes) in result.evidence.runs.iter_mut().zip([100, 300]) {
            let redo = FileKindStatistics {
                writes,
                write_bytes: writes * 1_000_000,
                write_latency_s: writes as f64 * 20e-6,
                ..FileKindStatistics::default()
            };
            run.record.measured_s = 10.0;
            run.drive = Some(Arc::new(DriveStatistics {
                by_kind: [
                    (FileKind::Redo, redo),
                    (FileKind::Undo, FileKindStatistics::default()),
                ]
                .into(),
                media_written_bytes: writes * 2_000_000,
                late_share: writes as f64 / 1000.0,
                ..DriveStatistics::default()
            }));
        }
        let traffic = traffic(&result.evidence);
        let [cell] = traffic.as_slice() else {
            panic!("one cell, not {}", traffic.len());
        };
        assert_eq!(cell.kinds.len(), 1, "a kind without operations is left out");
        assert_eq!(
            cell.kinds[0].writes_per_s,
            Spread::around(20.0, &[10.0, 30.0], 4)
        );
        assert_eq!(
            cell.kinds[0].write_mb_per_s,
            Spread::around(20.0, &[10.0, 30.0], 4)
        );
        assert_eq!(
            cell.kinds[0].write_latency_us_mean,
            Spread::around(20.0, &[], 3)
        );
        assert_eq!(cell.kinds[0].read_latency_us_mean, None);
        assert_eq!(cell.media_bytes_per_host_byte, Spread::around(2.0, &[], 3));
        assert_eq!(cell.late_share, RoundedNumber::fine(0.3));
    }

    #[test]
    fn cells_on_the_hosts_own_storage_have_no_traffic() {
        let mut result = sample::study(2, 2);
        for run in &mut result.evidence.runs {
            run.drive = None;
        }
        assert!(traffic(&result.evidence).is_empty());
    }
}

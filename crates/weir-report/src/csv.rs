//! One row per run, one column per factor, for spreadsheets and data frames (RFC 4180).

use std::collections::BTreeSet;

use weir_model::{RunRecord, StudyResult};

/// Columns after those of the factors.
const MEASURED: [&str; 18] = [
    "repetition",
    "started_at",
    "measured_s",
    "queries_per_s",
    "transactions_per_s",
    "latency_us_mean",
    "latency_us_p50",
    "latency_us_p95",
    "latency_us_p99",
    "latency_us_p999",
    "latency_us_max",
    "errors",
    "unfinished",
    "host_cpu",
    "server_cores",
    "client_cpu",
    "drive_read",
    "drive_write",
];

/// The runs of `result` in the order in which they were made; nothing rounded.
pub fn csv(result: &StudyResult) -> String {
    let cells = &result.plan.cells;
    let factors: BTreeSet<_> = cells.iter().flat_map(|cell| cell.levels.keys()).collect();
    let header = factors.iter().map(|factor| field(factor));
    let header: Vec<_> = header.chain(MEASURED.map(str::to_owned)).collect();
    let rows = result.runs.iter().map(|run| {
        let levels = cells.get(run.record.cell).map(|cell| &cell.levels);
        let level = |factor: &&String| {
            let level = levels.and_then(|levels| levels.get(*factor));
            field(level.map_or("", String::as_str))
        };
        let levels = factors.iter().map(level);
        levels.chain(measured(&run.record)).collect::<Vec<_>>()
    });
    let lines = std::iter::once(header).chain(rows);
    lines.map(|line| line.join(",") + "\r\n").collect()
}

fn measured(record: &RunRecord) -> [String; MEASURED.len()] {
    let (latency, used) = (&record.latency, &record.utilization);
    [
        record.repetition.to_string(),
        field(&record.started_at),
        record.measured_s.to_string(),
        record.queries_per_s.to_string(),
        record.transactions_per_s.to_string(),
        latency.us_mean.to_string(),
        latency.us_p50.to_string(),
        latency.us_p95.to_string(),
        latency.us_p99.to_string(),
        latency.us_p999.to_string(),
        latency.us_max.to_string(),
        record.errors.to_string(),
        record.unfinished.to_string(),
        used.host_cpu.to_string(),
        used.server_cores.to_string(),
        used.client_cpu.to_string(),
        used.drive_read.to_string(),
        used.drive_write.to_string(),
    ]
}

/// A field, quoted where its text asks for it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_run_is_a_row_with_its_levels_and_unrounded_numbers() {
        let result = sample::study(4, 3);
        let text = csv(&result);
        let lines: Vec<_> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 1 + result.runs.len());
        assert!(lines[0].starts_with("drive,innodb_doublewrite,repetition,started_at,"));
        let columns = lines[0].split(',').count();
        for (line, run) in lines[1..].iter().zip(&result.runs) {
            let fields: Vec<_> = line.split(',').collect();
            assert_eq!(fields.len(), columns);
            assert_eq!(
                fields[0],
                result.plan.cells[run.record.cell].levels["drive"]
            );
            let throughput: f64 = fields[5].parse().unwrap();
            assert_eq!(throughput.to_bits(), run.record.queries_per_s.to_bits());
        }
    }

    #[test]
    fn text_with_commas_and_quotes_stays_one_field() {
        assert_eq!(field("CSD, \"off\""), "\"CSD, \"\"off\"\"\"");
    }
}

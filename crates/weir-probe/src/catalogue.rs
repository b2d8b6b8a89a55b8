//! `docs/probes.md`, from the metrics themselves.

use std::fmt::Write as _;

use weir_model::{Metric, MetricKind, metrics};

use crate::server::variables_of;

const HEAD: &str = "\
# Probes

Generated from the metrics in `crates/weir-model/src/metric/names.rs`; do not edit.

While a run is loaded, its probes read every source below once a second, on one clock. A sample has the
time at which it was true; what could not be read in time is a gap with its reason, never a zero. What an
account may not read (`PROCESS` for InnoDB's tables, `SELECT` on `performance_schema`, `REPLICATION CLIENT`
or `SLAVE MONITOR`) is named once, and the rest goes on. A server that does not answer within a second
costs its samples, never the run.

Counters only grow: the difference of two samples over their distance in time is a rate. Gauges are levels
at an instant. The unit stands last in the name. A metric *per* something has one series for each: results
hold its name in `instance`. A source that a host or a server does not have (pressure, block devices,
MariaDB's `performance_schema`, which is off by default) gives no series.

`status.redo_lsn_bytes` and `status.checkpoint_age_bytes` of MySQL are up to 0.1 s old, more where its threads
wait for a core: a thread in the background brings the variables up to date (every 14 ms in the median, 74 ms at
most, MySQL 9.7.4 on a busy machine). The exact counter, `log_lsn_current`, is off by default.

What is told from these numbers about a run's limit: [limiter.md](limiter.md).
";

/// The document: a table for each source.
pub fn catalogue() -> String {
    let mut text = HEAD.to_owned();
    for metrics in metrics::ALL.chunk_by(|a, b| heading(a) == heading(b)) {
        let title = heading(&metrics[0]);
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n## {title}\n\n| metric | unit | kind | meaning |\n|---|---|---|---|\n"
        );
        for metric in metrics {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {}{} |",
                metric.name,
                metric.unit,
                kind(metric),
                metric.title,
                variables(*metric)
            );
        }
    }
    text
}

fn heading(metric: &Metric) -> String {
    let per = match metric.per {
        "" => String::new(),
        per => format!(", per {per}"),
    };
    format!("{}: `{}`{per}", group(metric), metric.source)
}

/// What the name begins with: `host`, `server`, `drive`.
fn group(metric: &Metric) -> &str {
    let (group, _) = metric.name.split_once('.').unwrap_or((metric.name, ""));
    group
}

fn kind(metric: &Metric) -> &'static str {
    match metric.kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
    }
}

/// The server's variables that have it.
fn variables(metric: Metric) -> String {
    let names: Vec<_> = variables_of(metric)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(" ({})", names.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/probes.md");

    #[test]
    fn the_document_is_up_to_date() {
        let text = super::catalogue();
        if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
            std::fs::write(DOCUMENT, &text).unwrap();
        }
        assert!(
            std::fs::read_to_string(DOCUMENT).unwrap_or_default() == text,
            "docs/probes.md is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo test -p weir-probe`"
        );
    }
}

//! `docs/probes.md`, from the metrics themselves.

use std::fmt::Write as _;

use weir_model::{Metric, MetricKind, metrics};

use crate::server::variables_of;

const HEAD: &str = "\
# Metrics of the probes

Probes sample every source below once a second during a run. Read their values with SQL:

```sql
SELECT run, time_s, value FROM sample JOIN metric ON metric.id = sample.metric
WHERE metric.name = 'server.cpu_s' ORDER BY run, time_s;
```

| kind | meaning |
|---|---|
| counter | only grows; the difference of two samples / the time between them is a rate |
| gauge | a level at an instant |

The unit stands last in the name. A metric *per* something has one series for each, with its name in
`instance`. All sources share one clock.

| case | result |
|---|---|
| a value could not be read in time | a gap with its reason, never a zero |
| the account lacks a privilege (`PROCESS`, `SELECT` on `performance_schema`, `REPLICATION CLIENT` or `SLAVE MONITOR`) | named once; the other sources go on |
| the server does not answer within a second | its samples are missing; the run goes on |
| host or server has no such source (pressure, block devices, MariaDB's `performance_schema`, off by default) | no series |

`status.redo_lsn_bytes` and `status.checkpoint_age_bytes` of MySQL are up to 0.1 s old, more where its threads
wait for a core. A background thread updates them every 14 ms in the median, 74 ms at most (MySQL 9.7.4, busy
machine). The exact counter, `log_lsn_current`, is off by default.

[The bottleneck](bottleneck.md) is decided from these numbers. This page is generated from
`crates/weir-model/src/metric/names.rs`; do not edit it.
";

/// The document: a table for each source.
pub fn probes_page() -> String {
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

/// Returns the first word of the name: `host`, `server`, `drive`.
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
        let text = super::probes_page();
        if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
            std::fs::write(DOCUMENT, &text).unwrap();
        }
        assert!(
            std::fs::read_to_string(DOCUMENT).unwrap_or_default() == text,
            "docs/probes.md is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo test -p weir-probe`"
        );
    }
}

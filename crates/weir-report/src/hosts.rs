//! Load hosts, where several shared the load of a run.

use serde::Serialize;
use weir_model::{LoadHost, StudyResult};

use crate::number::grouped;
use crate::words::cell_label;

/// One host of one run, as texts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct HostRow {
    combination: String,
    repetition: u32,
    agent: String,
    connections: u32,
    transactions: String,
    cpu: String,
    clock_error_us: String,
    clock_moved_us: String,
    began_late_us: String,
    longest_silence_s: String,
}

/// Head of the columns of [`HostRow::row`].
pub(crate) const HOST_HEADER: [&str; 10] = [
    "combination",
    "run",
    "agent",
    "connections",
    "transactions",
    "cores used",
    "clock error us",
    "clock moved us",
    "began late us",
    "longest silence s",
];

/// Note on the numbers of the table.
pub(crate) const HOST_NOTE: &str = "Clock error: the start that all hosts had in common is known to so much. Clock \
    moved: against the leading host's, from the start to the end of the run, with its error. Began late: by the \
    host's own clock. Silence: between signs of life, which come every 0.5 s; a host that gives none for 2.25 s is \
    lost, and its run is not counted.";

impl HostRow {
    pub(crate) fn row(&self) -> [String; 10] {
        [
            self.combination.clone(),
            self.repetition.to_string(),
            self.agent.clone(),
            self.connections.to_string(),
            self.transactions.clone(),
            self.cpu.clone(),
            self.clock_error_us.clone(),
            self.clock_moved_us.clone(),
            self.began_late_us.clone(),
            self.longest_silence_s.clone(),
        ]
    }
}

/// `-12 +-80`.
fn moved(host: &LoadHost) -> String {
    match (host.clock_moved_us, host.clock_moved_error_us) {
        (Some(moved_us), Some(error_us)) => format!("{moved_us:.0} +-{error_us:.0}"),
        _ => "-".to_owned(),
    }
}

/// Every host of every run.
pub(crate) fn rows(result: &StudyResult) -> Vec<HostRow> {
    let mut rows = Vec::new();
    for run in &result.runs {
        let Some(cell) = result.plan.cells.get(run.record.cell) else {
            continue;
        };
        let measured_s = run.record.measured_s.max(f64::MIN_POSITIVE);
        rows.extend(run.hosts.iter().map(|host| HostRow {
            combination: cell_label(cell),
            repetition: run.record.repetition,
            agent: format!("{} on {}", host.name, host.host),
            connections: host.connections,
            transactions: grouped(host.transactions as f64),
            cpu: format!("{:.2} of {}", host.cpu_s / measured_s, host.cores),
            clock_error_us: format!("{:.0}", host.clock_error_us),
            clock_moved_us: moved(host),
            began_late_us: format!("{:.0}", host.began_late_us),
            longest_silence_s: format!("{:.1}", host.longest_silence_s),
        }));
    }
    rows
}

//! The hosts of servers that the user gives, where agents there sampled them.

use serde::Serialize;
use weir_model::{RunResult, ServerHost, StudyResult, Utilization};

use crate::words::cell_label;

/// The host of one run's server, as texts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ServerHostRow {
    combination: String,
    repetition: u32,
    agent: String,
    cores: String,
    busy: String,
    stolen: String,
    device: String,
    others: String,
    missing: String,
}

/// Head of the columns of [`ServerHostRow::row`].
pub(crate) const SERVER_HOST_HEADER: [&str; 9] = [
    "combination",
    "run",
    "agent",
    "cores and memory",
    "cores busy",
    "stolen",
    "device busy",
    "other programs",
    "not sampled",
];

/// Note on the numbers of the table.
pub(crate) const SERVER_HOST_NOTE: &str = "Figures of the server's host come from its agent, once a second. In runs \
    with such an agent, all metrics of the host and the server's process are of that host. Other programs: cores that \
    neither the server nor Weir used.";

impl ServerHostRow {
    fn new(combination: String, run: &RunResult, host: &ServerHost) -> Self {
        let used = &run.record.utilization;
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        Self {
            combination,
            repetition: run.record.repetition,
            agent: host.name(),
            cores: format!("{}, {}", host.cores, host.memory),
            busy: percent(used.host_cpu),
            stolen: percent(used.steal),
            device: match &host.device {
                Some(device) => {
                    let busy = percent(used.drive_read + used.drive_write);
                    format!("{device} {busy}")
                }
                None => "not on one".to_owned(),
            },
            others: others(used),
            missing: format!("{:.0} s", missing_s(run)),
        }
    }

    pub(crate) fn row(&self) -> [String; 9] {
        [
            self.combination.clone(),
            self.repetition.to_string(),
            self.agent.clone(),
            self.cores.clone(),
            self.busy.clone(),
            self.stolen.clone(),
            self.device.clone(),
            self.others.clone(),
            self.missing.clone(),
        ]
    }
}

/// The host in a line, for who sees no report: what it is and what it did.
pub fn server_host_line(host: &ServerHost, used: &Utilization) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let device = host.device.as_ref().map_or_else(String::new, |device| {
        let busy = percent(used.drive_read + used.drive_write);
        format!(", {device} {busy} busy")
    });
    format!(
        "server's host {}: {} of {} cores busy ({:.2} the server, {} stolen){device}, other programs {}",
        host.name(),
        percent(used.host_cpu),
        host.cores,
        used.server_cores,
        percent(used.steal),
        others(used)
    )
}

/// `0.8 cores (cc1 0.7)`.
fn others(used: &Utilization) -> String {
    let names = used.others.iter();
    let names: Vec<_> = names
        .map(|other| format!("{} {:.1}", other.name, other.cores))
        .collect();
    let cores = format!("{:.1} cores", used.other_cores);
    if names.is_empty() {
        return cores;
    }
    format!("{cores} ({})", names.join(", "))
}

/// Seconds of the measurement without some of the figures: a gap of one sample is one second. Sources of one host that
/// are lost together count once.
fn missing_s(run: &RunResult) -> f64 {
    let gaps = run
        .gaps
        .iter()
        .filter(|gap| gap.source == ServerHost::SOURCE);
    let within = gaps.filter_map(|gap| {
        let (from_s, to_s) = (gap.from_s.max(0.0), gap.to_s.min(run.record.measured_s));
        (to_s >= from_s).then_some((from_s, to_s + 1.0))
    });
    let mut within: Vec<_> = within.collect();
    within.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut missing_s, mut counted_to_s) = (0.0, 0.0_f64);
    for (from_s, to_s) in within {
        missing_s += (to_s - counted_to_s.max(from_s)).max(0.0);
        counted_to_s = counted_to_s.max(to_s);
    }
    missing_s.min(run.record.measured_s)
}

/// The host of every run that has one.
pub(crate) fn rows(result: &StudyResult) -> Vec<ServerHostRow> {
    let rows = result.runs.iter().filter_map(|run| {
        let (cell, host) = (
            result.plan.cells.get(run.record.cell)?,
            run.server_host.as_ref()?,
        );
        Some(ServerHostRow::new(cell_label(cell), run, host))
    });
    rows.collect()
}

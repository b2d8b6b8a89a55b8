//! The words for a DBA: one place for every name that the model has only as an identifier.

use std::collections::BTreeMap;

use weir_model::{
    Agreement, Bottleneck, Cell, CostPerQuery, Distribution, FileKind, Flavor, Method, Scale,
    ServerVersion, Severity, StudyResult, Utilization, Verdict,
};

use crate::number::grouped;

/// The levels of a cell as a short phrase: `intel-p4610, innodb_doublewrite OFF, 32 threads`.
pub fn cell_label(cell: &Cell) -> String {
    if cell.levels.is_empty() {
        return "all runs".to_owned();
    }
    levels_phrase(&cell.levels)
}

/// Factor levels as a phrase; a drive needs no `drive` before its name.
pub(crate) fn levels_phrase(levels: &BTreeMap<String, String>) -> String {
    let drive = levels.get("drive").cloned();
    let others = levels
        .iter()
        .filter(|(name, _)| name.as_str() != "drive")
        .map(|(name, level)| match name.as_str() {
            "threads" => connections(level),
            _ => format!("{name} {level}"),
        });
    drive
        .into_iter()
        .chain(others)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the name of a bottleneck, in a few words.
pub fn bottleneck_name(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::ServerCpu => "server CPU",
        Bottleneck::ClientCpu => "client CPU",
        Bottleneck::DriveRead => "drive read",
        Bottleneck::DriveWrite => "drive write",
        Bottleneck::Flush => "flush",
        Bottleneck::Lock => "lock",
        Bottleneck::Network => "network",
        Bottleneck::Memory => "memory",
        Bottleneck::OfferedRate => "offered rate",
        Bottleneck::OtherProcesses => "other processes",
        Bottleneck::Unexplained => "unexplained",
    }
}

/// Returns the meaning of a bottleneck, and the conclusions that a reader may draw from it.
pub fn bottleneck_explanation(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::ServerCpu => {
            "the server's CPU was the limit, so a faster drive would not show here"
        }
        Bottleneck::ClientCpu => {
            "Weir's own work took the CPU, so the run does not show the server's limit"
        }
        Bottleneck::DriveRead => "connections waited for pages from the drive",
        Bottleneck::DriveWrite => {
            "the drive wrote as much as it can, or connections waited for changed pages to be written"
        }
        Bottleneck::Flush => {
            "commits waited for log writes and flushes: lower latency or more \
             connections would help, bandwidth would not"
        }
        Bottleneck::Lock => "transactions waited for each other's row locks",
        Bottleneck::Network => "the time went into the network between client and server",
        Bottleneck::Memory => "the host had too little memory: it swapped, or read pages again",
        Bottleneck::OfferedRate => "the rate was kept: the run does not show the server's limit",
        Bottleneck::OtherProcesses => {
            "programs that are not part of the run took the cores, so it does not show the server's limit"
        }
        Bottleneck::Unexplained => "no measured resource was saturated or held most connections",
    }
}

/// From this share of the cores on, other processes are named beside the server's.
const OTHERS_TOLD: f64 = 0.10;

/// Other processes by what they used: `other processes used 1.1 of 2 cores: cc1 0.8, make 0.2`.
fn others(used: &Utilization) -> String {
    let names = used.others.iter();
    let names: Vec<_> = names
        .map(|other| format!("{} {:.1}", other.name, other.cores))
        .collect();
    let used = format!(
        "other processes used {:.1} of {:.0} cores",
        used.other_cores, used.host_cores
    );
    if names.is_empty() {
        return used;
    }
    format!("{used}: {}", names.join(", "))
}

/// The numbers that made a run's bottleneck what it is, or make it what it is now: `13.2 of 16 connections waited for commits`.
pub fn bottleneck_evidence(bottleneck: Bottleneck, used: &Utilization) -> String {
    let connections = &used.connections;
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let at = |place: Option<f64>, what: &str| {
        let place = place.unwrap_or(0.0);
        format!("{place:.1} of {:.0} connections {what}", connections.all)
    };
    match bottleneck {
        Bottleneck::ServerCpu => {
            let cores = format!(
                "cores {} busy, {:.1} of them with the server",
                percent(used.host_cpu),
                used.server_cores
            );
            let cores = if used.others_share() >= OTHERS_TOLD {
                format!("{cores}; {}", others(used))
            } else {
                cores
            };
            match used.core_wait {
                Some(wait) if used.host_cpu < Utilization::SATURATED => {
                    format!(
                        "{cores}, a task waited for one {} of the time",
                        percent(wait)
                    )
                }
                _ => cores,
            }
        }
        Bottleneck::ClientCpu => format!(
            "load generator {:.1} and drive emulation {:.1} cores, the busiest reactor {}",
            used.client_cores,
            used.drive_cores,
            percent(used.client_cpu)
        ),
        Bottleneck::DriveRead => format!(
            "read units {} busy, {}",
            percent(used.drive_read),
            at(connections.read, "waited for a read")
        ),
        Bottleneck::DriveWrite => {
            let media = format!("media {} busy writing", percent(used.drive_write));
            match connections.free_page {
                Some(waiting) if waiting >= 1.0 => {
                    format!(
                        "{media}, {}",
                        at(Some(waiting), "waited for pages to be written")
                    )
                }
                _ => media,
            }
        }
        Bottleneck::Flush => at(connections.flush, "waited for the logs"),
        Bottleneck::Lock => at(connections.lock, "waited for row locks"),
        Bottleneck::Network => at(connections.network, "were on their way"),
        Bottleneck::Memory => format!(
            "a task waited for memory {} of the time",
            percent(used.memory.unwrap_or(0.0))
        ),
        Bottleneck::OfferedRate => at(Some(connections.busy), "had work"),
        Bottleneck::OtherProcesses => others(used),
        Bottleneck::Unexplained => format!(
            "cores {} busy, {}",
            percent(used.host_cpu),
            at(Some(connections.server_cpu), "on the server's cores")
        ),
    }
}

/// `1 connection`, `16 connections`.
pub fn connections(count: impl std::fmt::Display) -> String {
    match count.to_string().as_str() {
        "1" => "1 connection".to_owned(),
        count => format!("{count} connections"),
    }
}

/// Returns the words for the distribution of keys over rows, as they stand after `keys`.
pub(crate) fn distribution_words(distribution: Distribution) -> String {
    match distribution {
        Distribution::Uniform => "uniform over all rows".to_owned(),
        Distribution::Gaussian { .. } => {
            "in a bell over the middle of the table (gaussian)".to_owned()
        }
        Distribution::Special { .. } => "mostly in a hot window of the table (special)".to_owned(),
        Distribution::Pareto { h } => format!("self-similar with h = {h} (pareto)"),
        Distribution::Zipfian { exponent } => {
            format!("by rank with exponent {exponent} (zipfian)")
        }
    }
}

/// Text for HTML and XML, also inside quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A metric's name as it stands after `1.31x the`.
pub(crate) fn metric_name(metric: &str) -> String {
    match metric {
        "queries_per_s" => "queries per second".to_owned(),
        "transactions_per_s" => "transactions per second".to_owned(),
        "latency_us_mean" => "mean latency".to_owned(),
        "latency_us_p50" => "median latency".to_owned(),
        "latency_us_p95" => "p95 latency".to_owned(),
        "latency_us_p99" => "p99 latency".to_owned(),
        "latency_us_p999" => "p99.9 latency".to_owned(),
        other => match CostPerQuery::find(other) {
            Some(cost) => format!("{} per query", cost.title),
            None => other.replace("_per_s", " per second").replace('_', " "),
        },
    }
}

/// Returns the name of one of several: a kind of file by its name, a core with its number.
pub(crate) fn instance_name(per: &str, instance: &str) -> String {
    let of_kind = |kind: &&FileKind| kind.name() == instance;
    match per {
        "kind of file" => FileKind::ALL.iter().find(of_kind).map_or_else(
            || instance.to_owned(),
            |kind| file_kind_name(*kind).to_owned(),
        ),
        "core" => format!("core {instance}"),
        _ => instance.to_owned(),
    }
}

/// Returns the name of a kind of file.
pub fn file_kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Redo => "redo log",
        FileKind::Doublewrite => "doublewrite",
        FileKind::Data => "data",
        FileKind::Undo => "undo",
        FileKind::Binlog => "binary log",
        FileKind::Temporary => "temporary",
        FileKind::Other => "other",
    }
}

/// The servers of a result, in the order of its cells: `MySQL 9.7.4, MariaDB 10.11.19`. Without runs, only
/// the first one's version is known.
pub fn server_names(result: &StudyResult) -> String {
    let mut names: Vec<String> = Vec::new();
    for (index, cell) in result.plan.cells.iter().enumerate() {
        let flavor = cell.spec.primary().server.flavor;
        let run = result.runs.iter().find(|run| run.record.cell == index);
        let said = run.and_then(|run| run.variables.get("version")?.parse().ok());
        let first = || (flavor == result.flavor).then_some(result.server_version);
        let version: Option<ServerVersion> = said.or_else(first);
        let version = version.map(|version| format!(" {version}"));
        let name = flavor_name(flavor).to_owned() + &version.unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

fn flavor_name(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::Mysql => "MySQL",
        Flavor::Mariadb => "MariaDB",
    }
}

pub(crate) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Inconclusive => "inconclusive",
        Severity::Error => "error",
    }
}

/// Returns the margin of an equality: `5 %`.
pub(crate) fn margin_words(margin: f64) -> String {
    format!("{} %", (margin * 1e5).round() / 1e3)
}

pub(crate) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Effect => "difference",
        Verdict::Equal => "equal",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Invalid => "invalid",
    }
}

/// Returns the name of an interval's method, with its assumptions.
pub(crate) fn method_name(method: Method) -> &'static str {
    match method {
        Method::PairedT => "Student's t on pairs",
        Method::PairedTAtVerdict => "Student's t on pairs, widened for an end at the verdict",
        Method::PairedBootstrap => "bootstrap-t on pairs",
        Method::Welch => "Welch, runs not paired",
        Method::WelchWithinRuns => "Welch on the seconds within runs",
    }
}

pub(crate) fn agreement_name(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Agrees => "agrees",
        Agreement::Disagrees => "disagrees",
        Agreement::CannotSay => "cannot say",
    }
}

/// Returns the words for a scale of the data: `at full size`, or `500 times smaller than the
/// original: ...`.
pub(crate) fn data_scale_words(scale: Scale) -> String {
    if is_full(scale) {
        "at full size".to_owned()
    } else {
        format!(
            "{} times smaller than the original: rows, buffer pool with its free pages, redo log and \
             drive capacity together",
            times(scale)
        )
    }
}

/// The same for a drive's throughput.
pub(crate) fn drive_scale_words(scale: Scale) -> String {
    if is_full(scale) {
        "at the speed of the data sheet".to_owned()
    } else {
        format!(
            "operations and bytes per second {} times below the data sheet, latency as in the \
             data sheet, so that this host can saturate the drive",
            times(scale)
        )
    }
}

fn is_full(scale: Scale) -> bool {
    (scale.factor() - 1.0).abs() < 1e-9
}

fn times(scale: Scale) -> String {
    let below = 1.0 / scale.factor();
    if (below - below.round()).abs() < 1e-6 {
        grouped(below.round())
            .trim_end_matches(".00")
            .trim_end_matches(".0")
            .to_owned()
    } else {
        grouped(below)
    }
}

/// `1 repetition`, `3 repetitions`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use weir_model::ServerChoice;

    use super::*;
    use crate::sample;

    #[test]
    fn all_servers_of_a_result_are_named() {
        let mut result = sample::study(2, 1);
        let first = format!("MySQL {}", result.evidence.server_version);
        assert_eq!(server_names(&result.evidence), first);
        let spec = result.evidence.plan.cells[1].spec_mut();
        spec.primary_mut().server = ServerChoice::newest(Flavor::Mariadb);
        let known = format!("{first}, MariaDB");
        assert_eq!(server_names(&result.evidence.without_runs()), known);
        for (cell, version) in [(0, "9.7.4"), (1, "10.11.19-MariaDB-log")] {
            let variables = BTreeMap::from([("version".to_owned(), version.to_owned())]);
            for run in result
                .evidence
                .runs
                .iter_mut()
                .filter(|run| run.record.cell == cell)
            {
                run.variables = Arc::new(variables.clone());
            }
        }
        assert_eq!(
            server_names(&result.evidence),
            "MySQL 9.7.4, MariaDB 10.11.19"
        );
    }

    #[test]
    fn a_drive_stands_first_and_without_its_word() {
        let levels = [
            ("innodb_doublewrite", "OFF"),
            ("drive", "intel-p4610"),
            ("threads", "32"),
        ]
        .map(|(name, level)| (name.to_owned(), level.to_owned()));
        assert_eq!(
            levels_phrase(&BTreeMap::from(levels)),
            "intel-p4610, innodb_doublewrite OFF, 32 connections"
        );
    }

    #[test]
    fn scales_are_said_in_words() {
        assert_eq!(data_scale_words(Scale::FULL), "at full size");
        let small = data_scale_words("1/500".parse().unwrap());
        assert!(small.starts_with("500 times smaller"), "{small}");
        let drive = drive_scale_words("1/8".parse().unwrap());
        assert!(drive.contains("8 times below"), "{drive}");
    }

    #[test]
    fn unknown_metrics_are_still_words() {
        assert_eq!(metric_name("queries_per_s"), "queries per second");
        assert_eq!(metric_name("rows_read_per_s"), "rows read per second");
    }
}

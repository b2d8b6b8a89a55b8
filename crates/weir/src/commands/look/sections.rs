//! A look as sections of lines and tables: the same words on a terminal and on a page.

use std::fmt::Write as _;

use weir_report::{PageSection, PageTable, PlainPage, grouped};
use weir_server::look::{
    Finding, LookReport, MissingIndex, NextCommand, StallReport, Statements, Wait, Weight,
};

use super::numbers::{count, percent, reading, seconds, setting};

/// Stalls that are named; more are counted.
const STALLS_MAX: usize = 6;

/// The page.
pub(super) fn page(report: &LookReport, next: &NextCommand) -> PlainPage {
    let sections = [
        waits(report),
        statements(report),
        stalls(report),
        findings("Settings against counters", &report.checks),
        indexes(report),
        findings("Replication", &report.replication),
        memory_and_disk(report),
        unseen(report),
        PageSection {
            title: "Next".to_owned(),
            table: None,
            lines: vec![format!("{}    ({})", next.command, next.why)],
        },
    ];
    PlainPage {
        eyebrow: "weir look".to_owned(),
        title: format!("A look at {}", report.server),
        facts: facts(report),
        sections: sections
            .into_iter()
            .filter(|section| section.table.is_some() || !section.lines.is_empty())
            .collect(),
    }
}

fn facts(report: &LookReport) -> Vec<String> {
    let mut facts = vec![report.server.clone()];
    facts.extend(
        report
            .uptime_s
            .map(|uptime| format!("up {}", seconds(uptime))),
    );
    facts.push(format!("looked for {}", seconds(report.seconds)));
    let questions = report.questions_per_s;
    facts.extend(questions.map(|rate| format!("Questions {}/s", grouped(rate))));
    if let Some((median, most)) = report.threads_running {
        facts.push(format!(
            "Threads_running {} (most {})",
            count(median),
            count(most)
        ));
    }
    facts
}

fn section(title: &str, table: Option<PageTable>, lines: Vec<String>) -> PageSection {
    PageSection {
        title: title.to_owned(),
        table,
        lines,
    }
}

fn table(header: &[&str], rows: Vec<Vec<String>>) -> Option<PageTable> {
    (!rows.is_empty()).then(|| PageTable {
        header: header.iter().map(|name| (*name).to_owned()).collect(),
        rows,
    })
}

fn waits(report: &LookReport) -> PageSection {
    let title = "Waits (performance_schema.events_waits_summary_global_by_event_name)";
    let counted: Vec<_> = report.counted_waits.iter().map(reading).collect();
    let mut lines = vec![format!(
        "by counters: {} [SHOW GLOBAL STATUS]",
        counted.join(", ")
    )];
    let Some(waits) = &report.waits else {
        return section("Waits", None, lines);
    };
    let row = |wait: &Wait| {
        vec![
            grouped(wait.sessions),
            grouped(wait.per_second),
            seconds(wait.mean_s),
            wait.name.to_owned(),
            wait.event.clone(),
        ]
    };
    let header = ["threads waiting", "waits/s", "mean", "for", "event"];
    let rows: Vec<_> = waits.iter().map(row).collect();
    if rows.is_empty() {
        lines.insert(0, "none worth a line".to_owned());
    }
    section(title, table(&header, rows), lines)
}

fn statements(report: &LookReport) -> PageSection {
    let Some(found) = &report.statements else {
        return section("Statements", None, vec!["not seen".to_owned()]);
    };
    let rate = found
        .per_second
        .map(|rate| format!(", {}/s", grouped(rate)));
    let title = format!(
        "Statements: {} run at a time{} ({})",
        grouped(found.running),
        rate.unwrap_or_default(),
        found.source
    );
    let rows = statement_rows(found);
    let header = [
        "time",
        "calls/s",
        "mean",
        "examined/row",
        "no index",
        "failed",
        "statement",
    ];
    let lines = if rows.is_empty() {
        vec!["none".to_owned()]
    } else {
        Vec::new()
    };
    section(&title, table(&header, rows), lines)
}

/// A value that not each source has.
fn or_dash(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

fn statement_rows(found: &Statements) -> Vec<Vec<String>> {
    let worthy = found.digests.iter().filter(|digest| digest.share >= 0.005);
    worthy
        .map(|digest| {
            vec![
                percent(digest.share),
                or_dash(digest.per_second, grouped),
                or_dash(digest.mean_s, seconds),
                or_dash(digest.examined_per_row, grouped),
                or_dash(digest.no_index, percent),
                or_dash(digest.errors, percent),
                digest.text.split_whitespace().collect::<Vec<_>>().join(" "),
            ]
        })
        .collect()
}

fn stalls(report: &LookReport) -> PageSection {
    let lines = report.stalls.iter().flat_map(stall_lines).collect();
    section(
        "Stalls (seconds below half of the median around them)",
        None,
        lines,
    )
}

fn stall_lines(found: &StallReport) -> Vec<String> {
    let rate = format!(
        "{} {}/s (median)",
        found.counter,
        grouped(found.median_per_s)
    );
    if let Some(blind) = found.blind {
        return vec![format!("{rate}: not judged, {blind}")];
    }
    let mut line = match found.stalls.len() {
        0 => format!("{rate}: none"),
        count => {
            let mut shown: Vec<_> = found.stalls.iter().collect();
            shown.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
            shown.truncate(STALLS_MAX);
            shown.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
            let each: Vec<_> = shown
                .iter()
                .map(|stall| {
                    let (from, length) = (grouped(stall.from_s), seconds(stall.seconds));
                    format!("at {from} s for {length} down to {}", percent(stall.lowest))
                })
                .collect();
            let more = if count > STALLS_MAX { ", ..." } else { "" };
            format!("! {rate}: {count}: {}{more}", each.join(", "))
        }
    };
    if let Some(period) = found.period_s {
        let which = match found.periodic {
            all if all == found.stalls.len() => String::new(),
            long => format!("the {long} longest: "),
        };
        let _ = write!(line, "; {which}one every {}", seconds(period));
    }
    if found.is_low_at_end {
        line += "; low at the end: the load stopped, or a stall goes on";
    }
    let mut lines = vec![line];
    if !found.stalls.is_empty() {
        let moved: Vec<_> = found
            .moved
            .iter()
            .map(|moved| {
                let unit = if moved.is_rate { "/s" } else { "" };
                format!(
                    "{} {} -> {}{unit}",
                    moved.name,
                    grouped(moved.usual),
                    grouped(moved.in_stalls)
                )
            })
            .collect();
        lines.push(if moved.is_empty() {
            "  no counter that is read rose with them".to_owned()
        } else {
            let moved = moved.join(", ");
            format!("  rose with them (SHOW GLOBAL STATUS): {moved}")
        });
    }
    lines
}

/// Problems as sentences; of the rest the values in one line.
fn findings(title: &str, all: &[Finding]) -> PageSection {
    let mut lines: Vec<String> = Vec::new();
    let mut quiet = Vec::new();
    let mut source = "";
    for finding in all {
        if finding.weight == Weight::Fact && finding.text.is_empty() && !finding.readings.is_empty()
        {
            source = &finding.source;
            quiet.extend(finding.readings.first().map(reading));
        } else {
            lines.push(finding_line(finding));
        }
    }
    if !quiet.is_empty() {
        lines.push(format!("no problem by {source}: {}", quiet.join(", ")));
    }
    section(title, None, lines)
}

/// `! name: sentence (values; settings) [source]`.
fn finding_line(finding: &Finding) -> String {
    let mark = match finding.weight {
        Weight::Problem => "! ",
        Weight::SinceStart => "since the start, not now: ",
        Weight::Fact => "",
    };
    let mut values: Vec<_> = finding.readings.iter().map(reading).collect();
    values.extend(finding.settings.iter().map(|text| setting(text)));
    let values = values.join(", ");
    let said = match (finding.text.as_str(), values.as_str()) {
        ("", values) => values.to_owned(),
        (text, "") => text.to_owned(),
        (text, values) => format!("{text} ({values})"),
    };
    format!("{mark}{}: {said} [{}]", finding.name, finding.source)
}

fn indexes(report: &LookReport) -> PageSection {
    let mut lines: Vec<_> = report.missing_indexes.iter().map(missing_line).collect();
    lines.extend(report.indexes.iter().map(finding_line));
    section("Indexes", None, lines)
}

fn missing_line(missing: &MissingIndex) -> String {
    let columns = if missing.columns.is_empty() {
        "no index fits its filter".to_owned()
    } else {
        format!("no index fits its filter on {}", missing.columns.join(", "))
    };
    format!(
        "! missing index: a statement with {} of the time reads about {} rows of {}.{}; {columns} (type = ALL, \
         Using where) [EXPLAIN]",
        percent(missing.share),
        grouped(missing.rows),
        missing.schema,
        missing.table
    )
}

fn memory_and_disk(report: &LookReport) -> PageSection {
    let all = report.memory.iter().chain(&report.disk);
    section("Memory and disk", None, all.map(finding_line).collect())
}

fn unseen(report: &LookReport) -> PageSection {
    let lines = report.unseen.iter();
    let lines = lines.map(|unseen| format!("{}: {}; {}", unseen.what, unseen.why, unseen.remedy));
    section(
        "Not seen, and what would show it (Weir runs none of it)",
        None,
        lines.collect(),
    )
}

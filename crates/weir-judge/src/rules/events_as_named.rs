//! R20: events happen as the study says, and the files of a DDL lie on the drive that is studied.

use std::collections::BTreeMap;

use weir_model::{Comparison, EventEnding, EventKind, Finding, RuleId, RunResult};

use super::{Design, Evidence, NOTES_WARNS_OR_FORBIDS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R20,
    title: "events happen as named, and files of a DDL lie on the drive that is studied",
    checked: "Error: the server refused an event, such as an ALTER TABLE whose ALGORITHM it does not have; exit code \
              3. Warning: while an event's statement ran on an emulated drive, the server's open files elsewhere \
              had more than 1 MiB (`/proc/PID/fd`, looked at every 50 ms, deleted files too). Note: an ALTER TABLE \
              without `algorithm` or `lock`.",
    reason: "A change that is refused costs nothing and looks fast. An index build sorts in files of innodb_tmpdir, \
             or of tmpdir where that is empty: on another device than the data, its sort measures that device. A \
             server that chooses the algorithm itself may choose another in its next version.",
    remedy: "Read the server's text in the table of events. Leave `tmpdir` and `innodb_tmpdir` to Weir, which puts \
             them on the drive. Name `algorithm` and `lock`.",
    reference: "MySQL manual, \"Online DDL Space Requirements\" and \"Online DDL Limitations\"",
    severities: NOTES_WARNS_OR_FORBIDS,
    design: check_design,
    comparison: check,
    study: check_study,
};

/// Most bytes of open files elsewhere that are no sort files: a page or two of a log.
const OFF_DRIVE_BYTES_MAX: u64 = 1 << 20;

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let events = design
        .plan
        .cells
        .iter()
        .flat_map(|cell| &cell.spec.timeline);
    let mut names: Vec<_> = events
        .filter(|event| match &event.kind {
            EventKind::Ddl(ddl) => ddl.algorithm.is_none() || ddl.lock.is_none(),
            _ => false,
        })
        .map(|event| format!("`{}`", event.name))
        .collect();
    names.dedup();
    let Some(first) = names.first() else {
        return Vec::new();
    };
    vec![RULE.note(format!(
        "event {first} names no algorithm or no lock: the server chooses; add both to the event"
    ))]
}

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let runs: Vec<_> = evidence.runs_of(comparison).collect();
    refused(&runs).into_iter().next()
}

fn check_study(evidence: &Evidence<'_>) -> Vec<Finding> {
    let runs: Vec<_> = evidence.result.runs.iter().collect();
    let mut findings = refused(&runs);
    findings.extend(off_drive(evidence, &runs));
    findings
}

/// Events that were refused in some of these runs.
fn refused(runs: &[&RunResult]) -> Vec<Finding> {
    let mut by_name: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for event in runs.iter().flat_map(|run| &run.events) {
        if let EventEnding::Refused { message, .. } = &event.ending {
            by_name.entry(&event.name).or_insert((0, message)).0 += 1;
        }
    }
    let finding = |(name, (count, message)): (&str, (usize, &str))| {
        RULE.error(format!(
            "event `{name}` was refused in {count} of {} runs: {message}; change the event, or read these runs as \
             runs without it",
            runs.len()
        ))
    };
    by_name.into_iter().map(finding).collect()
}

/// The run whose server had most elsewhere.
fn off_drive(evidence: &Evidence<'_>, runs: &[&RunResult]) -> Option<Finding> {
    let mut worst: Option<(u64, &str, &RunResult)> = None;
    for run in runs {
        for event in &run.events {
            let files = event.detail.temporary.as_ref();
            let Some(bytes) = files.and_then(|files| files.off_drive_peak_bytes) else {
                continue;
            };
            let folder = files.and_then(|files| files.off_drive.first());
            let folder = folder.map_or("", String::as_str);
            if bytes > OFF_DRIVE_BYTES_MAX && worst.is_none_or(|(most, ..)| bytes > most) {
                worst = Some((bytes, folder, *run));
            }
        }
    }
    let (bytes, folder, run) = worst?;
    Some(RULE.warning(format!(
        "{:.1} MiB of the server's open files lay in {folder} and not on the drive during an event ({}): their time \
         is another device's; leave tmpdir and innodb_tmpdir to Weir",
        bytes as f64 / f64::from(1 << 20),
        evidence.name(&run.record),
    )))
}

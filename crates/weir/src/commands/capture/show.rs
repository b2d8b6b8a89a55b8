//! `weir capture show`.

use serde_json::json;
use weir_capture::{Losses, ServerCounters};
use weir_replay::{ReplayOptions, Survey};

use super::counters;
use crate::cli::CaptureShowArguments;
use crate::{Outcome, output};

/// Longest text of a kind of statement in the table.
const TEXT_MAX: usize = 100;

pub(super) fn execute(arguments: &CaptureShowArguments) -> anyhow::Result<Outcome> {
    let survey = Survey::read(&arguments.capture, &ReplayOptions::default())?;
    if arguments.json {
        output::line(document(&survey))?;
    } else {
        print(&survey, arguments.top)?;
    }
    Ok(Outcome::Done)
}

/// Returns what a capture lacks, in words.
pub(super) fn losses(losses: &Losses) -> [(&'static str, u64); 18] {
    [
        ("sessions were not followed to their end", losses.sessions),
        (
            "statements were cut where they were written down; they are never sent",
            losses.truncated,
        ),
        (
            "statements about accounts and secrets keep their first words only",
            losses.secret,
        ),
        ("statements are too long to be kept", losses.too_long),
        ("entries are out of the order of time", losses.out_of_order),
        ("lines of the log belong to no entry", losses.unread_lines),
        (
            "sessions are encrypted and left out",
            losses.sessions_encrypted,
        ),
        (
            "sessions are compressed and left out",
            losses.sessions_compressed,
        ),
        (
            "sessions began before the capture and are left out",
            losses.sessions_joined_late,
        ),
        (
            "statements of these sessions were seen and not written",
            losses.statements,
        ),
        (
            "bytes have the statements that were not written",
            losses.statement_bytes,
        ),
        (
            "executions of bulk commands could not be read; they are never sent",
            losses.bulk_executions,
        ),
        (
            "statements of functions, procedures and triggers are left out; the statement that ran them is there",
            losses.of_routines,
        ),
        (
            "entries have a time that does not fit their neighbours, and stand beside these",
            losses.out_of_place,
        ),
        (
            "executions of prepared statements lack their parameters; they are never sent",
            losses.without_values,
        ),
        (
            "statements ended between two polls and were not seen",
            losses.unseen,
        ),
        (
            "sessions ended before the answer to a command",
            losses.sessions_unanswered,
        ),
        (
            "commands of these sessions have no answer: a replay sends them and compares nothing",
            losses.unanswered,
        ),
    ]
}

fn document(survey: &Survey) -> serde_json::Value {
    let fingerprints = survey.fingerprints.iter().map(|found| {
        json!({
            "fingerprint": found.text,
            "count": found.count,
            "total_us": found.total_us,
            "timed": found.timed,
        })
    });
    json!({
        "head": survey.head,
        "tail": survey.tail,
        "cut_bytes": survey.cut_bytes,
        "length_us": survey.length_us,
        "sessions": survey.sessions,
        "sessions_at_a_time": survey.sessions_at_a_time,
        "statements": survey.statements,
        "unusable": survey.unusable,
        "schemas": survey.schemas,
        "fingerprints": fingerprints.collect::<Vec<_>>(),
    })
}

fn print(survey: &Survey, top: usize) -> anyhow::Result<()> {
    let head = &survey.head;
    output::line(format_args!(
        "source      {} (literals: {})",
        head.source.name(),
        head.literals
    ))?;
    for line in &head.guarantees {
        output::line(format_args!("            {line}"))?;
    }
    output::line(format_args!(
        "length      {:.1} s",
        survey.length_us as f64 / 1e6
    ))?;
    output::line(format_args!(
        "sessions    {}, at most {} at a time",
        survey.sessions, survey.sessions_at_a_time
    ))?;
    output::line(format_args!(
        "statements  {}, of which {} can never be sent again",
        survey.statements, survey.unusable
    ))?;
    for (schema, count) in &survey.schemas {
        let schema = if schema.is_empty() {
            "(no schema)"
        } else {
            schema
        };
        output::line(format_args!("            {count} in {schema}"))?;
    }
    match &survey.tail {
        Some(tail) => {
            if let Some(why) = &tail.failure {
                output::line(format_args!("missing     its end: {why}"))?;
            }
            for (what, count) in losses(&tail.losses).iter().filter(|(_, count)| *count > 0) {
                output::line(format_args!("missing     {count} {what}"))?;
            }
        }
        None => output::line(format_args!(
            "missing     its end: it is still written, damaged, or its writer was killed ({} bytes after the last whole block)",
            survey.cut_bytes
        ))?,
    }
    match survey.tail.as_ref().and_then(|tail| tail.counters.as_ref()) {
        Some(counters) if !counters.kinds.is_empty() => print_counted(counters, top),
        _ => print_fingerprints(survey, top),
    }
}

/// Prints the kinds as the server counted them, and how many of each the capture has.
fn print_counted(counters: &ServerCounters, top: usize) -> anyhow::Result<()> {
    for line in counters::lines(counters) {
        output::line(format_args!("counters    {line}"))?;
    }
    output::line(format_args!(
        "\n{:>10} {:>10} {:>10} {:>11}  statement, by the server's counters",
        "count", "seen", "total s", "mean ms"
    ))?;
    for kind in counters.kinds.iter().take(top) {
        let text: String = kind.text.chars().take(TEXT_MAX).collect();
        output::line(format_args!(
            "{:>10} {:>10} {:>10.3} {:>11}  {text}",
            kind.count,
            kind.seen,
            kind.time_us as f64 / 1e6,
            mean_ms(kind.time_us, kind.count)
        ))?;
    }
    Ok(())
}

fn print_fingerprints(survey: &Survey, top: usize) -> anyhow::Result<()> {
    let counters = survey.tail.as_ref().and_then(|tail| tail.counters.as_ref());
    for line in counters.into_iter().flat_map(counters::lines) {
        output::line(format_args!("counters    {line}"))?;
    }
    output::line(format_args!(
        "\n{:>10} {:>10} {:>11}  statement",
        "count", "total s", "mean ms"
    ))?;
    for found in survey.fingerprints.iter().take(top) {
        let text: String = found.text.chars().take(TEXT_MAX).collect();
        output::line(format_args!(
            "{:>10} {:>10.3} {:>11}  {text}",
            found.count,
            found.total_us as f64 / 1e6,
            mean_ms(found.total_us, found.timed)
        ))?;
    }
    Ok(())
}

fn mean_ms(total_us: u64, timed: u64) -> String {
    if timed == 0 {
        return "-".to_owned();
    }
    format!("{:.3}", total_us as f64 / timed as f64 / 1e3)
}

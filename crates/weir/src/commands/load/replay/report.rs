//! Report of a replay: how faithful it was, first.

use std::fmt::Write as _;

use serde_json::json;
use weir_model::{FingerprintRecord, ReplayFidelity, ReplayOrder};
use weir_replay::{ReplayOutcome, Survey, outcome_differences, table_differences};

use super::differences;
use super::line::ReplayLine;

/// Kinds of statements in the table, those that took the most time in the capture first.
const TOP: usize = 20;
const TEXT_MAX: usize = 80;
/// Codes of errors that are printed, the most frequent first.
const ERRORS_TOLD: usize = 3;

/// As JSON.
pub(super) fn document(
    line: &ReplayLine,
    survey: &Survey,
    outcome: &ReplayOutcome,
) -> serde_json::Value {
    let load = &outcome.load;
    json!({
        "capture": line.capture,
        "source": survey.head.source,
        "guarantees": survey.head.guarantees,
        "pace": line.options.pace.name(),
        "speed": line.options.speed,
        "fidelity": outcome.record.fidelity,
        "fingerprints": outcome.record.fingerprints,
        "outcome_differences": outcome_differences(outcome),
        "table_differences": table_differences(outcome),
        "objects_unread": outcome.objects_unread,
        "measured_s": load.measured_s,
        "queries": load.counts_whole_run.queries,
        "transactions": load.counts_whole_run.transactions,
        "latency": load.latency,
    })
}

/// As a text.
pub(super) fn text(line: &ReplayLine, survey: &Survey, outcome: &ReplayOutcome) -> String {
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = write(&mut text, line, survey, outcome);
    text
}

fn write(
    text: &mut String,
    line: &ReplayLine,
    survey: &Survey,
    outcome: &ReplayOutcome,
) -> std::fmt::Result {
    let options = &line.options;
    if !line.allow_write {
        write_share(text, &outcome.record.fidelity)?;
    }
    writeln!(
        text,
        "replay of {} ({}), pace {}, speed {}",
        line.capture.display(),
        survey.head.source.name(),
        options.pace,
        options.speed
    )?;
    write_fidelity(text, line, outcome)?;
    write_speed(text, outcome)
}

/// Writes the share of the load that was sent, for a replay that could not send its writes.
fn write_share(text: &mut String, told: &ReplayFidelity) -> std::fmt::Result {
    if told.not_sent.not_allowed == 0 {
        return Ok(());
    }
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    let by_count = percent(told.sent, told.captured);
    write!(
        text,
        "reads only: {by_count:.0} % of the captured statements by count"
    )?;
    if told.captured_us > 0 {
        let by_time = percent(told.captured_us_sent, told.captured_us);
        write!(text, ", {by_time:.0} % by time")?;
    }
    writeln!(text)
}

fn write_fidelity(
    text: &mut String,
    line: &ReplayLine,
    outcome: &ReplayOutcome,
) -> std::fmt::Result {
    let told = &outcome.record.fidelity;
    writeln!(text, "\nfidelity")?;
    write_sessions(text, told)?;
    write_statements(text, told)?;
    let late = told.late_us;
    writeln!(
        text,
        "  lateness    p50 {} us, p99 {} us, max {} us; {} were due while their session still waited",
        late.p50, late.p99, late.max, told.busy
    )?;
    write_differences(text, outcome)?;
    differences::write_tables(text, outcome)?;
    if told.lock_errors_new > 0 {
        writeln!(
            text,
            "  locks       {} lock errors that the capture does not have",
            told.lock_errors_new
        )?;
    }
    if line.options.order == ReplayOrder::Commit {
        writeln!(
            text,
            "  order       {} statements waited for transactions of other sessions, {} of them in vain",
            told.order_waits, told.order_given_up
        )?;
    }
    Ok(())
}

/// Writes how many sessions connected, and what became of the others.
fn write_sessions(text: &mut String, told: &ReplayFidelity) -> std::fmt::Result {
    writeln!(
        text,
        "  sessions    {} of {} connected",
        told.sessions_joined, told.sessions
    )?;
    if let Some(why) = &told.not_joined_why {
        writeln!(text, "              the first that was not: {why}")?;
    }
    if told.sessions_missing > 0 {
        writeln!(
            text,
            "              {} are missing in the capture, whole or in part",
            told.sessions_missing
        )?;
    }
    if told.statements_missing > 0 {
        writeln!(
            text,
            "              {} statements are missing in the capture",
            told.statements_missing
        )?;
    }
    if told.connections_lost > 0 {
        writeln!(
            text,
            "              {} connections were lost and made again",
            told.connections_lost
        )?;
    }
    Ok(())
}

/// Writes how many statements were sent, and what became of the others.
fn write_statements(text: &mut String, told: &ReplayFidelity) -> std::fmt::Result {
    writeln!(
        text,
        "  statements  {} of {} sent",
        told.sent, told.captured
    )?;
    for (reason, count) in told.not_sent.reasons() {
        if count > 0 {
            writeln!(text, "              {count} not sent: {reason}")?;
        }
    }
    let reached = told.sent + told.not_sent.all();
    if told.captured > reached {
        writeln!(
            text,
            "              {} not reached: the replay was stopped",
            told.captured - reached
        )?;
    }
    Ok(())
}

/// Where the answers were others than in the capture.
fn write_differences(text: &mut String, outcome: &ReplayOutcome) -> std::fmt::Result {
    let told = &outcome.record.fidelity;
    writeln!(
        text,
        "  errors      {} in the capture, {} in the replay; {} of {} differ",
        told.errors_captured, told.errors, told.errors_differ, told.errors_compared
    )?;
    for error in outcome.load.errors.iter().take(ERRORS_TOLD) {
        let (count, code) = (error.count, error.code);
        writeln!(
            text,
            "              new: {count} of error {code}: {}",
            error.first_message
        )?;
    }
    writeln!(
        text,
        "  rows        {} of {} differ",
        told.rows_differ, told.rows_compared
    )?;
    writeln!(
        text,
        "  affected    {} of {} differ",
        told.affected_differ, told.affected_compared
    )?;
    Ok(())
}

/// Writes how fast it was, in all and by kind of statement.
fn write_speed(text: &mut String, outcome: &ReplayOutcome) -> std::fmt::Result {
    let load = &outcome.load;
    writeln!(
        text,
        "\n{:.1} s, {:.1} statements/s",
        load.measured_s,
        load.counts.queries as f64 / load.measured_s.max(f64::MIN_POSITIVE)
    )?;
    writeln!(
        text,
        "\n{:>9} {:>12} {:>12} {:>12} {:>12} {:>8}  statement",
        "sent", "captured ms", "mean ms", "p50 ms", "p99 ms", "differ"
    )?;
    for found in outcome.record.fingerprints.iter().take(TOP) {
        row(text, found)?;
    }
    differences::write_kinds(text, outcome)
}

fn row(text: &mut String, found: &FingerprintRecord) -> std::fmt::Result {
    let ms = |us: Option<f64>| us.map_or_else(|| "-".to_owned(), |us| format!("{:.3}", us / 1e3));
    let latency = found.latency.as_ref();
    let statement: String = found.fingerprint.chars().take(TEXT_MAX).collect();
    writeln!(
        text,
        "{:>9} {:>12} {:>12} {:>12} {:>12} {:>8}  {statement}",
        found.sent,
        ms(found.captured_us_mean),
        ms(latency.map(|latency| latency.us_mean)),
        ms(latency.map(|latency| latency.us_p50)),
        ms(latency.map(|latency| latency.us_p99)),
        found.rows_differ + found.affected_differ + found.errors_differ
    )
}

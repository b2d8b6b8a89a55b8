//! Lines of a replay's report on outcomes that are others than in the capture, each kind of statement with its reasons.

use std::fmt::{Result, Write as _};

use weir_replay::{KindDifference, ReplayOutcome, outcome_differences, table_differences};

/// Kinds that are named, those with the most outcomes first.
const NAMED: usize = 10;
/// Longest text of a kind.
const TEXT_MAX: usize = 80;

/// Writes which tables can differ, and the numbers of their rows that do.
pub(super) fn write_tables(text: &mut String, outcome: &ReplayOutcome) -> Result {
    let told = &outcome.record.fidelity;
    if told.insert_ids_differ > 0 {
        writeln!(
            text,
            "  numbers     {} of {} of AUTO_INCREMENT differ, so their rows do: sessions inserted in another order, or other rows \
             were there",
            told.insert_ids_differ, told.insert_ids_compared
        )?;
    }
    if let Some(why) = &outcome.objects_unread {
        writeln!(
            text,
            "  objects     defaults, triggers, routines and views were not read, they give no reason below: {why}"
        )?;
    }
    let kinds = table_differences(outcome);
    if kinds.is_empty() {
        return Ok(());
    }
    let sent: u64 = kinds.iter().map(|kind| kind.sent).sum();
    writeln!(
        text,
        "  tables      can differ from those of the capture: {sent} statements write values that the data alone do not give"
    )?;
    for kind in kinds.iter().take(NAMED) {
        let (statement, reasons) = (shortened(kind), kind.reasons.join(", "));
        writeln!(
            text,
            "              {} of {statement}: {reasons}",
            kind.sent
        )?;
    }
    write_rest(text, "              ", kinds.len())
}

/// Writes the kinds with another outcome, and why each can have one.
pub(super) fn write_kinds(text: &mut String, outcome: &ReplayOutcome) -> Result {
    let kinds = outcome_differences(outcome);
    if kinds.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nother outcomes than in the capture")?;
    writeln!(
        text,
        "{:>9} {:>9} {:>9}  statement",
        "rows", "affected", "errors"
    )?;
    for kind in kinds.iter().take(NAMED) {
        let (rows, affected, errors) = (kind.rows, kind.affected, kind.errors);
        writeln!(
            text,
            "{rows:>9} {affected:>9} {errors:>9}  {}",
            shortened(kind)
        )?;
        let why = if kind.reasons.is_empty() {
            "no reason in its text or in the data's objects: other rows were there, or sessions came in another order"
                .to_owned()
        } else {
            kind.reasons.join(", ")
        };
        writeln!(text, "{:31}{why}", "")?;
    }
    write_rest(text, "", kinds.len())
}

fn write_rest(text: &mut String, indent: &str, kinds: usize) -> Result {
    match kinds.saturating_sub(NAMED) {
        0 => Ok(()),
        rest => writeln!(text, "{indent}and {rest} more kinds, see --json"),
    }
}

fn shortened(kind: &KindDifference) -> String {
    kind.fingerprint.chars().take(TEXT_MAX).collect()
}

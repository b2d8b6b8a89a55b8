//! Output of `weir upgrade`: the kinds of statements in classes, those first that cost or save the most of the workload's
//! time.

use std::fmt::Write as _;

use weir_model::{
    FingerprintComparison, FingerprintVerdict, JudgedResult, NotSent, ReplayComparison,
    ReplayFidelity, Verdict,
};

use crate::comparison_sentences::Answer;
use crate::page::Page;
use crate::setup::data_line;
use crate::statements::{StatementRow, shortened};
use crate::table::table;
use crate::terminal::{Palette, push_ranked};

/// Head of the columns of a class.
const HEADER: [&str; 6] = [
    "of all time",
    "ratio (95 %)",
    "before ms",
    "after ms",
    "share",
    "statement",
];
/// Statements of a class without a difference that are listed.
const LISTED_MAX: usize = 5;

/// A class of statements.
struct Class {
    title: &'static str,
    has: fn(&FingerprintComparison) -> bool,
    /// All are listed, not only those with the most time.
    is_difference: bool,
}

const CLASSES: [Class; 9] = [
    Class {
        title: "other answer",
        // A statement that fails changes no rows, and its error says so.
        has: |kind| !has_other_error(kind) && kind.differs.iter().any(|what| is_answer(what)),
        is_difference: true,
    },
    Class {
        title: "other error",
        has: has_other_error,
        is_difference: true,
    },
    Class {
        title: "other warnings",
        has: |kind| !has_other_error(kind) && kind.differs.iter().any(|what| is_warning(what)),
        is_difference: true,
    },
    Class {
        title: "slower, with another plan",
        has: |kind| is_slower(kind) && kind.changes_plan(),
        is_difference: true,
    },
    Class {
        title: "slower, with the same plan: by the server, or beside others",
        has: |kind| is_slower(kind) && !kind.changes_plan(),
        is_difference: true,
    },
    Class {
        title: "faster",
        has: |kind| kind.verdict == FingerprintVerdict::SurelyBetter,
        is_difference: true,
    },
    Class {
        title: "another plan, no other time shown",
        has: |kind| has_no_other_time(kind) && kind.changes_plan(),
        is_difference: true,
    },
    Class {
        title: "equal within 5 %",
        has: |kind| kind.verdict == FingerprintVerdict::Equal && differs_in_nothing(kind),
        is_difference: false,
    },
    Class {
        title: "not shown to differ",
        has: |kind| kind.verdict == FingerprintVerdict::NotShown && differs_in_nothing(kind),
        is_difference: false,
    },
];

fn is_error(what: &str) -> bool {
    what.starts_with("errors")
}

fn is_warning(what: &str) -> bool {
    what.starts_with("warnings")
}

fn is_answer(what: &str) -> bool {
    !is_error(what) && !is_warning(what)
}

fn has_other_error(kind: &FingerprintComparison) -> bool {
    kind.differs.iter().any(|what| is_error(what))
}

fn differs_in_nothing(kind: &FingerprintComparison) -> bool {
    kind.differs.is_empty() && !kind.changes_plan()
}

fn is_slower(kind: &FingerprintComparison) -> bool {
    kind.verdict == FingerprintVerdict::SurelyWorse
}

fn has_no_other_time(kind: &FingerprintComparison) -> bool {
    !is_slower(kind) && kind.verdict != FingerprintVerdict::SurelyBetter
}

/// Part of the workload's time that a kind costs more (above 0) or less on the level, as its mean says.
fn impact(kind: &FingerprintComparison) -> f64 {
    if kind.baseline_us > 0.0 {
        kind.share * (kind.level_us / kind.baseline_us - 1.0)
    } else {
        0.0
    }
}

/// The result of an upgrade's study as text: statements first, then what could change the answer.
pub fn upgrade(result: &JudgedResult) -> String {
    let mut text = String::new();
    let page = Page::new(result);
    if let Some(line) = data_line(result) {
        let _ = writeln!(text, "{line}\n");
    }
    push_refusals(&mut text, &page);
    let comparisons = result.comparisons.iter();
    for replay in comparisons.filter_map(|comparison| comparison.replay.as_ref()) {
        push_replay(&mut text, replay);
    }
    let replays = result.evidence.runs.iter();
    let fidelities = replays.filter_map(|run| Some(&run.replay.as_ref()?.fidelity));
    push_not_replayed(&mut text, &fidelities.collect::<Vec<_>>());
    push_ranked(&mut text, &page.ranked, Palette::new(false));
    text
}

/// A comparison that a rule refuses is no answer, so that stands before all.
fn push_refusals(text: &mut String, page: &Page<'_>) {
    let refused = |answer: &&Answer<'_>| answer.verdict == Verdict::Invalid;
    for answer in page.answers.iter().filter(refused) {
        let _ = writeln!(
            text,
            "{}\nWhat follows is a ranking only.\n",
            answer.sentence
        );
    }
}

fn push_replay(text: &mut String, replay: &ReplayComparison) {
    let kinds = &replay.fingerprints;
    for class in &CLASSES {
        let mut of_class: Vec<_> = kinds.iter().filter(|kind| (class.has)(kind)).collect();
        if of_class.is_empty() {
            continue;
        }
        of_class.sort_by(|a, b| impact(b).abs().total_cmp(&impact(a).abs()));
        let listed = if class.is_difference {
            of_class.len()
        } else {
            of_class.len().min(LISTED_MAX)
        };
        let _ = writeln!(text, "{}: {}", class.title, of_class.len());
        push_kinds(text, &of_class[..listed]);
        if listed < of_class.len() {
            let _ = writeln!(text, "  and {} with less time", of_class.len() - listed);
        }
        text.push('\n');
    }
    let all: f64 = kinds.iter().map(impact).sum();
    let _ = writeln!(
        text,
        "Of all time: what a kind adds to the time of all statements, by its means; together {:+.1} %. Ratio: mean time, \
         after by before, over pairs of runs.",
        100.0 * all
    );
    for (arm, fidelity) in ["before", "after"].iter().zip(&replay.fidelity) {
        let _ = writeln!(text, "  {arm}: {fidelity}");
    }
}

/// Statements of the capture about which the report says nothing, by reason: the most of any run.
fn push_not_replayed(text: &mut String, fidelities: &[&ReplayFidelity]) {
    let most = |read: &dyn Fn(&ReplayFidelity) -> u64| {
        let counts = fidelities.iter().map(|found| read(found));
        counts.max().unwrap_or(0)
    };
    let names = NotSent::default().reasons().map(|(name, _)| name);
    let reasons = names.iter().enumerate().map(|(place, name)| {
        let count = most(&|found| found.not_sent.reasons()[place].1);
        (*name, count)
    });
    let missing = most(&|found| found.statements_missing);
    let reasons: Vec<_> = reasons
        .chain([("seen by the capture and not kept", missing)])
        .filter(|(_, count)| *count > 0)
        .collect();
    if reasons.is_empty() {
        return;
    }
    let all: u64 = reasons.iter().map(|(_, count)| count).sum();
    let captured = most(&|found| found.captured);
    let _ = writeln!(
        text,
        "\nnot replayed: {all} of {} statements",
        captured + missing
    );
    for (name, count) in reasons {
        let _ = writeln!(text, "  {count} {name}");
    }
}

/// A line for each kind, and below it what differs beside its time.
fn push_kinds(text: &mut String, kinds: &[&FingerprintComparison]) {
    let rows: Vec<_> = kinds.iter().map(|kind| row(kind)).collect();
    let table = table(&HEADER, &rows);
    let mut lines = table.lines();
    let _ = writeln!(text, "{}", lines.next().unwrap_or_default());
    for (line, kind) in lines.zip(kinds) {
        let _ = writeln!(text, "{line}");
        if let (true, Some(before), Some(after)) =
            (kind.changes_plan(), &kind.baseline_plan, &kind.level_plan)
        {
            let _ = writeln!(text, "    plan before: {before}\n    plan after:  {after}");
        }
        for what in &kind.differs {
            let _ = writeln!(text, "    {what}");
        }
    }
}

fn row(kind: &FingerprintComparison) -> Vec<String> {
    let row = StatementRow::new(kind);
    vec![
        format!("{:+.1} %", 100.0 * impact(kind)),
        row.ratio,
        row.baseline_ms,
        row.level_ms,
        row.share,
        shortened(&kind.fingerprint),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, verdict: FingerprintVerdict, level_us: f64) -> FingerprintComparison {
        FingerprintComparison {
            fingerprint: name.to_owned(),
            verdict,
            count: 100.0,
            share: 0.5,
            baseline_us: 1_000.0,
            level_us,
            ratio: Some(level_us / 1_000.0),
            ratio_low: None,
            ratio_high: None,
            p99_ratio: None,
            p_value: None,
            p_value_adjusted: None,
            equal_p_value_adjusted: None,
            differs: Vec::new(),
            baseline_plan: Some("t: ref by a".to_owned()),
            level_plan: Some("t: ref by a".to_owned()),
        }
    }

    #[test]
    fn statements_that_were_not_sent_are_counted_by_reason() {
        let run = |not_prepared, no_connection| ReplayFidelity {
            captured: 100,
            not_sent: NotSent {
                not_prepared,
                no_connection,
                ..NotSent::default()
            },
            ..ReplayFidelity::default()
        };
        let mut text = String::new();
        push_not_replayed(&mut text, &[&run(0, 0), &run(0, 0)]);
        assert_eq!(text, "");
        push_not_replayed(&mut text, &[&run(7, 0), &run(6, 2)]);
        assert_eq!(
            text,
            "\nnot replayed: 9 of 100 statements\n  7 prepared before the capture\n  2 without a connection\n"
        );
    }

    #[test]
    fn statements_stand_in_their_classes_by_their_weight_in_the_workload() {
        use FingerprintVerdict::{Equal, NotShown, SurelyBetter, SurelyWorse};
        let other_plan = |kind: FingerprintComparison| FingerprintComparison {
            level_plan: Some("t: ALL".to_owned()),
            ..kind
        };
        let replay = ReplayComparison {
            fidelity: vec!["all sent".to_owned(), "all sent".to_owned()],
            fingerprints: vec![
                kind("small loss", SurelyWorse, 1_100.0),
                kind("large loss", SurelyWorse, 2_000.0),
                other_plan(kind("lost index", SurelyWorse, 3_000.0)),
                kind("gain", SurelyBetter, 500.0),
                kind("same", NotShown, 1_000.0),
                kind("as fast", Equal, 1_000.0),
                other_plan(kind("plan alone", NotShown, 1_000.0)),
                FingerprintComparison {
                    differs: vec!["errors: 1 instead of 0".to_owned()],
                    ..kind("fails", NotShown, 1_000.0)
                },
                FingerprintComparison {
                    differs: vec!["contents of the rows".to_owned()],
                    ..kind("answers", NotShown, 1_000.0)
                },
            ],
        };
        let mut text = String::new();
        push_replay(&mut text, &replay);
        let places: Vec<_> = [
            "other answer: 1",
            "answers",
            "other error: 1",
            "fails",
            "slower, with another plan: 1",
            "lost index",
            "slower, with the same plan: by the server, or beside others: 2",
            "large loss",
            "small loss",
            "faster: 1",
            "another plan, no other time shown: 1",
            "plan alone",
            "equal within 5 %: 1",
            "as fast",
            "not shown to differ: 1",
            "together +130.0 %",
        ]
        .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")))
        .into();
        assert!(places.is_sorted(), "{places:?}\n{text}");
        assert!(
            text.contains("+100.0 %") && text.contains("-25.0 %"),
            "{text}"
        );
    }
}

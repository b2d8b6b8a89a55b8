//! Two arms of a replay by kind of statement, as a table: what is surely worse comes first.

use std::fmt::Write as _;

use serde::Serialize;
use weir_model::{Comparison, FingerprintComparison, FingerprintVerdict, Verdict};

use crate::comparison_sentences::Answer;
use crate::table::table;
use crate::words::levels_phrase;

/// Kinds without a shown difference that are listed, equal ones and those with the most time first.
const ALIKE_MAX: usize = 8;
/// Longest statement in a table.
const TEXT_MAX: usize = 100;

/// The kinds of statements of two arms.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StatementTable {
    /// The two arms.
    what: String,
    /// Fidelity of both replays: baseline, level.
    fidelity: Vec<String>,
    /// Number of kinds that are surely worse, surely better, equal, and none of them.
    counts: String,
    /// Those that differ in something, and of the others those with the most time.
    rows: Vec<StatementRow>,
}

/// A kind of statement on two arms, as texts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StatementRow {
    verdict: &'static str,
    pub(crate) ratio: String,
    p99_ratio: String,
    pub(crate) baseline_ms: String,
    pub(crate) level_ms: String,
    pub(crate) share: String,
    /// Plans, if both arms find the rows in another way, and differences of the results.
    why: String,
    statement: String,
}

/// Head of the columns of [`StatementRow::row`].
pub(crate) const STATEMENT_HEADER: [&str; 8] = [
    "time",
    "ratio (95 %)",
    "p99",
    "baseline ms",
    "level ms",
    "share",
    "what differs",
    "statement",
];

/// Note on the numbers of the table.
pub(crate) const STATEMENT_NOTE: &str = "Ratio: mean time of a statement, level by baseline, over pairs of runs. \
    Surely: also after the correction for all kinds of statements (Benjamini and Hochberg, 5 %); of a statement that a \
    run has fewer than 20 times, also by more time in a run than the longest lateness of a statement. Equal: the ratio \
    surely lies from 1/1.05 to 1.05 (two one-sided tests, with the same correction). Not shown: a difference is possible; \
    more runs may show it. Share: of the time \
    of all statements on the baseline.";

impl StatementRow {
    pub(crate) fn new(found: &FingerprintComparison) -> Self {
        let ms = |us: f64| {
            if us > 0.0 {
                format!("{:.3}", us / 1e3)
            } else {
                "-".to_owned()
            }
        };
        let interval = found.ratio_low.zip(found.ratio_high);
        let interval = interval.map_or_else(String::new, |(low, high)| {
            format!(" ({low:.2} to {high:.2})")
        });
        Self {
            verdict: found.verdict.words(),
            ratio: times(found.ratio) + &interval,
            p99_ratio: times(found.p99_ratio),
            baseline_ms: ms(found.baseline_us),
            level_ms: ms(found.level_us),
            share: format!("{:.1} %", 100.0 * found.share),
            why: why(found),
            statement: shortened(&found.fingerprint),
        }
    }

    pub(crate) fn row(&self) -> [String; 8] {
        [
            self.verdict,
            &self.ratio,
            &self.p99_ratio,
            &self.baseline_ms,
            &self.level_ms,
            &self.share,
            &self.why,
            &self.statement,
        ]
        .map(str::to_owned)
    }
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}x"))
}

/// `plan: orders: ref by customer -> orders: ALL; rows: 7 instead of 10`.
fn why(found: &FingerprintComparison) -> String {
    let mut parts = Vec::new();
    if let (true, Some(before), Some(after)) = (
        found.changes_plan(),
        &found.baseline_plan,
        &found.level_plan,
    ) {
        parts.push(format!(
            "plan: {} -> {}",
            shortened(before),
            shortened(after)
        ));
    }
    parts.extend(found.differs.iter().cloned());
    if parts.is_empty() {
        return "-".to_owned();
    }
    parts.join("; ")
}

pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Of a replay, the statement that is surely slower on the level: `with event drop index, "select ..." takes 103x the time that it takes with none, by another plan`.
pub(crate) fn slower(comparison: &Comparison) -> Option<String> {
    let replay = comparison.replay.as_ref()?;
    if comparison.verdict == Verdict::Invalid {
        return None;
    }
    let kinds = replay.fingerprints.iter();
    let slower: Vec<_> = kinds
        .filter(|kind| kind.verdict == FingerprintVerdict::SurelyWorse)
        .collect();
    let first = slower.first()?;
    let level = [(comparison.factor.clone(), comparison.level.clone())].into();
    let plan = if first.changes_plan() {
        ", by another plan"
    } else {
        ""
    };
    let others = match slower.len() - 1 {
        0 => String::new(),
        others => format!("; {others} more kinds of statements are surely slower"),
    };
    Some(format!(
        "with {}, \"{}\" takes {} the time that it takes with {}{plan}{others}",
        levels_phrase(&level),
        shortened(&first.fingerprint),
        times(first.ratio),
        comparison.baseline,
    ))
}

impl StatementTable {
    pub(crate) fn tables(comparisons: &[Comparison]) -> Vec<Self> {
        comparisons.iter().filter_map(Self::new).collect()
    }

    fn new(comparison: &Comparison) -> Option<Self> {
        let replay = comparison.replay.as_ref()?;
        let answer = Answer::new(comparison);
        let what = match answer.context.as_str() {
            "" => answer.what,
            context => format!("{} at {context}", answer.what),
        };
        let kinds = &replay.fingerprints;
        let count = |verdict| kinds.iter().filter(|kind| kind.verdict == verdict).count();
        let is_told = |kind: &&FingerprintComparison| {
            kind.verdict < FingerprintVerdict::Equal
                || kind.changes_plan()
                || !kind.differs.is_empty()
        };
        let told = kinds.iter().filter(is_told);
        let others = kinds.iter().filter(|kind| !is_told(kind)).take(ALIKE_MAX);
        Some(Self {
            what,
            fidelity: ["baseline", "level"]
                .into_iter()
                .zip(&replay.fidelity)
                .map(|(arm, words)| format!("{arm}: {words}"))
                .collect(),
            counts: format!(
                "surely worse: {}, surely better: {}, equal within 5 %: {}, not shown: {}",
                count(FingerprintVerdict::SurelyWorse),
                count(FingerprintVerdict::SurelyBetter),
                count(FingerprintVerdict::Equal),
                count(FingerprintVerdict::NotShown)
            ),
            rows: told.chain(others).map(StatementRow::new).collect(),
        })
    }

    /// As text for a terminal.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("statements: {}\n", self.what);
        // Writing to a String cannot fail.
        for line in &self.fidelity {
            let _ = writeln!(out, "  {line}");
        }
        let _ = writeln!(out, "  {}\n", self.counts);
        let rows: Vec<_> = self.rows.iter().map(|row| row.row().to_vec()).collect();
        let _ = writeln!(out, "{}{STATEMENT_NOTE}", table(&STATEMENT_HEADER, &rows));
        out
    }

    /// As Markdown; `text` makes text of others harmless.
    pub(crate) fn markdown(&self, text: &dyn Fn(&str) -> String) -> String {
        let mut out = format!("\n## Statements: {}\n\n", text(&self.what));
        for line in self.fidelity.iter().chain([&self.counts]) {
            let _ = writeln!(out, "- {}", text(line));
        }
        let _ = writeln!(out, "\n| {} |", STATEMENT_HEADER.join(" | "));
        let _ = writeln!(out, "|---|---|--:|--:|--:|--:|---|---|");
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", row.row().map(|part| text(&part)).join(" | "));
        }
        let _ = writeln!(out, "\n{STATEMENT_NOTE}");
        out
    }
}

#[cfg(test)]
mod tests {
    use weir_model::{JudgedResult, ReplayComparison};

    use crate::sample;

    use super::*;

    fn kind(name: &str, verdict: FingerprintVerdict) -> FingerprintComparison {
        FingerprintComparison {
            fingerprint: name.to_owned(),
            verdict,
            count: 100.0,
            share: 0.25,
            baseline_us: 1_500.0,
            level_us: 30_000.0,
            ratio: Some(20.0),
            ratio_low: Some(18.0),
            ratio_high: Some(22.0),
            p99_ratio: Some(30.0),
            p_value: Some(0.001),
            p_value_adjusted: Some(0.002),
            equal_p_value_adjusted: None,
            differs: Vec::new(),
            baseline_plan: Some("orders: ref by customer".to_owned()),
            level_plan: Some("orders: ALL".to_owned()),
        }
    }

    fn replayed() -> JudgedResult {
        let mut result = sample::study(4, 3);
        let mut same = kind("select b | c", FingerprintVerdict::NotShown);
        same.level_plan.clone_from(&same.baseline_plan);
        let mut equal = same.clone();
        equal.fingerprint = "select equal".to_owned();
        equal.verdict = FingerprintVerdict::Equal;
        result.comparisons[0].replay = Some(ReplayComparison {
            fidelity: vec!["10 of 10 sent".to_owned(), "9 of 10 sent".to_owned()],
            fingerprints: vec![
                kind("select a", FingerprintVerdict::SurelyWorse),
                equal,
                same,
            ],
        });
        result
    }

    #[test]
    fn terminal_and_ticket_name_the_statement_first_with_its_plans() {
        let result = replayed();
        for text in [crate::terminal(&result, false), crate::markdown(&result)] {
            let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
            let parts = [
                "\"select a\" takes 20.00x the time that it takes with",
                ", by another plan",
                "baseline: 10 of 10 sent",
                "level: 9 of 10 sent",
                "surely worse: 1, surely better: 0, equal within 5 %: 1, not shown: 1",
                "20.00x (18.00 to 22.00)",
                "plan: orders: ref by customer -> orders: ALL",
                "select equal",
                "select b",
            ];
            assert!(parts.map(place).is_sorted(), "{text}");
        }
        assert!(crate::markdown(&result).contains("select b \\| c"));
        assert!(!crate::terminal(&sample::study(4, 3), false).contains("surely worse"));
    }

    #[test]
    fn long_statements_are_cut_at_a_character() {
        assert_eq!(shortened(&"ä".repeat(150)).chars().count(), TEXT_MAX + 3);
        assert_eq!(shortened("short"), "short");
    }
}

//! A comparison of results for a terminal and for a build server: verdicts against a gate.

use std::fmt::Write as _;

use weir_model::{Comparison, GateCheck, GateOutcome, ResultComparison, Verdict};

use crate::comparison_sentences::Answer;
use crate::ranked_findings::RankedFindings;
use crate::statements::StatementTable;
use crate::terminal::{Palette, push_answers, push_ranked};
use crate::words::escaped;

/// The comparison as text for a terminal.
pub fn result_comparison(compared: &ResultComparison) -> String {
    let mut out = format!("compared: {}\n", compared.basis);
    // Writing to a String cannot fail.
    for difference in &compared.differences {
        let _ = writeln!(out, "differs:  {difference}");
    }
    out.push('\n');
    let palette = Palette::new(false);
    push_answers(&mut out, &Answer::all(&compared.comparisons), palette);
    push_ranked(
        &mut out,
        &RankedFindings::new(&compared.comparisons, &compared.findings),
        palette,
    );
    for statements in StatementTable::tables(&compared.comparisons) {
        let _ = write!(out, "\n{}", statements.text());
    }
    push_checks(&mut out, compared);
    out
}

/// The conditions of the gate: how many hold, and those that do not.
fn push_checks(out: &mut String, compared: &ResultComparison) {
    let checks = &compared.gate_checks;
    if checks.is_empty() {
        return;
    }
    let count = |outcome| checks.iter().filter(|c| c.outcome == outcome).count();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "\ngate: {} of {} conditions hold, {} failed, {} undecided",
        count(GateOutcome::Met),
        checks.len(),
        count(GateOutcome::Failed),
        count(GateOutcome::Undecided)
    );
    for check in checks {
        if check.outcome != GateOutcome::Met {
            let comparison = &compared.comparisons[check.comparison];
            let _ = writeln!(out, "    {}: {}", name(comparison), sentence(check));
        }
    }
}

/// A condition that does not hold, with the interval and what would decide.
fn sentence(check: &GateCheck) -> String {
    let condition = &check.condition;
    let Some((low, high)) = check.ratio.interval() else {
        return format!(
            "{condition}: undecided, there is no interval (too few repetitions, or no such figure)"
        );
    };
    let interval = format!("{:.3}x ({low:.3} to {high:.3})", check.ratio.ratio);
    match (check.outcome, check.repetitions_needed) {
        (GateOutcome::Met, _) => format!("{condition}: holds, {interval}"),
        (GateOutcome::Failed, _) => format!("{condition}: failed, {interval}"),
        (GateOutcome::Undecided, Some(needed)) => {
            format!("{condition}: undecided, {interval}; about {needed} repetitions would decide")
        }
        (GateOutcome::Undecided, None) => format!("{condition}: undecided, {interval}"),
    }
}

/// The compared levels, and where.
fn name(comparison: &Comparison) -> String {
    let answer = Answer::new(comparison);
    match answer.context.as_str() {
        "" => answer.what.clone(),
        context => format!("{} at {context}", answer.what),
    }
}

/// The comparison as `JUnit` XML: a test case each. A condition of the gate that failed is a failure, one that is
/// undecided makes the case a skipped one, an invalid comparison is an error. Others pass with their sentence.
pub fn junit(compared: &ResultComparison) -> String {
    let cases: Vec<Case> = (0..compared.comparisons.len())
        .map(|index| Case::new(compared, index))
        .collect();
    let count = |element: &str| cases.iter().filter(|case| case.element == element).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"weir compare\" tests=\"{}\" \
         failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        cases.len(),
        count("failure"),
        count("error"),
        count("skipped"),
    );
    for (comparison, case) in compared.comparisons.iter().zip(&cases) {
        let text = escaped(&case.text);
        let outcome = match case.element {
            "system-out" => format!("<system-out>{text}</system-out>"),
            element => format!("<{element} message=\"{text}\"/>"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  <testcase classname=\"{}\" name=\"{}\">{outcome}</testcase>",
            escaped(&comparison.metric),
            escaped(&name(comparison))
        );
    }
    out.push_str("</testsuite>\n");
    out
}

/// Outcome of a test case: the element that says it, and its text.
struct Case {
    element: &'static str,
    text: String,
}

impl Case {
    fn new(compared: &ResultComparison, index: usize) -> Self {
        let comparison = &compared.comparisons[index];
        let with = |outcome| {
            let checks = compared.gate_checks.iter();
            let found: Vec<_> = checks
                .filter(|check| check.comparison == index && check.outcome == outcome)
                .map(sentence)
                .collect();
            found.join("; ")
        };
        let (failed, undecided) = (with(GateOutcome::Failed), with(GateOutcome::Undecided));
        let answer = Answer::new(comparison).sentence;
        let (element, text) = if comparison.verdict == Verdict::Invalid {
            ("error", answer)
        } else if !failed.is_empty() {
            ("failure", failed)
        } else if !undecided.is_empty() {
            ("skipped", undecided)
        } else {
            ("system-out", answer)
        };
        Self { element, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn compared() -> ResultComparison {
        ResultComparison {
            basis: "throughput".to_owned(),
            differences: vec!["server: mysql 9.7.0 in A, mysql 9.7.1 in B".to_owned()],
            comparisons: sample::study(4, 3).comparisons,
            findings: Vec::new(),
            gate_checks: Vec::new(),
        }
    }

    fn check(comparison: usize, outcome: GateOutcome) -> GateCheck {
        GateCheck {
            comparison,
            condition: "p99 latency at most +10 %".to_owned(),
            outcome,
            ratio: weir_model::Ratio {
                ratio: 1.2,
                low: Some(1.05),
                high: Some(1.37),
            },
            repetitions_needed: (outcome == GateOutcome::Undecided).then_some(12),
        }
    }

    #[test]
    fn a_build_server_is_told_failures_errors_and_what_is_undecided() {
        let mut compared = compared();
        let invalid = |c: &Comparison| c.verdict == Verdict::Invalid;
        let valid: Vec<_> = (0..4)
            .filter(|at| !invalid(&compared.comparisons[*at]))
            .collect();
        compared.comparisons[valid[0]].level = "<\"OFF\" & more>".to_owned();
        compared.gate_checks = vec![
            check(valid[0], GateOutcome::Failed),
            check(valid[1], GateOutcome::Undecided),
            check(valid[2], GateOutcome::Met),
        ];
        let xml = junit(&compared);
        assert!(
            xml.contains("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""),
            "{xml}"
        );
        assert!(xml.contains("&lt;&quot;OFF&quot; &amp; more&gt;"), "{xml}");
        let text = result_comparison(&compared);
        let summary = "gate: 1 of 3 conditions hold, 1 failed, 1 undecided";
        assert!(text.contains(summary), "{text}");
        let undecided = "undecided, 1.200x (1.050 to 1.370); about 12 repetitions would decide";
        assert!(
            text.contains(undecided) && xml.contains(undecided),
            "{text}{xml}"
        );
        assert!(text.contains("differs:  server"), "{text}");
    }
}

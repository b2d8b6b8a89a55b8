//! A comparison of results for a terminal and for a build server: verdicts against a gate.

use std::fmt::Write as _;

use weir_model::{Comparison, ResultComparison, Verdict};

use crate::comparison_sentences::Answer;
use crate::ranked_findings::RankedFindings;
use crate::statements::StatementTable;
use crate::terminal::{Palette, push_answers, push_ranked};
use crate::words::escaped;

/// Returns true if `comparison` establishes a loss beyond `gate` (0.97: more than 3 % worse).
/// The whole interval lies there, and no rule forbids to say so.
pub fn loss_is_established(comparison: &Comparison, gate: f64) -> bool {
    let best = comparison.improvement().high;
    comparison.verdict == Verdict::Effect && best.is_some_and(|best| best < gate)
}

/// The comparison as text for a terminal.
pub fn result_comparison(compared: &ResultComparison, gate: Option<f64>) -> String {
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
    if let Some(gate) = gate {
        let lost = |comparison: &&Comparison| loss_is_established(comparison, gate);
        let count = compared.comparisons.iter().filter(lost).count();
        let _ = writeln!(
            out,
            "\ngate: a loss beyond {:.1} % is established in {count} of {} comparisons",
            (1.0 - gate) * 100.0,
            compared.comparisons.len()
        );
    }
    out
}

/// The comparison as `JUnit` XML: a test case each; a loss beyond the gate is a failure, an invalid
/// comparison an error, an inconclusive one passes with its sentence.
pub fn junit(compared: &ResultComparison, gate: Option<f64>) -> String {
    let comparisons = &compared.comparisons;
    let fails =
        |comparison: &Comparison| gate.is_some_and(|gate| loss_is_established(comparison, gate));
    let invalid = |comparison: &Comparison| comparison.verdict == Verdict::Invalid;
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"weir compare\" tests=\"{}\" \
         failures=\"{}\" errors=\"{}\">\n",
        comparisons.len(),
        comparisons.iter().filter(|c| fails(c)).count(),
        comparisons.iter().filter(|c| invalid(c)).count(),
    );
    for comparison in comparisons {
        let answer = Answer::new(comparison);
        let name = match answer.context.as_str() {
            "" => answer.what.clone(),
            context => format!("{} at {context}", answer.what),
        };
        let sentence = escaped(&answer.sentence);
        let outcome = if invalid(comparison) {
            format!("<error message=\"{sentence}\"/>")
        } else if fails(comparison) {
            format!("<failure message=\"{sentence}\"/>")
        } else {
            format!("<system-out>{sentence}</system-out>")
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  <testcase classname=\"{}\" name=\"{}\">{outcome}</testcase>",
            escaped(&comparison.metric),
            escaped(&name)
        );
    }
    out.push_str("</testsuite>\n");
    out
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
        }
    }

    #[test]
    fn only_a_loss_beyond_the_gate_that_is_established_fails() {
        let mut comparison = compared().comparisons[0].clone();
        let mut of = |low, high, verdict| {
            comparison.ratio_low = Some(low);
            comparison.ratio_high = Some(high);
            comparison.verdict = verdict;
            loss_is_established(&comparison, 0.97)
        };
        assert!(of(0.90, 0.96, Verdict::Effect));
        assert!(!of(0.90, 0.98, Verdict::Effect));
        assert!(!of(1.10, 1.20, Verdict::Effect));
        assert!(!of(0.90, 0.96, Verdict::Invalid));
    }

    #[test]
    fn a_build_server_is_told_failures_and_errors() {
        let mut compared = compared();
        compared.comparisons[0].ratio_low = Some(0.90);
        compared.comparisons[0].ratio_high = Some(0.95);
        compared.comparisons[0].verdict = Verdict::Effect;
        compared.comparisons[0].level = "<\"OFF\" & more>".to_owned();
        let xml = junit(&compared, Some(0.97));
        assert!(
            xml.contains("tests=\"4\" failures=\"1\" errors=\"1\""),
            "{xml}"
        );
        assert!(xml.contains("&lt;&quot;OFF&quot; &amp; more&gt;"), "{xml}");
        let text = result_comparison(&compared, Some(0.97));
        assert!(text.contains("established in 1 of 4 comparisons"), "{text}");
        assert!(text.contains("differs:  server"), "{text}");
    }
}

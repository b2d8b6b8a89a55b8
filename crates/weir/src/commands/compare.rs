//! `weir compare`.

use weir_model::{Comparison, JudgedResult, ResultComparison, Severity, Verdict};

use crate::cli::CompareArguments;
use crate::commands::report;
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &CompareArguments) -> anyhow::Result<Outcome> {
    let metric = arguments.metric.as_deref();
    let compared = match (&arguments.factor, &arguments.second) {
        (Some(factor), _) => {
            let at = arguments.at.iter().cloned().collect();
            within(
                &weir_judge::read_factor(&arguments.first, factor, &at, metric)?,
                factor,
            )
        }
        (None, second) => {
            let second = second.as_ref().unwrap_or(&arguments.first);
            let first = weir_judge::read_for_comparison(&arguments.first)?;
            let second = weir_judge::read_for_comparison(second)?;
            weir_judge::compare_results(&first, &second, metric)
        }
    };
    if let Some(file) = &arguments.junit {
        report::write(
            file,
            weir_report::junit(&compared, arguments.gate).as_bytes(),
        )?;
    }
    if arguments.json {
        output::line(serde_json::to_string_pretty(&compared)?)?;
    } else {
        output::text(weir_report::result_comparison(&compared, arguments.gate))?;
    }
    Ok(outcome(&compared, arguments.gate))
}

/// The comparisons of one factor within a result.
fn within(result: &JudgedResult, factor: &str) -> ResultComparison {
    ResultComparison {
        basis: format!("levels of {factor} within one result, by repetition"),
        differences: Vec::new(),
        comparisons: result.comparisons.clone(),
        findings: result.findings.clone(),
    }
}

fn outcome(compared: &ResultComparison, gate: Option<f64>) -> Outcome {
    let is_lost = |comparison: &Comparison| {
        gate.is_some_and(|gate| weir_report::loss_is_established(comparison, gate))
    };
    let refused = compared.comparisons.is_empty()
        && compared
            .findings
            .iter()
            .any(|finding| finding.severity == Severity::Error);
    let invalid = |comparison: &Comparison| comparison.verdict == Verdict::Invalid;
    if compared.comparisons.iter().any(is_lost) {
        Outcome::Failed
    } else if refused || compared.comparisons.iter().any(invalid) {
        Outcome::Invalid
    } else {
        Outcome::Done
    }
}

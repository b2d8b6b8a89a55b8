//! `weir compare`.

use anyhow::{anyhow, bail};
use weir_judge::GateConditions;
use weir_model::{Comparison, GateOutcome, JudgedResult, ResultComparison, Severity, Verdict};

use crate::cli::{CompareArguments, growth};
use crate::commands::report;
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &CompareArguments) -> anyhow::Result<Outcome> {
    let metric = arguments.metric.as_deref();
    let mut compared = match (&arguments.factor, &arguments.second) {
        (Some(factor), _) => within(&sessions(arguments, factor)?, factor),
        (None, second) => {
            let second = second.as_ref().unwrap_or(&arguments.first);
            let first = weir_judge::read_for_comparison(&arguments.first)?;
            let second = weir_judge::read_for_comparison(second)?;
            weir_judge::compare_results(&first, &second, metric)
        }
    };
    compared.gate_checks = conditions(arguments)?.check(&compared)?;
    if let Some(file) = &arguments.junit {
        report::write(file, weir_report::junit(&compared).as_bytes())?;
    }
    if arguments.json {
        output::line(serde_json::to_string_pretty(&compared)?)?;
    } else {
        output::text(weir_report::result_comparison(&compared))?;
    }
    Ok(outcome(&compared))
}

/// The results as one: sessions of the same study.
fn sessions(arguments: &CompareArguments, factor: &str) -> anyhow::Result<JudgedResult> {
    let at = arguments.at.iter().cloned().collect();
    let metric = arguments.metric.as_deref();
    let paths = std::iter::once(&arguments.first).chain(&arguments.second);
    let results = paths
        .chain(&arguments.more)
        .map(|path| weir_judge::read_factor(path, factor, &at, metric));
    let mut merged = weir_judge::merge_sessions(results.collect::<Result<_, _>>()?);
    let first = merged.remove(0);
    if let Some(other) = merged.first() {
        bail!(
            "cannot compare {factor} over `{}` and `{}` (other cells, drives or servers); give results of one study",
            first.evidence.plan.title,
            other.evidence.plan.title
        );
    }
    Ok(first)
}

fn conditions(arguments: &CompareArguments) -> anyhow::Result<GateConditions> {
    let statements = arguments.gate_statement.chunks_exact(2).map(|pair| {
        let limit = growth(&pair[1])
            .map_err(|why| anyhow!("--gate-statement '{}' {}: {why}", pair[0], pair[1]))?;
        Ok((pair[0].clone(), limit))
    });
    Ok(GateConditions {
        improvement_min: arguments.gate,
        p99_max: arguments.gate_p99,
        statements_max: statements.collect::<anyhow::Result<_>>()?,
        equal_within: arguments.gate_equal,
    })
}

/// The comparisons of one factor within a result.
fn within(result: &JudgedResult, factor: &str) -> ResultComparison {
    ResultComparison {
        basis: format!("levels of {factor} within one result, by repetition"),
        differences: Vec::new(),
        comparisons: result.comparisons.clone(),
        findings: result.findings.clone(),
        gate_checks: Vec::new(),
    }
}

fn outcome(compared: &ResultComparison) -> Outcome {
    let is_error = |finding: &weir_model::Finding| finding.severity == Severity::Error;
    let is_refused = compared.comparisons.is_empty() && compared.findings.iter().any(is_error);
    let is_invalid = |comparison: &Comparison| comparison.verdict == Verdict::Invalid;
    let has = |outcome| {
        compared
            .gate_checks
            .iter()
            .any(|check| check.outcome == outcome)
    };
    if has(GateOutcome::Failed) {
        Outcome::Failed
    } else if is_refused || compared.comparisons.iter().any(is_invalid) {
        Outcome::Invalid
    } else if has(GateOutcome::Undecided) {
        Outcome::Undecided
    } else {
        Outcome::Done
    }
}

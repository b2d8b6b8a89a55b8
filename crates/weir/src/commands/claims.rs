//! `weir claims`.

use weir_model::JudgedResult;

use crate::cli::ClaimsArguments;
use crate::commands::report;
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &ClaimsArguments) -> anyhow::Result<Outcome> {
    let results = arguments.results.iter();
    let results: Vec<JudgedResult> = results
        .map(|result| weir_judge::read_result(result))
        .collect::<Result<_, _>>()?;
    let results = weir_judge::merge_sessions(results);
    if arguments.what_must_be_true {
        return what_must_be_true(&results, arguments);
    }
    if arguments.json {
        let claims: Vec<_> = results.iter().map(in_json).collect();
        output::line(serde_json::to_string_pretty(&claims)?)?;
        return Ok(Outcome::Done);
    }
    let page = weir_report::claims_markdown(&results);
    match &arguments.out {
        Some(file) => report::write(file, page.as_bytes())?,
        None => output::text(page)?,
    }
    Ok(Outcome::Done)
}

/// Prints which figures the open claims hang on.
fn what_must_be_true(
    results: &[JudgedResult],
    arguments: &ClaimsArguments,
) -> anyhow::Result<Outcome> {
    let needs = results
        .iter()
        .flat_map(weir_predict::from_result::what_must_be_true);
    let needs: Vec<_> = needs.collect();
    let page = if arguments.json {
        serde_json::to_string_pretty(&needs)? + "\n"
    } else if needs.is_empty() {
        "no claim is open that was measured\n".to_owned()
    } else {
        let lines = needs
            .iter()
            .flat_map(weir_predict::from_result::ClaimNeeds::lines);
        lines.map(|line| line + "\n").collect()
    };
    match &arguments.out {
        Some(file) => report::write(file, page.as_bytes())?,
        None => output::text(page)?,
    }
    Ok(Outcome::Done)
}

fn in_json(result: &JudgedResult) -> serde_json::Value {
    serde_json::json!({
        "title": result.evidence.plan.title,
        "seed": result.evidence.plan.seed,
        "claims": result.evidence.plan.claims,
        "verdicts": result.analysis.claims,
    })
}

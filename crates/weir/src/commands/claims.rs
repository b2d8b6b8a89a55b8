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

fn in_json(result: &JudgedResult) -> serde_json::Value {
    serde_json::json!({
        "title": result.evidence.plan.title,
        "seed": result.evidence.plan.seed,
        "claims": result.evidence.plan.claims,
        "verdicts": result.analysis.claims,
    })
}

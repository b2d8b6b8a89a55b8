//! Every claim of several results on one page: agrees, disagrees, or why it cannot be said.

use std::fmt::Write as _;

use weir_model::{Agreement, JudgedResult};

use crate::markdown::text;
use crate::page::{ClaimView, claims};

/// The claims of `results` as a Markdown page: how many agree, then a table for each study.
#[must_use]
pub fn claims_markdown(results: &[JudgedResult]) -> String {
    let all: Vec<_> = results
        .iter()
        .map(|result| (result, claims(result)))
        .collect();
    let count = |agreement| {
        let claims = all.iter().flat_map(|(_, claims)| claims);
        claims.filter(|claim| claim.agreement == agreement).count()
    };
    let mut out = format!(
        "# Published claims\n\n{} agree, {} disagree, {} cannot be decided.\n",
        count(Agreement::Agrees),
        count(Agreement::Disagrees),
        count(Agreement::CannotSay),
    );
    for (result, claims) in &all {
        push_study(&mut out, result, claims);
    }
    out
}

fn push_study(out: &mut String, result: &JudgedResult, claims: &[ClaimView<'_>]) {
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "\n## {}\n\n{}\n\n{} runs, seed {}.\n",
        text(&result.evidence.plan.title),
        text(&result.evidence.plan.question),
        result.evidence.runs.len(),
        result.evidence.plan.seed,
    );
    if claims.is_empty() {
        out.push_str("This study has no published claim.\n");
        return;
    }
    out.push_str(
        "| claim | published | where | measured here | outcome |\n|---|--:|---|---|---|\n",
    );
    for claim in claims {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            text(&format!("{}: {}", claim.source, claim.says)),
            claim.published,
            text(&claim.context),
            claim.measured.as_deref().unwrap_or("-"),
            text(&outcome(claim)),
        );
    }
}

fn outcome(claim: &ClaimView<'_>) -> String {
    match claim.agreement {
        Agreement::Agrees => "agrees".to_owned(),
        Agreement::Disagrees => format!("disagrees: {}", claim.why),
        Agreement::CannotSay if claim.measured.is_none() => {
            format!("cannot say, not tested here: {}", claim.why)
        }
        Agreement::CannotSay => format!("cannot say: {}", claim.why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_claim_has_its_outcome_and_its_reason() {
        let mut untestable = sample::study(2, 3);
        untestable.evidence.plan.title = "Somebody's | cloud".to_owned();
        let verdict = &mut untestable.analysis.claims[0];
        verdict.measured = None;
        verdict.agreement = Agreement::CannotSay;
        verdict.why = "their server is not public".to_owned();
        let page = claims_markdown(&[sample::study(4, 3), untestable]);
        assert!(page.contains("disagrees: the effect is smaller"), "{page}");
        assert!(
            page.contains("cannot say, not tested here: their server"),
            "{page}"
        );
        assert!(page.contains("## Somebody's \\| cloud"), "{page}");
    }
}

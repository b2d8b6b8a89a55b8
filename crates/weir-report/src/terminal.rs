//! What `weir run` prints: answers with what to bear in mind, and what limited each cell.

use std::fmt::Write as _;

use weir_model::{Finding, JudgedResult};

use crate::answers::Answer;
use crate::cells::CELL_HEADER;
use crate::events::{EVENT_HEADER, EVENT_NOTE, EventRow};
use crate::page::{ClaimView, Page};
use crate::table::table;
use crate::words::severity_name;

/// The result as text for a terminal.
pub fn terminal(result: &JudgedResult) -> String {
    let page = Page::new(result);
    let mut out = format!("{}\n\n", result.evidence.plan.question);
    push_answers(&mut out, &page.answers);
    if page.answers.is_empty() && result.searches.is_empty() {
        push_line(&mut out, "no comparison could be made");
    }
    let rows: Vec<_> = page
        .measured_cells()
        .map(|cell| cell.row().to_vec())
        .collect();
    push_line(&mut out, &format!("\n{}", table(&CELL_HEADER, &rows)));
    push_events(&mut out, &page.events);
    for insight in &page.insights {
        push_line(&mut out, insight);
    }
    for claim in &page.claims {
        push_line(&mut out, &claim_line(claim));
    }
    for finding in &result.findings {
        push_line(&mut out, &finding_line(finding));
    }
    for sentence in &page.not_measured {
        push_line(&mut out, sentence);
    }
    out
}

/// What became of events, where there were any.
fn push_events(out: &mut String, events: &[EventRow]) {
    if events.is_empty() {
        return;
    }
    let rows: Vec<_> = events.iter().map(|event| event.row().to_vec()).collect();
    push_line(out, &table(&EVENT_HEADER, &rows));
    push_line(out, EVENT_NOTE);
}

/// Each answer with what to bear in mind below it.
pub(crate) fn push_answers(out: &mut String, answers: &[Answer<'_>]) {
    for answer in answers {
        push_line(out, &answer.sentence);
        for note in &answer.notes {
            push_line(out, &format!("    {note}"));
        }
        for warning in &answer.warnings {
            push_line(out, &format!("    {}", finding_line(warning)));
        }
        if !answer.warns_again.is_empty() {
            let rules: Vec<_> = answer.warns_again.iter().map(ToString::to_string).collect();
            let rules = rules.join(", ");
            push_line(out, &format!("    warning {rules}: as above"));
        }
    }
}

/// `disagrees: Alibaba Cloud: ... = 1.48x, measured here 1.31x (1.24 to 1.39) on intel-p4610: ...`.
fn claim_line(claim: &ClaimView<'_>) -> String {
    let place = match claim.context.as_str() {
        "" => String::new(),
        context => format!(" at {context}"),
    };
    let measured = claim.measured.as_deref().unwrap_or("nothing");
    format!(
        "{}: {}: {}: {}; measured here {measured}{place}: {}",
        claim.agreement_name, claim.source, claim.says, claim.published, claim.why
    )
}

/// `warning R6: ...`.
pub fn finding_line(finding: &Finding) -> String {
    let Finding {
        rule,
        severity,
        message,
    } = finding;
    format!("{} {rule}: {message}", severity_name(*severity))
}

fn push_line(out: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{line}");
}

#[cfg(test)]
mod tests {
    use weir_model::{RuleId, Severity};

    use super::*;
    use crate::sample;

    #[test]
    fn warnings_stand_below_their_answer_and_the_study_s_own_at_the_end() {
        let mut result = sample::study(4, 3);
        let finding = |rule, severity| Finding {
            rule,
            severity,
            message: format!("about {rule}"),
        };
        result.comparisons[0].findings = vec![finding(RuleId::R3, Severity::Warning)];
        result.comparisons[1].findings = vec![finding(RuleId::R3, Severity::Warning)];
        result.findings = vec![finding(RuleId::R6, Severity::Warning)];
        let text = terminal(&result);
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        let answer = crate::sentence(&result.comparisons[0]);
        let below = format!("{answer}\n    warning R3: about R3\n");
        assert!(place(&below) < place("limited by"));
        assert!(place(&below) < place("\n    warning R3: as above\n"));
        assert!(place("limited by") < place("\nwarning R6: about R6\n"));
    }
}

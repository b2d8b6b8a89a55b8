//! Output of `weir run`: advice, answers, findings that could change them, and the bottleneck of
//! each cell.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use weir_model::{Finding, JudgedResult, Verdict, validation_line};

use crate::cells::CELL_HEADER;
use crate::comparison_sentences::Answer;
use crate::events::{EVENT_HEADER, EVENT_NOTE, EventRow};
use crate::hosts::HOST_HEADER;
use crate::page::{ClaimView, Page};
use crate::ranked_findings::RankedFindings;
use crate::server_hosts::SERVER_HOST_HEADER;
use crate::setup::data_line;
use crate::table::table;
use crate::words::severity_name;

/// The result as text for a terminal; with colours (ECMA-48) if `colored`.
pub fn terminal(result: &JudgedResult, colored: bool) -> String {
    let page = Page::new(result);
    let palette = Palette::new(colored);
    let mut out = String::new();
    if let Some(line) = validation_line(&result.evidence.drives) {
        push_line(&mut out, &line);
    }
    push_line(&mut out, &result.evidence.plan.question);
    if let Some(line) = data_line(result) {
        push_line(&mut out, &line);
    }
    out.push('\n');
    if let Some(advice) = &page.advice {
        let bold = palette.advice;
        push_line(&mut out, &format!("{bold}{advice}.{bold:#}\n"));
    }
    push_answers(&mut out, &page.answers, palette);
    if page.answers.is_empty() && result.searches.is_empty() {
        push_line(&mut out, "no comparison could be made");
    }
    push_ranked(&mut out, &page.ranked, palette);
    let rows: Vec<_> = page
        .measured_cells()
        .map(|cell| cell.row().to_vec())
        .collect();
    push_line(&mut out, &format!("\n{}", table(&CELL_HEADER, &rows)));
    if let Some(screen) = &page.screen {
        push_line(&mut out, &screen.text());
    }
    for statements in &page.statements {
        push_line(&mut out, &statements.text());
    }
    push_events(&mut out, &page.events);
    let hosts: Vec<_> = page.hosts.iter().map(|host| host.row().to_vec()).collect();
    push_rows(&mut out, &HOST_HEADER, &hosts);
    let hosts = page.server_hosts.iter();
    let hosts: Vec<_> = hosts.map(|host| host.row().to_vec()).collect();
    push_rows(&mut out, &SERVER_HOST_HEADER, &hosts);
    for insight in &page.insights {
        push_line(&mut out, insight);
    }
    for claim in &page.claims {
        push_line(&mut out, &claim_line(claim));
    }
    for sentence in &page.not_measured {
        push_line(&mut out, sentence);
    }
    out
}

/// The styles of parts; all plain without colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    advice: Style,
    refused: Style,
    could_change: Style,
}

impl Palette {
    pub(crate) fn new(colored: bool) -> Self {
        let plain = Style::new();
        if !colored {
            return Self {
                advice: plain,
                refused: plain,
                could_change: plain,
            };
        }
        Self {
            advice: plain.bold(),
            refused: AnsiColor::Red.on_default(),
            could_change: AnsiColor::Yellow.on_default(),
        }
    }
}

/// Adds the records of events, where there were any.
fn push_events(out: &mut String, events: &[EventRow]) {
    if events.is_empty() {
        return;
    }
    let rows: Vec<_> = events.iter().map(|event| event.row().to_vec()).collect();
    push_line(out, &table(&EVENT_HEADER, &rows));
    push_line(out, EVENT_NOTE);
}

/// A table, where there are rows: of load hosts that shared the load, of servers' hosts with an agent.
fn push_rows(out: &mut String, header: &[&str], rows: &[Vec<String>]) {
    if !rows.is_empty() {
        push_line(out, &table(header, rows));
    }
}

/// Each answer with its notes below it.
pub(crate) fn push_answers(out: &mut String, answers: &[Answer<'_>], palette: Palette) {
    for answer in answers {
        let style = if answer.verdict == Verdict::Invalid {
            palette.refused
        } else {
            Style::new()
        };
        push_line(out, &format!("{style}{}{style:#}", answer.sentence));
        for note in &answer.notes {
            push_line(out, &format!("    {note}"));
        }
    }
}

/// Adds the findings that refused an answer or could change one, a line for each rule; of notes their number.
pub(crate) fn push_ranked(out: &mut String, ranked: &RankedFindings, palette: Palette) {
    let groups = [
        ("refused", palette.refused, &ranked.refused),
        (
            "could change the answer",
            palette.could_change,
            &ranked.could_change,
        ),
    ];
    let groups = groups.into_iter().filter(|(.., lines)| !lines.is_empty());
    for (title, style, lines) in groups {
        push_line(out, &format!("\n{style}{title}{style:#}"));
        for line in lines {
            push_line(out, &format!("  {}: {}", line.rule, line.text));
        }
    }
    if !ranked.notes.is_empty() {
        push_line(out, &format!("\n{}", ranked.notes));
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
    fn advice_comes_first_then_answers_then_what_could_change_them() {
        let mut result = sample::study(4, 3);
        let finding = |rule, severity| Finding {
            rule,
            severity,
            message: format!("about {rule}"),
        };
        result.comparisons[0].findings = vec![finding(RuleId::R3, Severity::Warning)];
        result.comparisons[1].findings = vec![finding(RuleId::R3, Severity::Warning)];
        result.findings = vec![
            finding(RuleId::R6, Severity::Warning),
            finding(RuleId::R17, Severity::Note),
        ];
        let text = terminal(&result, false);
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        let parts = [
            "In this emulation innodb_doublewrite OFF gave",
            &crate::sentence(&result.comparisons[0]),
            "\ncould change the answer\n  R6: about R6\n  R3: about R3 (2 comparisons)\n",
            "\n1 more note (R17): `weir explain R17`, or in the report\n",
            "limited by",
        ];
        assert!(parts.map(place).is_sorted(), "{text}");
        assert!(!text.contains("about R17"), "{text}");
    }

    #[test]
    fn colors_change_no_word() {
        let result = sample::study(4, 3);
        let colored = terminal(&result, true);
        assert!(colored.contains("\x1b[1mIn this emulation"), "{colored}");
        let plain = terminal(&result, false);
        assert!(!plain.contains('\x1b'));
        let parts = colored.split('\x1b');
        let words = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
        // The first part has no escape before it.
        let first = colored.split('\x1b').next().unwrap_or_default();
        let rest: String = words.skip(1).collect();
        assert_eq!(first.to_owned() + &rest, plain);
    }
}

//! Report for a ticket: answers, cells, their bottlenecks, findings and set-up.

use std::fmt::Write as _;

use weir_model::{JudgedResult, validation_line};

use crate::cells::CELL_HEADER;
use crate::events::{EVENT_HEADER, EVENT_NOTE, EventRow};
use crate::flames::{FLAME_HEADER, FLAME_NOTE, FlameRow};
use crate::hosts::{HOST_HEADER, HOST_NOTE, HostRow};
use crate::page::Page;
use crate::server_hosts::{SERVER_HOST_HEADER, SERVER_HOST_NOTE, ServerHostRow};
use crate::setup::data_line;

/// The result as Markdown.
pub fn markdown(result: &JudgedResult) -> String {
    let page = Page::new(result);
    let mut out = String::new();
    if let Some(line) = validation_line(&result.evidence.drives) {
        push_line(&mut out, &format!("{}\n", text(&line)));
    }
    push_line(
        &mut out,
        &format!(
            "# {}\n\n{}\n",
            text(&result.evidence.plan.title),
            text(&result.evidence.plan.question)
        ),
    );
    if let Some(line) = data_line(result) {
        push_line(&mut out, &format!("{}\n", text(&line)));
    }
    if let Some(advice) = &page.advice {
        push_line(&mut out, &format!("**{}.**\n", text(advice)));
    }
    for answer in &page.answers {
        push_line(&mut out, &format!("- {}", text(&answer.sentence)));
        for note in &answer.notes {
            push_line(&mut out, &format!("  - {}", text(note)));
        }
    }
    if page.answers.is_empty() && result.searches.is_empty() {
        push_line(&mut out, "No comparison could be made.");
    }
    if !page.insights.is_empty() {
        push_line(&mut out, "\n## What follows\n");
    }
    for insight in &page.insights {
        push_line(&mut out, &format!("- {}", text(insight)));
    }
    push_cells(&mut out, &page);
    push_screen(&mut out, &page);
    for statements in &page.statements {
        out.push_str(&statements.markdown(&text));
    }
    push_events(&mut out, &page);
    push_hosts(&mut out, &page);
    push_server_hosts(&mut out, &page);
    if !page.findings.is_empty() || !page.not_measured.is_empty() {
        push_line(
            &mut out,
            "\n## Findings of the rules, and what was not measured\n",
        );
    }
    for finding in &page.findings {
        let line = format!(
            "- {} ({}): {}",
            finding.rule,
            finding.severity_name,
            text(finding.message)
        );
        push_line(&mut out, &line);
    }
    for sentence in &page.not_measured {
        push_line(&mut out, &format!("- {}", text(sentence)));
    }
    push_claims(&mut out, &page);
    push_line(&mut out, "\n## Set-up\n");
    for fact in &page.setup.facts {
        push_line(&mut out, &format!("- {}: {}", fact.label, text(&fact.text)));
    }
    push_flames(&mut out, &page);
    out
}

fn push_cells(out: &mut String, page: &Page<'_>) {
    push_line(out, "\n## Throughput, latency and what limited it\n");
    push_line(out, &format!("| {} |", CELL_HEADER.join(" | ")));
    push_line(out, "|---|--:|--:|--:|---|--:|--:|--:|");
    for cell in page.measured_cells() {
        push_line(
            out,
            &format!("| {} |", cell.row().map(|part| text(&part)).join(" | ")),
        );
    }
    out.push_str(
        "\nQueries per second: mean of the repetitions; all else: median of the repetitions.\n",
    );
}

fn push_screen(out: &mut String, page: &Page<'_>) {
    let Some(screen) = &page.screen else {
        return;
    };
    let (header, rows) = screen.cells();
    push_line(out, "\n## Ranking of the screen\n");
    push_line(out, &format!("| {} |", header.join(" | ")));
    push_line(out, &format!("|{}", "---|".repeat(header.len())));
    for row in rows {
        let row: Vec<_> = row.iter().map(|part| text(part)).collect();
        push_line(out, &format!("| {} |", row.join(" | ")));
    }
    for note in screen.notes() {
        push_line(out, &format!("\n{note}"));
    }
}

/// Alignments of a column.
const LEFT: &str = "---";
const RIGHT: &str = "--:";

/// A section with a table of `N` columns and its note.
struct TableSection<'a, const N: usize> {
    title: &'a str,
    header: [&'a str; N],
    alignment: [&'a str; N],
    note: &'a str,
}

/// A section, where there are rows.
fn push_section<const N: usize>(
    out: &mut String,
    section: &TableSection<'_, N>,
    rows: impl Iterator<Item = [String; N]>,
) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    push_line(out, &format!("\n## {}\n", section.title));
    push_line(out, &format!("| {} |", section.header.join(" | ")));
    push_line(out, &format!("|{}|", section.alignment.join("|")));
    for row in rows {
        let row = row.map(|part| text(&part)).join(" | ");
        push_line(out, &format!("| {row} |"));
    }
    push_line(out, &format!("\n{}", section.note));
}

fn push_events(out: &mut String, page: &Page<'_>) {
    let section = TableSection {
        title: "Events",
        header: EVENT_HEADER,
        alignment: [
            LEFT, LEFT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, LEFT,
        ],
        note: EVENT_NOTE,
    };
    push_section(out, &section, page.events.iter().map(EventRow::row));
}

fn push_hosts(out: &mut String, page: &Page<'_>) {
    let section = TableSection {
        title: "Load hosts",
        header: HOST_HEADER,
        alignment: [
            LEFT, RIGHT, LEFT, RIGHT, RIGHT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT,
        ],
        note: HOST_NOTE,
    };
    push_section(out, &section, page.hosts.iter().map(HostRow::row));
}

fn push_server_hosts(out: &mut String, page: &Page<'_>) {
    let section = TableSection {
        title: "Server hosts",
        header: SERVER_HOST_HEADER,
        alignment: [LEFT, RIGHT, LEFT, LEFT, RIGHT, RIGHT, LEFT, LEFT, RIGHT],
        note: SERVER_HOST_NOTE,
    };
    let rows = page.server_hosts.iter().map(ServerHostRow::row);
    push_section(out, &section, rows);
}

fn push_flames(out: &mut String, page: &Page<'_>) {
    for flames in &page.flames {
        let title = format!("CPU time by function: {}", text(&flames.what));
        let section = TableSection {
            title: &title,
            header: FLAME_HEADER,
            alignment: [LEFT, RIGHT, RIGHT, RIGHT],
            note: FLAME_NOTE,
        };
        push_section(out, &section, flames.rows.iter().map(FlameRow::row));
        for fact in &flames.facts {
            push_line(out, &format!("- {}", text(fact)));
        }
    }
}

fn push_claims(out: &mut String, page: &Page<'_>) {
    if page.claims.is_empty() {
        return;
    }
    push_line(out, "\n## Published claims\n");
    push_line(
        out,
        "| claim | published | where | measured here | agrees? | why |",
    );
    push_line(out, "|---|--:|---|---|---|---|");
    for claim in &page.claims {
        let cells = [
            text(&format!("{}: {}", claim.source, claim.says)),
            claim.published.clone(),
            text(&claim.context),
            claim.measured.clone().unwrap_or_else(|| "-".to_owned()),
            claim.agreement_name.to_owned(),
            text(claim.why),
        ];
        push_line(out, &format!("| {} |", cells.join(" | ")));
    }
}

fn push_line(out: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{line}");
}

/// Text of others on one line, with the characters that Markdown and HTML would interpret escaped.
/// Backticks stay: Weir's own messages quote names with them.
pub(crate) fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for character in raw.chars() {
        match character {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '|' | '*' | '[' | '\\' => out.extend(['\\', character]),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_ticket_holds_answers_cells_findings_claims_and_set_up() {
        let result = sample::study(4, 3);
        let markdown = markdown(&result);
        for comparison in &result.comparisons {
            let line = format!("- {}", crate::sentence(comparison));
            assert!(markdown.contains(&line), "{line}\n{markdown}");
        }
        let rows = markdown
            .lines()
            .filter(|line| line.starts_with("| ") && line.contains(", innodb_doublewrite"));
        assert_eq!(rows.count(), 4);
        assert!(markdown.contains("(warning)") && markdown.contains("MySQL 9.7.0"));
        let claims = markdown.split("## Published claims").nth(1).unwrap();
        assert!(claims.contains("| disagrees |"), "{claims}");
    }

    #[test]
    fn text_of_others_stays_text() {
        assert_eq!(text("a|b <b>\nc*"), "a\\|b &lt;b> c\\*");
    }
}

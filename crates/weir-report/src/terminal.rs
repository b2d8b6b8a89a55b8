//! What `weir run` prints: answers, what limited each cell, and what to bear in mind.

use std::fmt::Write as _;

use weir_model::StudyResult;

use crate::cells::CELL_HEADER;
use crate::page::Page;
use crate::table::table;

/// The result as text for a terminal.
pub fn terminal(result: &StudyResult) -> String {
    let page = Page::new(result);
    let mut out = format!("{}\n\n", result.plan.question);
    for answer in &page.answers {
        push_line(&mut out, &answer.sentence);
    }
    if page.answers.is_empty() {
        push_line(&mut out, "no comparison could be made");
    }
    let rows: Vec<_> = page.cells.iter().map(|cell| cell.row().to_vec()).collect();
    push_line(&mut out, &format!("\n{}", table(&CELL_HEADER, &rows)));
    for finding in &page.findings {
        let line = format!(
            "{} {}: {}",
            finding.severity_name, finding.rule, finding.message
        );
        push_line(&mut out, &line);
    }
    out
}

fn push_line(out: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn answers_cells_and_findings_are_told_in_this_order() {
        let result = sample::study(4, 3);
        let text = terminal(&result);
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        let answer = place(&crate::sentence(&result.comparisons[0]));
        assert!(answer < place("limited by"));
        assert!(place("limited by") < place("warning R"));
    }
}

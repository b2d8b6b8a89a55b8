//! A page of a look as text for a terminal.

use std::fmt::Write as _;

use rustix::termios::tcgetwinsize;
use weir_report::{PlainPage, table};

/// Width where standard output is no terminal, characters.
const WIDTH: usize = 132;

/// The text, its tables no wider than the terminal.
pub(super) fn text(page: &PlainPage) -> String {
    let size = tcgetwinsize(std::io::stdout()).ok();
    let columns = size
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0);
    lines(page, columns.unwrap_or(WIDTH))
}

fn lines(page: &PlainPage, width: usize) -> String {
    let mut text = format!("{}\n", page.facts.join(", "));
    for section in &page.sections {
        let _ = write!(text, "\n{}\n", section.title);
        if let Some(found) = &section.table {
            let header: Vec<_> = found.header.iter().map(String::as_str).collect();
            for line in table(&header, &found.rows).lines() {
                let _ = writeln!(text, "  {}", cut(line, width.saturating_sub(2)));
            }
        }
        for line in &section.lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// A line of at most `width` characters.
fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let kept: String = line.chars().take(width.saturating_sub(3)).collect();
    kept + "..."
}

#[cfg(test)]
mod tests {
    use weir_report::{PageSection, PageTable};

    use super::*;

    #[test]
    fn tables_are_cut_to_the_screen_and_sentences_are_not() {
        let long = "x".repeat(100);
        let page = PlainPage {
            eyebrow: String::new(),
            title: String::new(),
            facts: vec!["mysql 9.7.4".to_owned()],
            sections: vec![PageSection {
                title: "Statements".to_owned(),
                table: Some(PageTable {
                    header: vec!["time".to_owned(), "statement".to_owned()],
                    rows: vec![vec!["9 %".to_owned(), long.clone()]],
                }),
                lines: vec![long.clone()],
            }],
        };
        let text = lines(&page, 40);
        let cut = text.lines().find(|line| line.ends_with("...")).unwrap();
        assert_eq!(cut.chars().count(), 40);
        assert!(text.contains(&long));
    }
}

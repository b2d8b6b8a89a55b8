//! A page of headings, tables and lines in the style of a report, without figures and without a program.

use std::fmt::Write as _;

use crate::ReportError;
use crate::html::TEMPLATE;

use crate::words::escaped;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainPage {
    /// Small line above the title.
    pub eyebrow: String,
    /// Title.
    pub title: String,
    /// Facts below the title.
    pub facts: Vec<String>,
    /// Sections in their order.
    pub sections: Vec<PageSection>,
}

/// A section of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSection {
    /// Heading.
    pub title: String,
    /// A table, above the lines.
    pub table: Option<PageTable>,
    /// Lines.
    pub lines: Vec<String>,
}

/// A table; each row has as many cells as the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTable {
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl PlainPage {
    /// Returns one HTML file that needs nothing else, with the style of a report.
    ///
    /// # Errors
    ///
    /// A template without a style.
    pub fn html(&self) -> Result<String, ReportError> {
        let style = style().ok_or(ReportError::NoSlot)?;
        let title = escaped(&self.title);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n\
             <meta name=\"color-scheme\" content=\"light dark\" />\n<meta name=\"generator\" content=\"Weir\" />\n\
             <title>{title}</title>\n{style}\n</head>\n<body>\n<main>\n<header>\n\
             <p class=\"eyebrow\">{}</p>\n<h1>{title}</h1>\n<p class=\"facts\">",
            escaped(&self.eyebrow)
        );
        for fact in &self.facts {
            let _ = write!(page, "<span>{}</span> ", escaped(fact));
        }
        page.push_str("</p>\n</header>\n");
        for section in &self.sections {
            section.write(&mut page);
        }
        page.push_str("</main>\n</body>\n</html>\n");
        Ok(page)
    }
}

impl PageSection {
    fn write(&self, page: &mut String) {
        let _ = writeln!(page, "<section>\n<h2>{}</h2>", escaped(&self.title));
        if let Some(table) = &self.table {
            page.push_str("<div class=\"table\"><table>\n<thead><tr>");
            for name in &table.header {
                let _ = write!(page, "<th scope=\"col\">{}</th>", escaped(name));
            }
            page.push_str("</tr></thead>\n<tbody>\n");
            for row in &table.rows {
                page.push_str("<tr>");
                for cell in row {
                    let _ = write!(page, "<td>{}</td>", escaped_cell(cell));
                }
                page.push_str("</tr>\n");
            }
            page.push_str("</tbody></table></div>\n");
        }
        if !self.lines.is_empty() {
            page.push_str("<ul>\n");
            for line in &self.lines {
                let _ = writeln!(page, "<li>{}</li>", escaped(line));
            }
            page.push_str("</ul>\n");
        }
        page.push_str("</section>\n");
    }
}

/// The `<style>` element of a report.
fn style() -> Option<&'static str> {
    let start = TEMPLATE.find("<style")?;
    let end = TEMPLATE[start..].find("</style>")? + "</style>".len();
    Some(&TEMPLATE[start..start + end])
}

/// A number stays on one line with its unit.
fn escaped_cell(text: &str) -> String {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
    let text = escaped(text);
    if is_number {
        text.replace(' ', "&nbsp;")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_server_stays_text_and_the_style_is_that_of_a_report() {
        let hostile = "</style><script>alert(1)</script>&\"";
        let page = PlainPage {
            eyebrow: hostile.to_owned(),
            title: hostile.to_owned(),
            facts: vec![hostile.to_owned()],
            sections: vec![PageSection {
                title: hostile.to_owned(),
                table: Some(PageTable {
                    header: vec![hostile.to_owned()],
                    rows: vec![vec![hostile.to_owned()]],
                }),
                lines: vec![hostile.to_owned()],
            }],
        };
        let html = page.html().unwrap();
        assert!(html.contains("--paper") && html.contains("&lt;script&gt;"));
        assert!(!html.contains("<script"));
        assert_eq!(html.matches("</style>").count(), 1);
    }
}

//! Parts of a page in Markdown: examples, code in running text, links and headings.

use std::fs;
use std::path::PathBuf;

/// Begins and ends an example.
const FENCE: &str = "```";

/// A page of the documents.
pub(super) struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    pub(super) fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        Self { path, text }
    }

    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The lines of its examples that have no language, which are commands and their output.
    pub(super) fn example_lines(&self) -> Vec<&str> {
        let parts = self.text.split(FENCE);
        let examples = parts.skip(1).step_by(2);
        let plain = examples.filter_map(|example| example.strip_prefix('\n'));
        plain.flat_map(str::lines).collect()
    }

    /// The text between its examples.
    fn running_text(&self) -> String {
        self.text.split(FENCE).step_by(2).collect()
    }

    /// Returns the texts between backquotes in running text, each on one line.
    pub(super) fn code_in_text(&self) -> Vec<String> {
        let text = self.running_text();
        let code = text.split('`').skip(1).step_by(2);
        let one_line = |code: &str| code.split_whitespace().collect::<Vec<_>>().join(" ");
        code.map(|code| one_line(code).replace("\\|", "|"))
            .collect()
    }

    /// Returns its links to other files and headings.
    pub(super) fn links(&self) -> Vec<String> {
        let text = self.running_text();
        let targets = text.split("](").skip(1);
        targets
            .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()))
            .filter(|link| !link.contains("://"))
            .collect()
    }

    /// The file that a link of it names; itself for an empty one.
    pub(super) fn beside(&self, link: &str) -> PathBuf {
        if link.is_empty() {
            return self.path.clone();
        }
        self.path.with_file_name("").join(link)
    }

    /// Returns true if a heading has this anchor.
    pub(super) fn has_heading(&self, anchor: &str) -> bool {
        let text = self.running_text();
        let headings = text.lines().filter(|line| line.starts_with('#'));
        headings
            .map(|line| anchor_of(line.trim_start_matches('#').trim()))
            .any(|heading| heading == anchor)
    }
}

/// The anchor that a heading gets: lower case, dashes for spaces, no other signs.
fn anchor_of(heading: &str) -> String {
    let kept = heading.chars().filter_map(|sign| match sign {
        ' ' => Some('-'),
        '-' | '_' => Some(sign),
        _ => sign.is_alphanumeric().then(|| sign.to_ascii_lowercase()),
    });
    kept.collect()
}

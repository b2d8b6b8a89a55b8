//! Parts of a page in Markdown: examples, code in running text, links and headings.

use std::fs;
use std::path::PathBuf;

/// Begins and ends an example.
const FENCE: &str = "```";
/// Languages of examples that are commands and their output.
const SHELL: [&str; 2] = ["", "sh"];

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

    /// The lines of its examples of commands and their output. Variables that an example sets (`URL=...`) have their
    /// values.
    pub(super) fn example_lines(&self) -> Vec<String> {
        let parts = self.text.split(FENCE);
        let examples = parts.skip(1).step_by(2);
        let shell = examples.filter_map(|example| {
            let (language, lines) = example.split_once('\n')?;
            SHELL.contains(&language).then_some(lines)
        });
        shell.flat_map(with_values).collect()
    }

    /// The text of its examples in a language.
    pub(super) fn examples_in(&self, language: &str) -> Vec<&str> {
        let examples = self.text.split(FENCE).skip(1).step_by(2);
        examples
            .filter_map(|example| example.strip_prefix(language)?.strip_prefix('\n'))
            .collect()
    }

    /// The lines from the heading with this anchor on, without empty ones; of the whole page for an empty anchor.
    pub(super) fn lines_from(&self, anchor: &str) -> Vec<&str> {
        let is_there = |line: &&str| {
            anchor.is_empty()
                || line.starts_with('#') && anchor_of(line.trim_start_matches('#').trim()) == anchor
        };
        let lines = self.text.lines().skip_while(|line| !is_there(line));
        lines.filter(|line| !line.trim().is_empty()).collect()
    }

    /// The cells of its tables, row by row, heads included.
    pub(super) fn rows(&self) -> Vec<Vec<&str>> {
        let rows = self.text.lines().filter(|line| line.starts_with("| "));
        rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
            .collect()
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

/// The lines of an example, with the values of variables in place of their names.
fn with_values(example: &str) -> Vec<String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|sign| sign.is_ascii_uppercase() || sign == b'_')
    };
    let set = |line: &str| {
        let (name, value) = line.split_once('=')?;
        (is_name(name) && !value.contains(' ')).then(|| (format!("${name}"), value.to_owned()))
    };
    let values: Vec<_> = example.lines().filter_map(set).collect();
    let replaced = |line: &str| {
        let one = |line: String, (name, value): &(String, String)| line.replace(name, value);
        values.iter().fold(line.to_owned(), one)
    };
    example.lines().map(replaced).collect()
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

//! Folded stacks, the text form of a profile.

use std::collections::BTreeMap;
use std::fmt;

/// Stacks with the number of samples of each, as flame graph tools read and write them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackCounts {
    stacks: BTreeMap<String, u64>,
}

impl StackCounts {
    /// Reads a text as [`StackCounts::add_text`] does.
    pub fn parse(text: &str) -> Self {
        let mut folded = Self::default();
        folded.add_text(text);
        folded
    }

    /// Adds samples of a stack, whose functions stand from the outermost inwards with `;` between them.
    pub fn add(&mut self, stack: String, samples: u64) {
        *self.stacks.entry(stack).or_default() += samples;
    }

    /// Adds all stacks of `text`, a line each; lines without a number at their end are passed over.
    pub fn add_text(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((stack, samples)) = line.rsplit_once(' ')
                && let Ok(samples) = samples.parse()
            {
                self.add(stack.to_owned(), samples);
            }
        }
    }

    /// Samples of all stacks.
    pub fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Stacks with their samples, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let stacks = self.stacks.iter();
        stacks.map(|(stack, samples)| (stack.as_str(), *samples))
    }

    /// Lines of the text, sorted.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.iter();
        lines
            .map(|(stack, samples)| format!("{stack} {samples}"))
            .collect()
    }
}

impl fmt::Display for StackCounts {
    /// A line for each stack.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter()
            .try_for_each(|(stack, samples)| writeln!(f, "{stack} {samples}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_is_written() {
        let mut folded = StackCounts::default();
        folded.add("mysqld;main;a(b c)".to_owned(), 3);
        folded.add("mysqld;main".to_owned(), 1);
        let text = folded.to_string();
        assert_eq!(text, "mysqld;main 1\nmysqld;main;a(b c) 3\n");
        let mut read = StackCounts::parse(&text);
        assert_eq!(read, folded);
        read.add_text(&text);
        assert_eq!(read.samples(), 8);
    }
}

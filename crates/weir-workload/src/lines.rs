//! Lines of a text: those of a book, or generated ones.

use std::path::Path;
use std::sync::Arc;

use super::{Rng, english};
use crate::WorkloadError;

/// Characters that a text column holds.
const CHARACTERS_MAX: usize = 255;

/// Lines, none of them empty.
#[derive(Debug)]
pub struct Lines {
    text: String,
    /// End of each line; it begins where the one before ends.
    ends: Vec<usize>,
}

impl Lines {
    /// The lines of the book in `file`, or generated ones without it.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is not UTF-8, or has no line.
    pub fn open(file: Option<&Path>) -> Result<Arc<Self>, WorkloadError> {
        let Some(path) = file else {
            let lines = english::lines();
            return Ok(Arc::new(Self::new(lines.iter().map(String::as_str))));
        };
        let failed = |why: String| WorkloadError::File {
            path: path.display().to_string(),
            why,
            remedy: "name a text file in UTF-8",
        };
        let text = std::fs::read(path).map_err(|error| failed(error.to_string().to_lowercase()))?;
        let text = String::from_utf8(text).map_err(|_| failed("is not UTF-8".to_owned()))?;
        let lines = Self::new(text.lines());
        if lines.ends.is_empty() {
            return Err(failed("has no line".to_owned()));
        }
        Ok(Arc::new(lines))
    }

    /// These lines without the spaces around them; empty ones are left out, long ones are cut.
    pub fn new<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut text = String::new();
        let mut ends = Vec::new();
        for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
            let end = line.char_indices().nth(CHARACTERS_MAX);
            text.push_str(end.map_or(line, |(end, _)| &line[..end]));
            ends.push(text.len());
        }
        Self { text, ends }
    }

    /// One of the lines, each as likely as the others.
    pub fn choose(&self, rng: &mut Rng) -> &[u8] {
        let number = rng.below(self.ends.len() as u64) as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text.as_bytes()[start..self.ends[number]]
    }

    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| &self.text[start..*end])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::seeded;

    #[test]
    fn lines_are_trimmed_cut_and_never_empty() {
        let long = "é".repeat(300);
        let lines = Lines::new(["  one ", "", " \t", &long].into_iter());
        let shown: Vec<_> = lines.iter().collect();
        assert_eq!(shown, ["one", &"é".repeat(255)]);
        let mut rng = seeded(1, 1);
        let chosen: BTreeSet<_> = (0..100).map(|_| lines.choose(&mut rng)).collect();
        assert_eq!(chosen.len(), 2);
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_with_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("book.txt");
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Lines::open(Some(&path)).unwrap_err().to_string()
        };
        assert!(refused(b"\n \n").contains("book.txt"));
        assert!(refused(b"\xFF\xFE").contains("is not UTF-8"));
        std::fs::remove_file(&path).unwrap();
        let missing = Lines::open(Some(&path)).unwrap_err().to_string();
        assert!(missing.contains("no such file"), "{missing}");
    }
}

//! A log's lines, as bytes of whatever encoding.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use crate::CaptureError;

/// Longest line that is kept; what follows of it is passed over.
const LINE_BYTES_MAX: u64 = 32 << 20;
/// Lines that are looked at to know how they end.
const LINES_LOOKED_AT: usize = 10_000;

/// A log's lines.
#[derive(Debug)]
pub(super) struct Lines {
    file: BufReader<File>,
    path: PathBuf,
    line: Vec<u8>,
    is_whole: bool,
    /// All of the log's lines end with CR LF, so that the CR is none of a statement's.
    ends_with_cr: bool,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, CaptureError> {
        let failed = |error: std::io::Error| CaptureError::file("cannot read", path, &error);
        let file = File::open(path).map_err(failed)?;
        let mut lines = Self {
            file: BufReader::new(file),
            path: path.to_owned(),
            line: Vec::new(),
            is_whole: true,
            ends_with_cr: false,
        };
        let mut ends_with_cr = false;
        for _ in 0..LINES_LOOKED_AT {
            let Some(line) = lines.next()? else { break };
            let has_cr = line.ends_with(b"\r");
            // The last line may lack its end.
            if lines.is_whole {
                ends_with_cr = has_cr;
            }
            if !has_cr {
                break;
            }
        }
        lines.file.rewind().map_err(failed)?;
        lines.ends_with_cr = ends_with_cr;
        Ok(lines)
    }

    /// The next line without its end; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, CaptureError> {
        self.line.clear();
        let failed = |error: std::io::Error| CaptureError::file("cannot read", &self.path, &error);
        let mut limited = self.file.by_ref().take(LINE_BYTES_MAX);
        let length = limited.read_until(b'\n', &mut self.line).map_err(failed)?;
        self.is_whole = self.line.ends_with(b"\n");
        if length as u64 == LINE_BYTES_MAX && !self.is_whole {
            self.file.skip_until(b'\n').map_err(failed)?;
        }
        if length == 0 {
            return Ok(None);
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        if self.ends_with_cr {
            return Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)));
        }
        Ok(Some(line))
    }

    /// Returns true if the last line was read to its end. A line without one was cut with its file, or is too long.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// The three lines that a server writes when it opens the log. The second and the third are known by the first: a
/// statement may have a line like them.
#[derive(Debug, Default)]
pub(super) struct StartLines {
    /// Number of these lines that are still to come.
    left: u8,
}

impl StartLines {
    /// Returns true if a line is one of them.
    pub(super) fn takes(&mut self, line: &[u8]) -> bool {
        let has = |part: &[u8]| line.windows(part.len()).any(|found| found == part);
        let begins = |word: &[u8]| {
            let beginning = line.get(..word.len());
            beginning.is_some_and(|found| found.eq_ignore_ascii_case(word))
        };
        let is_first = has(b", Version: ") && has(b"started with:");
        self.left = match self.left {
            _ if is_first => 2,
            2 if begins(b"Tcp port: ") => 1,
            1 if begins(b"Time") && line.ends_with(b"Argument") => 0,
            _ => {
                self.left = 0;
                return false;
            }
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<Vec<u8>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        std::fs::write(&path, text).unwrap();
        let mut lines = Lines::open(&path).unwrap();
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(line.to_vec());
        }
        all
    }

    #[test]
    fn a_carriage_return_is_a_statements_unless_all_lines_end_with_one() {
        assert_eq!(lines(b"a\r\nb\r\nc"), [&b"a"[..], b"b", b"c"]);
        assert_eq!(lines(b"a\r\nb\nc\r"), [&b"a\r"[..], b"b", b"c\r"]);
        assert_eq!(lines(b""), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn lines_of_a_start_are_known_by_the_first() {
        let mut start = StartLines::default();
        assert!(!start.takes(b"Tcp port: 3306"));
        assert!(start.takes(b"/usr/sbin/mysqld, Version: 8.4.3 (x). started with:"));
        assert!(start.takes(b"Tcp port: 3306  Unix socket: /x"));
        assert!(start.takes(b"Time                 Id Command    Argument"));
        assert!(!start.takes(b"Time   Argument"));
    }
}

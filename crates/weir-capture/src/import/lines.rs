//! A log's lines, as bytes of whatever encoding, of one file or of several one after the other.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::log_part::LogPart;
use crate::CaptureError;

/// Longest line that is kept; what follows of it is passed over.
const LINE_BYTES_MAX: u64 = 32 << 20;
/// Lines that are looked at to know how they end.
const LINES_LOOKED_AT: usize = 10_000;
/// Lines that a server writes when it opens a log.
pub(super) const START_LINES: usize = 3;

#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    is_whole: bool,
}

/// A log's lines.
#[derive(Debug)]
pub(super) struct Lines {
    file: BufReader<File>,
    path: PathBuf,
    /// Parts of the log that come after this one.
    parts: VecDeque<LogPart>,
    line: Line,
    /// Lines that were looked at and not taken.
    ahead: VecDeque<Line>,
    spare: Vec<Line>,
    /// All of the file's lines end with CR LF, so that the CR is none of a statement's.
    ends_with_cr: bool,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, CaptureError> {
        Self::open_all(&[LogPart::whole(path)])
    }

    /// The lines of several files, which is not none of them.
    pub(super) fn open_all(parts: &[LogPart]) -> Result<Self, CaptureError> {
        let mut parts: VecDeque<_> = parts.iter().cloned().collect();
        let first = parts.pop_front().unwrap_or_default();
        let (file, ends_with_cr) = open(&first)?;
        Ok(Self {
            file,
            path: first.path,
            parts,
            line: Line::default(),
            ahead: VecDeque::new(),
            spare: Vec::new(),
            ends_with_cr,
        })
    }

    /// The next line without its end; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, CaptureError> {
        if let Some(next) = self.ahead.pop_front() {
            self.spare.push(std::mem::replace(&mut self.line, next));
            return Ok(Some(&self.line.bytes));
        }
        let mut line = std::mem::take(&mut self.line);
        let is_there = self.read(&mut line)?;
        self.line = line;
        Ok(is_there.then_some(&self.line.bytes))
    }

    /// The line that comes so many lines after the next one; `None` behind the end.
    pub(super) fn peek(&mut self, after: usize) -> Result<Option<&[u8]>, CaptureError> {
        while self.ahead.len() <= after {
            let mut line = self.spare.pop().unwrap_or_default();
            if !self.read(&mut line)? {
                return Ok(None);
            }
            self.ahead.push_back(line);
        }
        Ok(self.ahead.get(after).map(|line| &*line.bytes))
    }

    /// Returns true if the last line was read to its end. A line without one was cut with its file, or is too long.
    pub(super) fn is_whole(&self) -> bool {
        self.line.is_whole
    }

    /// Passes over so many lines.
    pub(super) fn skip(&mut self, count: usize) -> Result<(), CaptureError> {
        for _ in 0..count {
            self.next()?;
        }
        Ok(())
    }

    /// Reads a line; false at the end.
    fn read(&mut self, line: &mut Line) -> Result<bool, CaptureError> {
        line.bytes.clear();
        while !self.read_part(line)? {
            let is_continued = self.parts.front().is_some_and(|part| part.is_continued);
            if !(line.bytes.is_empty() || is_continued) || !self.next_part()? {
                break;
            }
        }
        line.is_whole = line.bytes.pop_if(|last| *last == b'\n').is_some();
        if line.is_whole && self.ends_with_cr {
            line.bytes.pop_if(|last| *last == b'\r');
        }
        Ok(line.is_whole || !line.bytes.is_empty())
    }

    /// Reads on in the file; false if it ends before the line does.
    fn read_part(&mut self, line: &mut Line) -> Result<bool, CaptureError> {
        let failed = |error: std::io::Error| CaptureError::file("cannot read", &self.path, &error);
        let mut limited = self.file.by_ref().take(LINE_BYTES_MAX);
        let length = limited.read_until(b'\n', &mut line.bytes).map_err(failed)?;
        let is_whole = line.bytes.ends_with(b"\n");
        if length as u64 == LINE_BYTES_MAX && !is_whole {
            self.file.skip_until(b'\n').map_err(failed)?;
            return Ok(true);
        }
        Ok(is_whole)
    }

    fn next_part(&mut self) -> Result<bool, CaptureError> {
        let Some(part) = self.parts.pop_front() else {
            return Ok(false);
        };
        (self.file, self.ends_with_cr) = open(&part)?;
        self.path = part.path;
        Ok(true)
    }

    /// Returns true if the lines from there on are those that a server writes when it opens the log. A line of a
    /// statement may be like one of them, not like all.
    pub(super) fn is_start(&mut self, after: usize) -> Result<bool, CaptureError> {
        let is = |line: Option<&[u8]>, fits: fn(&[u8]) -> bool| line.is_some_and(fits);
        Ok(is(self.peek(after)?, is_version)
            && is(self.peek(after + 1)?, |line| begins(line, b"Tcp port: "))
            && is(self.peek(after + 2)?, |line| {
                begins(line, b"Time") && line.ends_with(b"Argument")
            }))
    }
}

/// Returns true if a log has no lines but those of its opening.
pub(super) fn is_empty(path: &Path) -> Result<bool, CaptureError> {
    let mut lines = Lines::open(path)?;
    while lines.is_start(0)? {
        lines.skip(START_LINES)?;
    }
    Ok(lines.next()?.is_none())
}

/// Opens a part of a log, and returns true with it if all of its lines end with CR LF.
fn open(part: &LogPart) -> Result<(BufReader<File>, bool), CaptureError> {
    let failed = |error: std::io::Error| CaptureError::file("cannot read", &part.path, &error);
    let mut file = BufReader::new(File::open(&part.path).map_err(failed)?);
    let (mut line, mut ends_with_cr) = (Vec::new(), false);
    for _ in 0..LINES_LOOKED_AT {
        line.clear();
        let mut limited = file.by_ref().take(LINE_BYTES_MAX);
        limited.read_until(b'\n', &mut line).map_err(failed)?;
        // The last line may lack its end.
        let Some(whole) = line.strip_suffix(b"\n") else {
            break;
        };
        ends_with_cr = whole.ends_with(b"\r");
        if !ends_with_cr {
            break;
        }
    }
    file.seek(SeekFrom::Start(part.from)).map_err(failed)?;
    Ok((file, ends_with_cr))
}

fn is_version(line: &[u8]) -> bool {
    const VERSION: &[u8] = b", Version: ";
    line.ends_with(b"started with:") && line.windows(VERSION.len()).any(|part| part == VERSION)
}

fn begins(line: &[u8], word: &[u8]) -> bool {
    let beginning = line.get(..word.len());
    beginning.is_some_and(|found| found.eq_ignore_ascii_case(word))
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
    fn lines_of_a_start_are_known_together() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let start = "/usr/sbin/mysqld, Version: 8.4.3 (x). started with:\nTcp port: 3306  Unix socket: /x\n\
                     Time                 Id Command    Argument\n";
        for (text, is_start) in [(start.to_owned(), true), (start.replace("Tcp", "A"), false)] {
            std::fs::write(&path, &text).unwrap();
            let mut lines = Lines::open(&path).unwrap();
            assert_eq!(lines.is_start(0).unwrap(), is_start);
            assert!(!lines.is_start(1).unwrap());
            assert!(lines.next().unwrap().unwrap().ends_with(b"started with:"));
        }
    }
}

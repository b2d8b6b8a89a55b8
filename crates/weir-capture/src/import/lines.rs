//! A log's lines, as bytes of whatever encoding.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::CaptureError;

/// Longest line that is kept; what follows of it is passed over.
const LINE_BYTES_MAX: u64 = 32 << 20;

/// A log's lines.
#[derive(Debug)]
pub(super) struct Lines {
    file: BufReader<File>,
    path: PathBuf,
    line: Vec<u8>,
    is_whole: bool,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, CaptureError> {
        let file =
            File::open(path).map_err(|error| CaptureError::file("cannot read", path, &error))?;
        Ok(Self {
            file: BufReader::new(file),
            path: path.to_owned(),
            line: Vec::new(),
            is_whole: true,
        })
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
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Whether the last line was read to its end. A line without one was cut with its file, or is too long.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// Whether it is one of the three lines that a server writes when it opens the log.
pub(super) fn is_of_start(line: &[u8]) -> bool {
    let has = |part: &[u8]| line.windows(part.len()).any(|found| found == part);
    has(b", Version: ") && has(b"started with:")
        || line.starts_with(b"Tcp port: ")
        || line.starts_with(b"Time") && line.ends_with(b"Argument")
}

//! A file of /proc or /sys that stays open: each reading is one `pread` from its start, into the
//! same buffer (`proc(5)`: the kernel makes the text anew at each read from offset 0).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::{io, str};

use crate::ProbeError;

/// Room for a first reading; grows if the text is longer.
const BUFFER_BYTES: usize = 4096;

/// The file.
#[derive(Debug)]
pub(crate) struct ProcFile {
    path: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
}

impl ProcFile {
    /// The file at `path`, which is opened at the first reading.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            file: None,
            buffer: Vec::new(),
        }
    }

    /// Reads its present text.
    pub(crate) fn read(&mut self) -> Result<&str, ProbeError> {
        let length = self.fill().map_err(ProbeError::read(&self.path))?;
        str::from_utf8(&self.buffer[..length]).map_err(|_| ProbeError::format(&self.path, "text")())
    }

    /// For `ok_or_else`: there is no `what` in it.
    pub(crate) fn lacks(path: &str, what: &'static str) -> impl FnOnce() -> ProbeError {
        ProbeError::format(Path::new(path), what)
    }

    fn fill(&mut self) -> io::Result<usize> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(File::open(&self.path)?),
        };
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(length + BUFFER_BYTES, 0);
            }
            let more = file.read_at(&mut self.buffer[length..], length as u64)?;
            if more == 0 {
                return Ok(length);
            }
            length += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_longer_than_the_buffer_is_read_whole_and_anew_each_time() {
        let folder = std::env::temp_dir().join(format!("weir-proc-file-{}", std::process::id()));
        std::fs::write(&folder, "x".repeat(3 * BUFFER_BYTES + 1)).unwrap();
        let mut file = ProcFile::new(&folder);
        assert_eq!(file.read().unwrap().len(), 3 * BUFFER_BYTES + 1);
        std::fs::write(&folder, "shorter").unwrap();
        assert_eq!(file.read().unwrap(), "shorter");
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = ProcFile::new("/proc/no-such-file").read().unwrap_err();
        assert!(error.to_string().contains("/proc/no-such-file"), "{error}");
    }
}

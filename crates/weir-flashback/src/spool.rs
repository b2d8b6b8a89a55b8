//! Bytes that do not have to fit into memory.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use weir_process::PathError;

/// Bytes that are appended and read back, in memory up to a limit and in a file from then on.
#[derive(Debug)]
pub(crate) struct Spool {
    memory: Vec<u8>,
    limit: usize,
    directory: PathBuf,
    file: Option<BufWriter<File>>,
    length: u64,
}

impl Spool {
    pub(crate) fn new(directory: &Path, limit: usize) -> Self {
        Self {
            memory: Vec::new(),
            limit,
            directory: directory.to_owned(),
            file: None,
            length: 0,
        }
    }

    pub(crate) fn append(&mut self, parts: &[&[u8]]) -> Result<u64, PathError> {
        let at = self.length;
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        self.length += bytes as u64;
        if self.file.is_none() && self.memory.len() + bytes <= self.limit {
            for part in parts {
                self.memory.extend_from_slice(part);
            }
            return Ok(at);
        }
        if self.file.is_none() {
            let file = tempfile::tempfile_in(&self.directory)
                .map_err(PathError::on("create a file in", &self.directory))?;
            self.file = Some(BufWriter::with_capacity(1 << 20, file));
        }
        if let Some(file) = &mut self.file {
            for part in parts {
                file.write_all(part)
                    .map_err(PathError::on("write to", &self.directory))?;
            }
        }
        Ok(at)
    }

    pub(crate) fn reader(&mut self) -> Result<SpoolReader<'_>, PathError> {
        let file = match &mut self.file {
            None => None,
            Some(file) => {
                let failed =
                    |error| PathError::on("read what was put into", &self.directory)(error);
                file.flush().map_err(failed)?;
                let mut file = file.get_ref().try_clone().map_err(failed)?;
                file.seek(SeekFrom::Start(0)).map_err(failed)?;
                Some(BufReader::with_capacity(1 << 20, file))
            }
        };
        Ok(SpoolReader {
            memory: &self.memory,
            directory: &self.directory,
            file,
            at: self.memory.len() as u64,
        })
    }
}

pub(crate) struct SpoolReader<'a> {
    memory: &'a [u8],
    directory: &'a Path,
    file: Option<BufReader<File>>,
    /// Where the file is read next, counted from the start of all.
    at: u64,
}

impl SpoolReader<'_> {
    /// Reads on; `at` only grows.
    pub(crate) fn read<'b>(
        &'b mut self,
        at: u64,
        length: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], PathError> {
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        if let Some(bytes) = self.memory.get(start..).and_then(|rest| rest.get(..length)) {
            return Ok(bytes);
        }
        buffer.resize(length, 0);
        if let Some(file) = &mut self.file {
            let skipped = i64::try_from(at.saturating_sub(self.at)).unwrap_or(i64::MAX);
            file.seek_relative(skipped)
                .and_then(|()| file.read_exact(buffer))
                .map_err(PathError::on("read what was put into", self.directory))?;
            self.at = at + length as u64;
        }
        Ok(buffer)
    }
}

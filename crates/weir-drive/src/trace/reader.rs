//! Reading a trace, one operation after the other.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use weir_model::OpKind;

use super::TraceOperation;
use super::format::{HEADER, MAGIC, Meaning, RECORD_BYTES, Record, VERSION};
use crate::DriveError;
use crate::request::REQUEST_BYTES_MAX;

/// Longest name of a file, as the kernel's (`PATH_MAX`).
const NAME_BYTES_MAX: usize = 4096;
/// Size of a trace relative to its file at most. Records of a drive take 3 bytes or more of their 24: a file with more
/// was made to fill memory or time.
const EXPANSION_MAX: u64 = 200;
/// Bytes that a trace may have beyond that, for the names of a short one.
const EXPANSION_FREE_BYTES: u64 = 1 << 20;

/// The operations of a recorded trace, in the order in which the drive read them.
///
/// After the last one it either ends or, if the file does, gives an error.
pub struct TraceReader {
    path: PathBuf,
    records: zstd::Decoder<'static, BufReader<File>>,
    names: HashMap<u32, String>,
    /// Bytes of records that may still come.
    left_bytes: u64,
    read: u64,
    lost: u64,
    ended: bool,
}

impl std::fmt::Debug for TraceReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceReader")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl TraceReader {
    /// Returns true if the file `path` begins as a trace does, of any version.
    pub fn is_trace(path: &Path) -> bool {
        let mut magic = [0; MAGIC.len()];
        let file = File::open(path);
        file.is_ok_and(|mut file| file.read_exact(&mut magic).is_ok() && magic == MAGIC)
    }

    /// Opens the trace in the file `path`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that is no trace.
    pub fn open(path: &Path) -> Result<Self, DriveError> {
        let file = File::open(path).map_err(DriveError::path("read", path))?;
        let file_bytes = file
            .metadata()
            .map_err(DriveError::path("read", path))?
            .len();
        let mut file = BufReader::new(file);
        let mut header = [0; HEADER.len()];
        let read = file.read_exact(&mut header);
        if read.is_err() || header[..MAGIC.len()] != MAGIC {
            return Err(unusable(path, "is no trace of a drive"));
        }
        if header != HEADER {
            let version = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
            let why = format!("has version {version}, and this program reads version {VERSION}");
            return Err(unusable(path, &why));
        }
        let records = zstd::Decoder::with_buffer(file).map_err(DriveError::path("read", path))?;
        Ok(Self {
            path: path.to_owned(),
            records,
            names: HashMap::new(),
            left_bytes: file_bytes
                .saturating_mul(EXPANSION_MAX)
                .saturating_add(EXPANSION_FREE_BYTES),
            read: 0,
            lost: 0,
            ended: false,
        })
    }

    /// Path of the file with the number `file`, relative to the drive's root, when it was first
    /// used; known once one of its operations was read.
    pub fn path(&self, file: u32) -> Option<&str> {
        self.names.get(&file).map(String::as_str)
    }

    /// Operations that are missing because recording could not keep up; known at the end.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn advance(&mut self) -> Result<Option<TraceOperation>, DriveError> {
        loop {
            let record = Record::decode(&self.block()?);
            match record.meaning() {
                Some(Meaning::Operation(operation)) => {
                    self.check(&operation)?;
                    self.read += 1;
                    return Ok(Some(operation));
                }
                Some(Meaning::Name { file, bytes }) => self.learn_name(file, bytes)?,
                Some(Meaning::End { operations, lost }) => {
                    if operations != self.read {
                        let why = format!("says {operations} operations and has {}", self.read);
                        return Err(unusable(&self.path, &why));
                    }
                    self.lost = lost;
                    return Ok(None);
                }
                None => return Err(unusable(&self.path, "holds a record of unknown kind")),
            }
        }
    }

    fn check(&self, operation: &TraceOperation) -> Result<(), DriveError> {
        let is_request = matches!(operation.what, OpKind::Read | OpKind::Write);
        if is_request && operation.bytes > REQUEST_BYTES_MAX.into() {
            let why = format!("holds a request of {} bytes", operation.bytes);
            return Err(unusable(&self.path, &why));
        }
        Ok(())
    }

    fn learn_name(&mut self, file: u32, bytes: usize) -> Result<(), DriveError> {
        if bytes > NAME_BYTES_MAX {
            let why = format!("holds a name of {bytes} bytes");
            return Err(unusable(&self.path, &why));
        }
        let mut name = Vec::with_capacity(bytes);
        while name.len() < bytes {
            name.extend_from_slice(&self.block()?);
        }
        name.truncate(bytes);
        let name = String::from_utf8_lossy(&name).into_owned();
        self.names.insert(file, name);
        Ok(())
    }

    fn block(&mut self) -> Result<[u8; RECORD_BYTES], DriveError> {
        let mut block = [0; RECORD_BYTES];
        let Some(left_bytes) = self.left_bytes.checked_sub(RECORD_BYTES as u64) else {
            let why = format!("is more than {EXPANSION_MAX} times as long as its file");
            return Err(unusable(&self.path, &why));
        };
        self.left_bytes = left_bytes;
        match self.records.read_exact(&mut block) {
            Ok(()) => Ok(block),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let why = "ends in the middle, as if its recording had been killed";
                Err(unusable(&self.path, why))
            }
            Err(error) => Err(DriveError::path("read", &self.path)(error)),
        }
    }
}

impl Iterator for TraceReader {
    type Item = Result<TraceOperation, DriveError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

fn unusable(path: &Path, why: &str) -> DriveError {
    DriveError::Trace {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

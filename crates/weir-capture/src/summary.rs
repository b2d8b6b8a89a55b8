//! Summary of a capture that a study needs before it runs: which one it is, and how large.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::{CaptureError, CaptureReader, Happening};

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// Summary of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureSummary {
    /// SHA-256 of its bytes, hexadecimal.
    pub digest: String,
    /// The most sessions at a time.
    pub sessions_at_a_time: u32,
    /// From its beginning to its last record, microseconds.
    pub length_us: u64,
}

impl CaptureSummary {
    /// Reads a whole capture.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is no capture.
    pub fn read(path: &Path) -> Result<Self, CaptureError> {
        let mut reader = CaptureReader::open(path)?;
        let (mut at_a_time, mut most, mut length_us) = (0_u32, 0, 0);
        while let Some(record) = reader.next_record()? {
            length_us = length_us.max(record.at_us);
            match record.happening {
                Happening::Opened { .. } => at_a_time += 1,
                Happening::Closed => at_a_time = at_a_time.saturating_sub(1),
                Happening::Started(_) | Happening::Ended(_) => {}
            }
            most = most.max(at_a_time);
        }
        Ok(Self {
            digest: content_digest(path)?,
            sessions_at_a_time: most,
            length_us,
        })
    }
}

/// SHA-256 of a file's bytes, hexadecimal.
///
/// # Errors
///
/// A file that cannot be read.
pub fn content_digest(path: &Path) -> Result<String, CaptureError> {
    let failed = |error: std::io::Error| CaptureError::file("cannot read", path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = file.read(&mut chunk).map_err(failed)?;
        if count == 0 {
            break;
        }
        digest.update(&chunk[..count]);
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

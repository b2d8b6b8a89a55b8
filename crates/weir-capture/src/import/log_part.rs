//! A file of a log, or a part of it.

use std::io;
use std::path::{Path, PathBuf};

use crate::CaptureError;

/// Bytes at the end of a log that are looked at for its last time.
const TAIL_BYTES: u64 = 256 << 10;

/// A file of a log, or the part of it that no file before has.
#[derive(Debug, Clone, Default)]
pub(super) struct LogPart {
    pub(super) path: PathBuf,
    /// Where it begins in the file, bytes.
    pub(super) from: u64,
    /// It goes on right where the file before it ends, perhaps within a line.
    pub(super) is_continued: bool,
}

impl LogPart {
    pub(super) fn whole(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            ..Self::default()
        }
    }

    /// The end of a file.
    pub(super) fn tail(path: &Path) -> Result<Self, CaptureError> {
        let failed = |error: io::Error| CaptureError::file("cannot read", path, &error);
        let length = path.metadata().map_err(failed)?.len();
        Ok(Self {
            from: length.saturating_sub(TAIL_BYTES),
            ..Self::whole(path)
        })
    }
}

//! Errors of a tablespace file as a whole.

use std::io;
use std::path::PathBuf;

/// Reason that a file could not be read as a tablespace.
#[derive(Debug, thiserror::Error)]
pub enum InnodbError {
    /// The operating system refused.
    #[error("reading the tablespace failed: {} ({source}); check that it is a readable file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The flags in the first page make no sense, so nothing else can be trusted.
    #[error(
        "reading the tablespace's flags failed: {} (flags {flags:#010x} name no page size); the first page is damaged or this is no InnoDB file",
        path.display()
    )]
    Flags {
        /// The file.
        path: PathBuf,
        /// `FSP_SPACE_FLAGS` as read.
        flags: u32,
    },
}

//! Logs that a server has written become a capture.
//!
//! The log is read line by line. What it says of a statement, mostly after its end, goes through a window of entries
//! that puts them in the order of their beginnings.

mod general;
mod lines;
mod sessions;
mod slow;
mod times;

use std::path::Path;
use std::str::FromStr;

use crate::head::{CaptureHead, CaptureSource, CaptureTail};
use crate::{CaptureError, Literals};
use lines::Lines;

/// A log that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// The slow query log's file, of either server.
    Slow,
    /// The general query log's file, of either server.
    General,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "slow" => Ok(Self::Slow),
            "general" => Ok(Self::General),
            _ => Err("must be slow or general".to_owned()),
        }
    }
}

/// What an import has made.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// What the log turned out to be.
    pub head: CaptureHead,
    /// What was written and what was not.
    pub tail: CaptureTail,
}

/// Makes the capture `to`, which must not be there, of the log `from`.
///
/// # Errors
///
/// Files that cannot be read or written, and a log without a single entry of its format.
pub fn import_log(
    from: &Path,
    format: LogFormat,
    to: &Path,
    literals: Literals,
) -> Result<Imported, CaptureError> {
    let source = match format {
        LogFormat::Slow => slow::source(&mut Lines::open(from)?)?,
        LogFormat::General => Some(CaptureSource::GeneralLog),
    };
    let began = match format {
        LogFormat::Slow => slow::began(&mut Lines::open(from)?)?,
        LogFormat::General => general::began(&mut Lines::open(from)?)?,
    };
    let (Some(source), Some(began_unix_us)) = (source, began) else {
        return Err(CaptureError::Log {
            path: from.display().to_string(),
            line: 1,
            why: "no entry of this format was found; --format=slow or general says what it is"
                .to_owned(),
        });
    };
    let head = CaptureHead::new(source, literals, began_unix_us);
    let mut lines = Lines::open(from)?;
    let mut writer = sessions::Sessions::create(to, &head)?;
    match format {
        LogFormat::Slow => slow::read(&mut lines, &mut writer)?,
        LogFormat::General => general::read(&mut lines, &mut writer)?,
    }
    let tail = writer.finish()?;
    Ok(Imported { head, tail })
}

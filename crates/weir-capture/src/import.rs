//! Logs that a server has written, and packets of the network, become a capture.
//!
//! A log is read line by line. What it says of a statement, mostly after its end, goes through a window of entries
//! that puts them in the order of their beginnings.

mod account;
mod digests;
mod general;
mod lines;
mod pcap;
mod placing;
mod sessions;
mod slow;
mod table;
mod times;

use std::path::Path;
use std::str::FromStr;

use crate::head::{CaptureHead, CaptureSource, CaptureTail};
use crate::{CaptureError, Literals};
use lines::Lines;
pub(crate) use sessions::{Entry, Sessions};

/// A log that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// The slow query log's file, of either server.
    Slow,
    /// The general query log's file, of either server.
    General,
    /// Packets, as tcpdump writes them: pcap or pcapng.
    Pcap,
    /// The file of the table `mysql.slow_log` or `mysql.general_log`.
    Table,
    /// A report of digests as JSON, of pt-query-digest or PMM.
    Digests,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "slow" => Ok(Self::Slow),
            "general" => Ok(Self::General),
            "pcap" => Ok(Self::Pcap),
            "table" => Ok(Self::Table),
            "digests" => Ok(Self::Digests),
            _ => Err("must be slow, general, table, pcap or digests".to_owned()),
        }
    }
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportResult {
    /// Head of the capture, with the source as the log shows it.
    pub head: CaptureHead,
    /// Counts of what was written and what was not.
    pub tail: CaptureTail,
}

/// Returns the format of a file, by its beginning.
///
/// # Errors
///
/// A file that cannot be read, or that is none of the formats.
pub fn log_format(from: &Path) -> Result<LogFormat, CaptureError> {
    if pcap::is_packets(from)? {
        return Ok(LogFormat::Pcap);
    }
    if digests::is_report(from)? {
        return Ok(LogFormat::Digests);
    }
    if slow::source(&mut Lines::open(from)?)?.is_some() {
        return Ok(LogFormat::Slow);
    }
    if table::began(&mut Lines::open(from)?)?.is_some() {
        return Ok(LogFormat::Table);
    }
    if general::began(&mut Lines::open(from)?)?.is_some() {
        return Ok(LogFormat::General);
    }
    Err(no_entry(from))
}

fn no_entry(from: &Path) -> CaptureError {
    CaptureError::Log {
        path: from.display().to_string(),
        line: 1,
        why: "no entry of this format was found; --format=slow, general, table, pcap or digests says what it is"
            .to_owned(),
    }
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
) -> Result<ImportResult, CaptureError> {
    let mut threshold = None;
    let (source, began) = match format {
        LogFormat::Slow => {
            let beginning = slow::began(&mut Lines::open(from)?)?;
            threshold = beginning.and_then(slow::Beginning::threshold);
            (
                slow::source(&mut Lines::open(from)?)?,
                beginning.map(|beginning| beginning.at_us),
            )
        }
        LogFormat::General => (
            Some(CaptureSource::GeneralLog),
            general::began(&mut Lines::open(from)?)?,
        ),
        LogFormat::Table => {
            let is_slow = table::is_slow(&mut Lines::open(from)?)?;
            let source = if is_slow {
                CaptureSource::SlowLogTable
            } else {
                CaptureSource::GeneralLog
            };
            (Some(source), table::began(&mut Lines::open(from)?)?)
        }
        LogFormat::Pcap => {
            let (head, tail) = pcap::import(from, to, literals)?;
            return Ok(ImportResult { head, tail });
        }
        LogFormat::Digests => {
            let (head, tail) = digests::import(from, to, literals)?;
            return Ok(ImportResult { head, tail });
        }
    };
    let (Some(source), Some(began_unix_us)) = (source, began) else {
        return Err(no_entry(from));
    };
    let mut head = CaptureHead::new(source, literals, began_unix_us);
    head.guarantees.extend(threshold);
    let mut lines = Lines::open(from)?;
    let mut writer = sessions::Sessions::create(to, &head)?;
    match format {
        LogFormat::Slow => slow::read(&mut lines, &mut writer)?,
        LogFormat::Table => table::read(&mut lines, &mut writer)?,
        LogFormat::General | LogFormat::Pcap | LogFormat::Digests => {
            general::read(&mut lines, &mut writer)?;
        }
    }
    let tail = writer.finish()?;
    Ok(ImportResult { head, tail })
}

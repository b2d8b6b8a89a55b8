//! Logs that a server has written, and packets of the network, become a capture.
//!
//! A log is read line by line. What it says of a statement, mostly after its end, goes through a window of entries
//! that puts them in the order of their beginnings.

mod account;
mod digests;
mod general;
mod lines;
mod log_part;
mod parts;
mod pcap;
mod placing;
mod sessions;
mod slow;
mod spanning;
mod table;
mod times;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::head::{CaptureHead, CaptureSource, CaptureTail};
use crate::{CaptureError, Literals};
use lines::Lines;
use log_part::LogPart;
use parts::Clock;
pub(crate) use sessions::{Entry, Sessions};

/// Lines that are looked at for the first entry.
const LINES_LOOKED_AT: usize = 10_000;

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
    if table::span(&LogPart::whole(from))?.is_some() {
        return Ok(LogFormat::Table);
    }
    // The first entry tells: a statement of either log may hold lines of the other.
    let mut lines = Lines::open(from)?;
    for _ in 0..LINES_LOOKED_AT {
        if slow::source_of_next(&mut lines)?.is_some() {
            return Ok(LogFormat::Slow);
        }
        match lines.next()? {
            Some(line) if general::is_begun(line) => return Ok(LogFormat::General),
            Some(_) => {}
            None => break,
        }
    }
    Err(no_entry(from))
}

fn no_entry(from: &Path) -> CaptureError {
    CaptureError::Log {
        path: from.display().to_string(),
        offset: 0,
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
    import_logs(&[from.to_owned()], Some(format), to, literals)
}

/// Makes the capture `to`, which must not be there, of the logs of one server, in any order. Entries that a later copy of a
/// log has again are taken once. Without a format, it is recognised.
///
/// # Errors
///
/// As [`import_log`]; logs of several formats or servers.
pub fn import_logs(
    from: &[PathBuf],
    format: Option<LogFormat>,
    to: &Path,
    literals: Literals,
) -> Result<ImportResult, CaptureError> {
    let first = from.first().map_or(Path::new(""), PathBuf::as_path);
    let format = match format {
        Some(format) => format,
        None => format_of_all(from)?,
    };
    let of_one = match format {
        LogFormat::Pcap => Some(pcap::import as fn(&Path, &Path, Literals) -> _),
        LogFormat::Digests => Some(digests::import as _),
        LogFormat::Slow | LogFormat::General | LogFormat::Table => None,
    };
    if let Some(import) = of_one {
        if let Some(second) = from.get(1) {
            return Err(apart(
                first,
                second,
                "packets and reports come from one file",
            ));
        }
        let (head, tail) = import(first, to, literals)?;
        return Ok(ImportResult { head, tail });
    }
    let parts = parts::in_order(from, &clock(format))?;
    let Some(begins) = parts.first() else {
        return Err(no_entry(first));
    };
    let (source, began_unix_us, threshold) = beginning(begins, format)?;
    for part in &parts {
        if beginning(&LogPart::whole(&part.path), format)?.0 != source {
            let why = "servers or settings of different kinds wrote them";
            return Err(apart(&begins.path, &part.path, why));
        }
    }
    let mut head = CaptureHead::new(source, literals, began_unix_us);
    head.guarantees.extend(threshold);
    let mut lines = Lines::open_all(&parts)?;
    let mut writer = sessions::Sessions::create(to, &head)?;
    match format {
        LogFormat::Slow => slow::read(&mut lines, &mut writer)?,
        LogFormat::Table => table::read(&mut lines, &mut writer)?,
        LogFormat::General | LogFormat::Pcap | LogFormat::Digests => {
            general::read(&mut lines, began_unix_us, &mut writer)?;
        }
    }
    let tail = writer.finish()?;
    Ok(ImportResult { head, tail })
}

/// The format of several logs; those that are empty have any.
fn format_of_all(paths: &[PathBuf]) -> Result<LogFormat, CaptureError> {
    let mut found: Option<(LogFormat, &Path)> = None;
    for path in paths {
        if paths.len() > 1 && lines::is_empty(path)? {
            continue;
        }
        let format = log_format(path)?;
        if let Some((_, other)) = found.filter(|(before, _)| *before != format) {
            return Err(apart(other, path, "they are logs of two formats"));
        }
        found.get_or_insert((format, path));
    }
    match (found, paths) {
        (Some((format, _)), _) => Ok(format),
        (None, [first, ..]) => Err(no_entry(first)),
        (None, []) => Err(no_entry(Path::new(""))),
    }
}

fn apart(path: &Path, other: &Path, why: &'static str) -> CaptureError {
    CaptureError::Logs {
        path: path.display().to_string(),
        other: other.display().to_string(),
        why,
    }
}

fn clock(format: LogFormat) -> Clock {
    match format {
        LogFormat::Slow => Clock {
            span: slow::span,
            has_time: slow::has_time,
        },
        LogFormat::Table => Clock {
            span: table::span,
            has_time: |_| true,
        },
        LogFormat::General | LogFormat::Pcap | LogFormat::Digests => Clock {
            span: general::span,
            has_time: general::has_time,
        },
    }
}

/// The source of a log, the time when its first statement began, and a sentence on what its threshold leaves out.
fn beginning(
    part: &LogPart,
    format: LogFormat,
) -> Result<(CaptureSource, i64, Option<String>), CaptureError> {
    let from = &part.path;
    let (source, began_us, threshold) = match format {
        LogFormat::Slow => {
            let beginning = slow::began(&mut Lines::open(from)?)?;
            (
                slow::source(&mut Lines::open(from)?)?,
                beginning.map(|beginning| beginning.at_us),
                beginning.and_then(slow::Beginning::threshold),
            )
        }
        LogFormat::Table => {
            let is_slow = table::is_slow(&mut Lines::open(from)?)?;
            let source = if is_slow {
                CaptureSource::SlowLogTable
            } else {
                CaptureSource::GeneralLog
            };
            (Some(source), table::began(&mut Lines::open(from)?)?, None)
        }
        LogFormat::General | LogFormat::Pcap | LogFormat::Digests => {
            let span = general::span(&LogPart::whole(from))?;
            let began_us = span.map(|(first_us, _)| first_us);
            (Some(CaptureSource::GeneralLog), began_us, None)
        }
    };
    match (source, began_us) {
        (Some(source), Some(began_us)) => Ok((source, began_us, threshold)),
        _ => Err(no_entry(from)),
    }
}

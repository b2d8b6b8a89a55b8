//! Several logs of one server: their order, and what they share when one is a later copy of the other.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::lines::{self, START_LINES};
use super::log_part::LogPart;
use super::no_entry;
use crate::CaptureError;

/// Bytes that are compared at a time.
const CHUNK_BYTES: usize = 64 << 10;
/// Time by which the entries of two logs may be out of order: some servers write seconds, and sessions end at the same time.
const TOLERANCE_US: i64 = 5_000_000;

/// A log that goes on for so long after another has begun has an entry of a session with its own clock.
const FAR_US: i64 = 30 * 86_400 * 1_000_000;

/// The first and the last time at which an entry of a log ended, microseconds since 1970.
pub(super) type Span = (i64, i64);

/// Readers of the times of a format.
pub(super) struct Clock {
    /// The times of the entries at the beginning of a part; `None` if there is no entry.
    pub(super) span: fn(&LogPart) -> Result<Option<Span>, CaptureError>,
    /// Returns true if a line has a time, so that the same line is the same entry.
    pub(super) has_time: fn(&[u8]) -> bool,
}

/// The parts of several logs in the order of time, each entry once. Logs without an entry are left out.
pub(super) fn in_order(paths: &[PathBuf], clock: &Clock) -> Result<Vec<LogPart>, CaptureError> {
    let mut logs: Vec<(Span, &Path)> = Vec::new();
    for path in paths {
        if lines::is_empty(path)? {
            continue;
        }
        let span = (clock.span)(&LogPart::whole(path))?;
        if let Some((first_us, at_us)) = span {
            let tail = (clock.span)(&LogPart::tail(path)?)?;
            let last_us = tail.map_or(at_us, |(_, last_us)| last_us.max(at_us));
            logs.push(((first_us, last_us), path));
        } else {
            return Err(no_entry(path));
        }
    }
    logs.sort_by_key(|((first_us, _), _)| *first_us);
    let mut parts: Vec<LogPart> = Vec::new();
    for (at, (span, path)) in logs.iter().enumerate() {
        let part = remainder(&logs[..at], (*span, path), parts.last(), clock)?;
        parts.extend(part);
    }
    Ok(parts)
}

/// The part of a log that no earlier one has; `None` for nothing.
fn remainder(
    earlier: &[(Span, &Path)],
    (span, path): (Span, &Path),
    last: Option<&LogPart>,
    clock: &Clock,
) -> Result<Option<LogPart>, CaptureError> {
    let failed = |error: io::Error| CaptureError::file("cannot read", path, &error);
    let mut part = LogPart::whole(path);
    for ((_, last_us), other) in earlier {
        // A session's own clock may make the times of a small log any.
        let begins_alike =
            first_bytes(other).map_err(failed)? == first_bytes(path).map_err(failed)?;
        if !begins_alike && last_us.saturating_add(TOLERANCE_US) < span.0 {
            continue;
        }
        let shared = shared_bytes(other, path, clock.has_time).map_err(failed)?;
        let both_us = (*last_us).min(span.1).saturating_sub(span.0);
        let is_far = last_us.saturating_sub(span.0) > FAR_US;
        if shared == 0 && both_us > TOLERANCE_US && !is_far {
            return Err(CaptureError::Logs {
                path: other.display().to_string(),
                other: path.display().to_string(),
                why: "they are of the same time and share no entry, as logs of two servers",
            });
        }
        if shared > part.from {
            part.from = shared;
            part.is_continued = last.is_some_and(|last| last.path == *other);
        }
    }
    let length = path.metadata().map_err(failed)?.len();
    Ok((part.from < length).then_some(part))
}

/// The first line behind those with which the server opens the log, and those.
fn first_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut lines = BufReader::new(File::open(path)?);
    let mut bytes = Vec::new();
    for _ in 0..=START_LINES {
        lines.read_until(b'\n', &mut bytes)?;
    }
    Ok(bytes)
}

/// Bytes at the beginning of `later` with which `earlier` ends, or all of `later` if they stand in `earlier`; 0 for none.
fn shared_bytes(earlier: &Path, later: &Path, has_time: fn(&[u8]) -> bool) -> io::Result<u64> {
    let mut first = Vec::new();
    BufReader::new(File::open(later)?).read_until(b'\n', &mut first)?;
    let mut lines = BufReader::new(File::open(earlier)?);
    let (mut line, mut at) = (Vec::new(), 0);
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(0);
        }
        if line == first
            && let Some(shared) = equal_bytes(earlier, at, later)?
            && any_line(later, shared, has_time)?
        {
            return Ok(shared);
        }
        at += length;
    }
}

/// Bytes up to the end of `earlier`, which is read from an offset, or of `later`, if all of them are equal.
fn equal_bytes(earlier: &Path, from: u64, later: &Path) -> io::Result<Option<u64>> {
    let (mut earlier, mut later) = (File::open(earlier)?, File::open(later)?);
    earlier.seek(SeekFrom::Start(from))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut shared = 0;
    loop {
        ours.clear();
        theirs.clear();
        earlier
            .by_ref()
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut ours)?;
        later
            .by_ref()
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut theirs)?;
        let length = ours.len().min(theirs.len());
        if ours[..length] != theirs[..length] {
            return Ok(None);
        }
        shared += length as u64;
        if length < CHUNK_BYTES {
            return Ok(Some(shared));
        }
    }
}

/// Returns true if a line within the first bytes of a file is one of those.
fn any_line(path: &Path, bytes: u64, is_one: fn(&[u8]) -> bool) -> io::Result<bool> {
    let mut lines = BufReader::new(File::open(path)?.take(bytes));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        if is_one(&line) {
            return Ok(true);
        }
        line.clear();
    }
    Ok(false)
}

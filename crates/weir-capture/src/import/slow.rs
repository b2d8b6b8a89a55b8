//! The slow query log's file, as both servers and Percona's write it.
//!
//! MySQL manual, "The Slow Query Log"; MariaDB Knowledge Base, "Slow Query Log Overview" and "EXPLAIN in the Slow Query
//! Log"; Percona Server's manual, "Slow query log". An entry has header lines, perhaps `use`, `SET timestamp`, and then the
//! statement, which may have many lines.

mod affected;
mod parser;

use super::lines::Lines;
use super::log_part::LogPart;
use super::parts::Span;
use super::placing::{Placement, Placer};
use super::sessions::{Entry, Sessions};
use crate::sql::is_by_sql;
use crate::{CaptureError, CaptureSource, Login};
pub(super) use parser::Step;
use parser::{Parser, header_lines};

/// Lines that are looked at to know what wrote the log.
const LINES_LOOKED_AT: usize = 10_000;
/// Entries that are looked at to know when it begins.
const ENTRIES_LOOKED_AT: usize = 2_000;

/// Beginning of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beginning {
    /// When the first of its statements began, about.
    pub(super) at_us: i64,
    /// When the first and the last of them ended.
    span: Span,
    /// The shortest statement, and how many were looked at.
    pub(super) shortest_us: u64,
    pub(super) statements: u64,
}

/// A log without a statement that is shorter has only slow ones.
const SLOW_US: u64 = 500_000;
/// Statements that are enough to say so.
const SLOW_COUNT: u64 = 5;

impl Beginning {
    /// Returns a sentence on the part of a load that a log of slow statements alone can hold; `None`: it has short
    /// ones.
    pub(super) fn threshold(self) -> Option<String> {
        let shortest_s = self.shortest_us as f64 / 1e6;
        let is_slow = self.shortest_us >= SLOW_US && self.statements >= SLOW_COUNT;
        // A session that asks without a pause leaves so many entries a second at most.
        let most = 1.0 / shortest_s;
        is_slow.then(|| {
            format!(
                "Only slow statements are in this log, the shortest of {shortest_s:.1} s (long_query_time): at most \
                 {most:.2} statements a second of each busy session, however many it sends. Look at its statements and \
                 their plans; for the load, record a log with long_query_time = 0, packets, or the proxy."
            )
        })
    }
}

/// Returns the server that wrote the entry that comes next, by its header; `None` if none does.
pub(super) fn source_of_next(lines: &mut Lines) -> Result<Option<CaptureSource>, CaptureError> {
    let count = header_lines(lines, 0)?;
    let mut found = None;
    for after in 0..count {
        let line = lines.peek(after)?.unwrap_or_default();
        let has = |part: &[u8]| line.windows(part.len()).any(|found| found == part);
        let of_line = if line.starts_with(b"# Thread_id:") && has(b" QC_hit:") {
            CaptureSource::SlowLogMariadb
        } else if line.starts_with(parser::DURATION) && has(b" Start:") {
            CaptureSource::SlowLogExtra
        } else if has(b" Last_errno:") {
            CaptureSource::SlowLogPercona
        } else {
            continue;
        };
        found.get_or_insert(of_line);
    }
    Ok((count > 0).then(|| found.unwrap_or(CaptureSource::SlowLog)))
}

/// Returns the server that wrote the log; `None` if it is no slow log.
pub(super) fn source(lines: &mut Lines) -> Result<Option<CaptureSource>, CaptureError> {
    for _ in 0..LINES_LOOKED_AT {
        if let Some(source) = source_of_next(lines)? {
            return Ok(Some(source));
        }
        if lines.next()?.is_none() {
            break;
        }
    }
    Ok(None)
}

/// Returns the beginning of the log: the earliest of the first statements.
pub(super) fn began(lines: &mut Lines) -> Result<Option<Beginning>, CaptureError> {
    let mut beginning: Option<Beginning> = None;
    let mut look = |placed: Placement| {
        if let Step::Statement(entry) = placed.step {
            let took_us = entry.took_us.unwrap_or(0);
            let ended_us = entry.ended_us();
            let found = beginning.get_or_insert(Beginning {
                at_us: entry.began_us,
                span: (ended_us, ended_us),
                shortest_us: took_us,
                statements: 0,
            });
            found.at_us = found.at_us.min(entry.began_us);
            found.span.1 = found.span.1.max(ended_us);
            found.shortest_us = found.shortest_us.min(took_us);
            found.statements += 1;
        }
        Ok(())
    };
    let mut parser = Parser::default();
    let mut placer = Placer::default();
    for _ in 0..ENTRIES_LOOKED_AT {
        let Some(step) = parser.next(lines)? else {
            break;
        };
        placer.push(step, &mut look)?;
    }
    placer.finish(&mut look)?;
    Ok(beginning)
}

/// The first and the last time of the entries at the beginning of a part.
pub(super) fn span(part: &LogPart) -> Result<Option<Span>, CaptureError> {
    let beginning = began(&mut Lines::open_all(std::slice::from_ref(part))?)?;
    Ok(beginning.map(|beginning| beginning.span))
}

/// Returns true if a line has a time of its entry.
pub(super) fn has_time(line: &[u8]) -> bool {
    line.starts_with(parser::DURATION)
}

/// Reads the log to its end.
pub(super) fn read(lines: &mut Lines, sessions: &mut Sessions) -> Result<(), CaptureError> {
    let mut parser = Parser::default();
    let mut placer = Placer::default();
    let mut write = |placed: Placement| put(placed, sessions);
    while let Some(step) = parser.next(lines)? {
        placer.push(step, &mut write)?;
    }
    placer.finish(&mut write)
}

/// Writes a step of the log.
pub(super) fn put(placed: Placement, sessions: &mut Sessions) -> Result<(), CaptureError> {
    if placed.is_moved {
        sessions.out_of_place();
    }
    match placed.step {
        Step::Unread => {
            sessions.unread();
            Ok(())
        }
        // What SQL executes stands in the log with its values.
        Step::Statement(entry) if is_by_sql(&entry.text) => Ok(()),
        Step::Statement(entry) => sessions.statement(*entry),
        Step::Administration(name, entry) => administration(&name, &entry, sessions),
    }
}

/// A command that is no statement. Its entry has the account and the schema that it led to.
fn administration(name: &str, entry: &Entry, sessions: &mut Sessions) -> Result<(), CaptureError> {
    let (connection, at_us) = (entry.connection, entry.began_us);
    match name.to_ascii_lowercase().as_str() {
        "quit" => sessions.close(connection, entry.ended_us()),
        "reset connection" => sessions.reset(connection, at_us),
        "change user" => {
            let schema = entry.schema.as_deref().unwrap_or_default();
            sessions.change(connection, at_us, Login::new(&entry.user, schema))
        }
        _ => Ok(()),
    }
}

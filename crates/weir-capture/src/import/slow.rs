//! The slow query log's file, as both servers and Percona's write it.
//!
//! MySQL manual, "The Slow Query Log"; MariaDB Knowledge Base, "Slow Query Log Overview" and "EXPLAIN in the Slow Query
//! Log"; Percona Server's manual, "Slow query log". An entry has header lines, perhaps `use`, `SET timestamp`, and then the
//! statement, which may have many lines.

mod parser;

use super::lines::Lines;
use super::placing::{Placement, Placer};
use super::sessions::{Entry, Sessions};
use crate::{CaptureError, CaptureSource, Login};
use parser::Parser;
pub(super) use parser::Step;

/// Lines that are looked at to know what wrote the log, and when it begins.
const LINES_LOOKED_AT: usize = 10_000;

/// Beginning of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beginning {
    /// When the first of its statements began, about.
    pub(super) at_us: i64,
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

/// Returns the server that wrote the log; `None` if it is no slow log.
pub(super) fn source(lines: &mut Lines) -> Result<Option<CaptureSource>, CaptureError> {
    let mut found = None;
    for _ in 0..LINES_LOOKED_AT {
        let Some(line) = lines.next()? else { break };
        let has = |part: &[u8]| line.windows(part.len()).any(|found| found == part);
        if line.starts_with(b"# Thread_id:") && has(b" QC_hit:") {
            return Ok(Some(CaptureSource::SlowLogMariadb));
        }
        if line.starts_with(b"# Query_time:") && has(b" Start:") {
            return Ok(Some(CaptureSource::SlowLogExtra));
        }
        if line.starts_with(b"# ") && has(b" Last_errno:") {
            found = Some(CaptureSource::SlowLogPercona);
        } else if line.starts_with(b"# Query_time:") {
            found = found.or(Some(CaptureSource::SlowLog));
        }
    }
    Ok(found)
}

/// Returns the beginning of the log: the earliest of the first statements.
pub(super) fn began(lines: &mut Lines) -> Result<Option<Beginning>, CaptureError> {
    let mut beginning: Option<Beginning> = None;
    let mut look = |placed: Placement| {
        if let Step::Statement(entry) = placed.step {
            let took_us = entry.took_us.unwrap_or(0);
            let found = beginning.get_or_insert(Beginning {
                at_us: entry.began_us,
                shortest_us: took_us,
                statements: 0,
            });
            found.at_us = found.at_us.min(entry.began_us);
            found.shortest_us = found.shortest_us.min(took_us);
            found.statements += 1;
        }
        Ok(())
    };
    let mut parser = Parser::default();
    let mut placer = Placer::default();
    for _ in 0..LINES_LOOKED_AT {
        let line = lines.next()?;
        placer.push(parser.line(line), &mut look)?;
        if line.is_none() {
            break;
        }
    }
    placer.finish(&mut look)?;
    Ok(beginning)
}

/// Reads the log to its end.
pub(super) fn read(lines: &mut Lines, sessions: &mut Sessions) -> Result<(), CaptureError> {
    let mut parser = Parser::default();
    let mut placer = Placer::default();
    let mut write = |placed: Placement| put(placed, sessions);
    loop {
        let line = lines.next()?;
        let is_end = line.is_none();
        placer.push(parser.line(line), &mut write)?;
        if is_end {
            break;
        }
    }
    placer.finish(&mut write)
}

/// Writes a step of the log.
pub(super) fn put(placed: Placement, sessions: &mut Sessions) -> Result<(), CaptureError> {
    if placed.is_moved {
        sessions.out_of_place();
    }
    match placed.step {
        Step::Nothing => Ok(()),
        Step::Unread => {
            sessions.unread();
            Ok(())
        }
        Step::Restarted => sessions.close_all(),
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

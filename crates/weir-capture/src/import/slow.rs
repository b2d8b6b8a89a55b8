//! The slow query log's file, as both servers and Percona's write it.
//!
//! MySQL manual, "The Slow Query Log"; MariaDB Knowledge Base, "Slow Query Log Overview". An entry has lines of what is
//! known, perhaps `use`, `SET timestamp`, and then the statement, which may have many lines.

use std::collections::HashMap;

use super::account::user_name;
use super::lines::{Lines, is_of_start};
use super::sessions::{Entry, Sessions};
use super::times::{iso_us, seconds_us, short_us};
use crate::{CaptureError, CaptureSource};

/// Entries that are looked at to know what wrote the log.
const LINES_LOOKED_AT: usize = 10_000;
const ADMINISTRATION: &str = "# administrator command: ";

/// What wrote the log; `None` if it is no slow log.
pub(super) fn source(lines: &mut Lines) -> Result<Option<CaptureSource>, CaptureError> {
    let mut found = None;
    for _ in 0..LINES_LOOKED_AT {
        let Some(line) = lines.next()? else { break };
        if line.starts_with(b"# Thread_id:") {
            return Ok(Some(CaptureSource::SlowLogMariadb));
        }
        if line.starts_with(b"# Query_time:") {
            let has_start = line.windows(7).any(|part| part == b" Start:");
            if has_start {
                return Ok(Some(CaptureSource::SlowLogExtra));
            }
            found = Some(CaptureSource::SlowLog);
        }
    }
    Ok(found)
}

/// When its first entry began, about: the earliest beginning of the first of them.
pub(super) fn began(lines: &mut Lines) -> Result<Option<i64>, CaptureError> {
    let mut earliest = None;
    let mut looks = |parser: &mut Parser, line: Option<&[u8]>| {
        if let Step::Statement(entry) = parser.line(line) {
            let began_us = entry.began_us;
            earliest = Some(earliest.map_or(began_us, |least: i64| least.min(began_us)));
        }
    };
    let mut parser = Parser::default();
    for _ in 0..LINES_LOOKED_AT {
        let line = lines.next()?;
        looks(&mut parser, line);
        if line.is_none() {
            break;
        }
    }
    Ok(earliest)
}

/// Reads the log to its end.
pub(super) fn read(lines: &mut Lines, sessions: &mut Sessions) -> Result<(), CaptureError> {
    let mut parser = Parser::default();
    loop {
        let line = lines.next()?;
        let is_end = line.is_none();
        match parser.line(line) {
            Step::Nothing => {}
            Step::Unread => sessions.unread(),
            Step::Restarted => sessions.close_all()?,
            Step::Left(connection, at_us) => sessions.close(connection, at_us)?,
            Step::Statement(entry) => sessions.statement(*entry)?,
        }
        if is_end {
            return Ok(());
        }
    }
}

/// What a line completes.
enum Step {
    Nothing,
    /// It belongs to no entry.
    Unread,
    Restarted,
    Left(u64, i64),
    Statement(Box<Entry>),
}

/// Where the log is.
#[derive(Debug, Default)]
struct Parser {
    /// The last `# Time`, which the entries after it may share.
    time_us: Option<i64>,
    /// The schema of the last `use`, which holds for all sessions until the next.
    schema: Option<String>,
    known: HashMap<String, String>,
    user: String,
    text: Vec<u8>,
    /// Lines of what is known have begun an entry.
    is_open: bool,
    has_text: bool,
}

impl Parser {
    /// Takes a line; `None`: the log's end.
    fn line(&mut self, line: Option<&[u8]>) -> Step {
        let Some(line) = line else {
            return self.complete();
        };
        if line.starts_with(b"# Time: ") {
            let step = self.complete();
            self.time(&String::from_utf8_lossy(&line[8..]));
            return step;
        }
        if line.starts_with(b"# User@Host: ") {
            let step = self.complete();
            self.user(&String::from_utf8_lossy(&line[13..]));
            return step;
        }
        if self.is_open && !self.has_text && line.starts_with(b"# ") {
            return self.comment(&String::from_utf8_lossy(line));
        }
        if is_of_start(line) {
            return match self.complete() {
                Step::Nothing => Step::Restarted,
                step => step,
            };
        }
        if !self.is_open {
            return if line.is_empty() {
                Step::Nothing
            } else {
                Step::Unread
            };
        }
        self.statement(line);
        Step::Nothing
    }

    fn time(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        self.time_us = iso_us(first).or_else(|| short_us(first, second?));
    }

    /// `root[root] @ localhost []  Id:     8`
    fn user(&mut self, text: &str) {
        self.is_open = true;
        self.user = user_name(text);
        if let Some((_, id)) = text.rsplit_once("Id:") {
            self.known
                .insert("Thread_id".to_owned(), id.trim().to_owned());
        }
    }

    /// `# Query_time: 0.000123  Lock_time: ...`
    fn comment(&mut self, line: &str) -> Step {
        if let Some(command) = line.strip_prefix(ADMINISTRATION) {
            let connection = self.number("Thread_id");
            let at_us = self.end_us();
            self.forget();
            return match (command.trim_end_matches(';'), connection, at_us) {
                ("Quit", Some(connection), Some(at_us)) => Step::Left(connection, at_us),
                _ => Step::Nothing,
            };
        }
        let mut words = line[2..].split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_suffix(':') else {
                continue;
            };
            // A value may be missing: the next word is a name again.
            let value = words.next_if(|value| !value.ends_with(':'));
            self.known
                .insert(name.to_owned(), value.unwrap_or_default().to_owned());
        }
        Step::Nothing
    }

    fn statement(&mut self, line: &[u8]) {
        if !self.has_text {
            if let Some(schema) = schema_of_use(line) {
                self.schema = Some(schema);
                return;
            }
            if let Some(second) = second_of_set(line) {
                self.known.insert("timestamp".to_owned(), second);
                return;
            }
            if line.starts_with(ADMINISTRATION.as_bytes()) {
                return;
            }
        }
        if self.has_text {
            self.text.push(b'\n');
        }
        self.has_text = true;
        self.text.extend_from_slice(line);
    }

    /// When the entry was written.
    fn end_us(&self) -> Option<i64> {
        let second = self
            .known
            .get("timestamp")
            .and_then(|second| second.parse::<f64>().ok());
        let of_set = second.map(|second| (second * 1e6) as i64);
        let time_us = self.time_us;
        match self.known.get("End").and_then(|end| iso_us(end)) {
            Some(end_us) => Some(end_us),
            // MariaDB writes local time, and only when it changes.
            None if self.known.contains_key("Rows_affected") => of_set.or(time_us),
            None => time_us.or(of_set),
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.known.get(name)?.parse().ok()
    }

    fn complete(&mut self) -> Step {
        if !self.has_text {
            return Step::Nothing;
        }
        let entry = self.entry();
        self.forget();
        entry.map_or(Step::Unread, |entry| Step::Statement(Box::new(entry)))
    }

    fn entry(&mut self) -> Option<Entry> {
        let took_us = self
            .known
            .get("Query_time")
            .and_then(|text| seconds_us(text));
        let began_us = match self.known.get("Start").and_then(|start| iso_us(start)) {
            Some(began_us) => began_us,
            None => self.end_us()?.checked_sub_unsigned(took_us?)?,
        };
        let mut text = std::mem::take(&mut self.text);
        // Servers end each statement so; what has no end was cut, perhaps before its WHERE.
        let is_cut = text.pop_if(|last| *last == b';').is_none();
        let schema = self.known.get("Schema").filter(|schema| !schema.is_empty());
        let error = self.number("Errno").or_else(|| self.number("Last_errno"));
        Some(Entry {
            connection: self.number("Thread_id")?,
            user: self.user.clone(),
            schema: schema.cloned().or_else(|| self.schema.clone()),
            began_us,
            took_us,
            text,
            is_cut,
            rows: self.number("Rows_sent"),
            affected: self.number("Rows_affected"),
            error: error.and_then(|code| u16::try_from(code).ok()),
        })
    }

    fn forget(&mut self) {
        self.known.clear();
        self.text.clear();
        self.has_text = false;
        self.is_open = false;
    }
}

/// `use shop;`
fn schema_of_use(line: &[u8]) -> Option<String> {
    let name = line.strip_prefix(b"use ")?.strip_suffix(b";")?;
    Some(String::from_utf8_lossy(name).trim_matches('`').to_owned())
}

/// `SET timestamp=1700000000;`, perhaps after other variables.
fn second_of_set(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let assignments = text.strip_prefix("SET ")?.strip_suffix(';')?;
    let (before, second) = assignments.rsplit_once("timestamp=")?;
    let is_servers = before.is_empty()
        || before.starts_with("last_insert_id=")
        || before.starts_with("insert_id=");
    is_servers.then(|| second.to_owned())
}

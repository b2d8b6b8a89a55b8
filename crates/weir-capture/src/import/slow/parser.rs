//! Lines of a slow log become entries. The servers' own lines are known by their forms; all others are the statement's.

use std::collections::HashMap;

use super::affected::counts_own_rows;
use crate::CaptureError;
use crate::import::account::user_name;
use crate::import::lines::{Lines, START_LINES};
use crate::import::sessions::Entry;
use crate::import::spanning::lines_within;
use crate::import::times::{iso_us, seconds_us, short_us};
use crate::sql::OpenText;

/// Beginning of the last line that each header has.
pub(super) const DURATION: &[u8] = b"# Query_time: ";
const ADMINISTRATION: &[u8] = b"# administrator command: ";
/// Header lines without a name and a value.
const PLAIN_HEADERS: [&str; 2] = ["#", "# No InnoDB statistics available for this query"];

/// The line before what the server said of a statement (`log_slow_verbosity` with `warnings`).
const MESSAGES: &[u8] = b"# Warnings";
/// Header lines that may stand between that of the account and that of the times.
const HEADERS_BETWEEN: usize = 2;

/// The next thing in a log.
#[derive(Debug)]
pub(in crate::import) enum Step {
    /// A line that belongs to no entry, or an entry without a statement.
    Unread,
    Statement(Box<Entry>),
    /// A command that is no statement, by its name.
    Administration(String, Box<Entry>),
}

impl Step {
    /// The entry, if it has one.
    pub(in crate::import) fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Statement(entry) | Self::Administration(_, entry) => Some(entry),
            Self::Unread => None,
        }
    }

    pub(in crate::import) fn entry_mut(&mut self) -> Option<&mut Entry> {
        match self {
            Self::Statement(entry) | Self::Administration(_, entry) => Some(entry),
            Self::Unread => None,
        }
    }
}

/// Where the log is.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The last `# Time`, which the entries after it may share, and whether it tells its time zone.
    time_us: Option<(i64, bool)>,
    /// The schema of the last `use`, which holds for all sessions until the next.
    schema: Option<String>,
    /// The server that opened the log counts changed rows as it tells them to the client.
    counts_own_rows: bool,
    known: HashMap<String, String>,
    user: String,
    text: Vec<u8>,
    /// Lines of the header that say nothing that is known.
    unread: usize,
}

impl Parser {
    /// The next entry, or a line that belongs to none; `None` at the log's end.
    pub(super) fn next(&mut self, lines: &mut Lines) -> Result<Option<Step>, CaptureError> {
        if let Some(left) = self.unread.checked_sub(1) {
            self.unread = left;
            return Ok(Some(Step::Unread));
        }
        loop {
            if lines.is_start(0)? {
                self.counts_own_rows = lines.peek(0)?.is_some_and(counts_own_rows);
                lines.skip(START_LINES)?;
                // The server names the schema again.
                self.schema = None;
                continue;
            }
            let header = header_lines(lines, 0)?;
            if header > 0 {
                return self.entry(header, lines).map(Some);
            }
            match lines.next()? {
                None => return Ok(None),
                Some([]) => {}
                Some(_) => return Ok(Some(Step::Unread)),
            }
        }
    }

    /// Reads an entry whose header begins with so many lines.
    fn entry(&mut self, header: usize, lines: &mut Lines) -> Result<Step, CaptureError> {
        self.known.clear();
        self.text.clear();
        for _ in 0..header {
            let line = lines.next()?.unwrap_or_default();
            if let Some(time) = time_of(line) {
                self.time_us = Some(time);
            } else if let Some(user) = user_of(line) {
                self.begin(&user);
            } else {
                let line = String::from_utf8_lossy(line).into_owned();
                self.facts(&line);
            }
        }
        self.header(lines)?;
        let has_text = self.read_text(lines)?;
        let entry = has_text.then(|| self.finished()).flatten();
        Ok(match entry {
            None => Step::Unread,
            Some(entry) => match administration(&entry.text) {
                Some(name) => Step::Administration(name, Box::new(entry)),
                None => Step::Statement(Box::new(entry)),
            },
        })
    }

    /// `root[root] @ localhost []  Id:     8`
    fn begin(&mut self, text: &str) {
        self.user = user_name(text);
        if let Some((_, id)) = text.rsplit_once("Id:") {
            self.know("Thread_id", id.trim());
        }
    }

    fn know(&mut self, name: &str, value: &str) {
        self.known.insert(name.to_owned(), value.to_owned());
    }

    /// Reads the lines before the statement.
    fn header(&mut self, lines: &mut Lines) -> Result<(), CaptureError> {
        while !is_end(lines, 0)? {
            let Some(line) = lines.peek(0)? else { break };
            if line.starts_with(ADMINISTRATION) {
                break;
            }
            if line == MESSAGES {
                return self.messages(lines);
            }
            if line.starts_with(b"#") {
                let line = String::from_utf8_lossy(line).into_owned();
                self.facts(&line);
            } else if let Some(schema) = schema_of_use(line) {
                self.schema = Some(schema);
            } else if let Some(second) = second_of_set(line) {
                self.know("timestamp", &second);
                lines.next()?;
                break;
            } else {
                break;
            }
            lines.next()?;
        }
        Ok(())
    }

    /// Passes over the server's messages, which may have lines of any kind, up to the statement.
    fn messages(&mut self, lines: &mut Lines) -> Result<(), CaptureError> {
        while !is_end(lines, 0)? {
            let line = lines.next()?.unwrap_or_default();
            if let Some(schema) = schema_of_use(line) {
                self.schema = Some(schema);
            } else if let Some(second) = second_of_set(line) {
                self.know("timestamp", &second);
                break;
            }
        }
        Ok(())
    }

    /// Reads the statement; false if there is none.
    fn read_text(&mut self, lines: &mut Lines) -> Result<bool, CaptureError> {
        let (mut open, mut has_text) = (OpenText::default(), false);
        loop {
            let count = if !is_end(lines, 0)? {
                1
            } else if open.is_open() {
                lines_within(&open, lines, is_end)?
            } else {
                0
            };
            if count == 0 {
                return Ok(has_text);
            }
            for _ in 0..count {
                let Some(line) = lines.next()? else { break };
                open.push(line);
                if has_text {
                    self.text.push(b'\n');
                }
                has_text = true;
                self.text.extend_from_slice(line);
            }
        }
    }

    /// `# Query_time: 0.000123  Lock_time: ...`
    fn facts(&mut self, line: &str) {
        if PLAIN_HEADERS.contains(&line.trim_end()) || line.starts_with("# explain:") {
            return;
        }
        // A schema's name may have blanks; two of them end it.
        if let Some((_, rest)) = line.split_once("Schema: ") {
            let name = rest.split("  ").next().unwrap_or_default();
            self.know("Schema", name.trim_end());
        }
        let mut is_known = false;
        let mut words = line[1..].split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_suffix(':') else {
                continue;
            };
            is_known = true;
            // A value may be missing: the next word is a name again.
            let value = words.next_if(|value| !value.ends_with(':'));
            if name != "Schema" {
                self.know(name, value.unwrap_or_default());
            }
        }
        self.unread += usize::from(!is_known);
    }

    /// When the entry was written. `Start` and `End` of `log_slow_extra` are of the session's clock.
    fn end_us(&self) -> Option<i64> {
        let second = self.known.get("timestamp");
        let second = second.and_then(|second| second.parse::<f64>().ok());
        let of_set = second.map(|second| (second * 1e6) as i64);
        match self.time_us {
            // MySQL's `SET timestamp` is the beginning, in seconds.
            Some((time_us, true)) => Some(time_us),
            // The others write local time, and only when it changes.
            time => of_set.or(time.map(|(time_us, _)| time_us)),
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.known.get(name)?.parse().ok()
    }

    /// Changed rows as the server told them to the client.
    fn affected(&self, rows: Option<u64>) -> Option<u64> {
        let is_of_mariadb = self.known.contains_key("QC_hit");
        let counts_others = is_of_mariadb && !self.counts_own_rows;
        // A statement that returns rows tells the client of no changed ones; the log counts those of its functions.
        let returns_rows = rows.is_some_and(|rows| rows > 0);
        let logged = self.number("Rows_affected");
        logged.filter(|_| !counts_others && !returns_rows)
    }

    /// The entry that was read, if it has all that it needs.
    fn finished(&mut self) -> Option<Entry> {
        let took_us = self.known.get("Query_time");
        let took_us = took_us.and_then(|text| seconds_us(text));
        let began_us = self.end_us()?.checked_sub_unsigned(took_us?)?;
        let mut text = std::mem::take(&mut self.text);
        // Servers end each statement so; what has no end was cut, perhaps before its WHERE.
        let is_cut = text.pop_if(|last| *last == b';').is_none();
        // A session without a schema has an empty one where the log has a name for each entry.
        let schema = self.known.get("Schema").or(self.schema.as_ref());
        let rows = self.number("Rows_sent");
        let error = self.number("Errno").or_else(|| self.number("Last_errno"));
        Some(Entry {
            connection: self.number("Thread_id")?,
            user: self.user.clone(),
            schema: schema.cloned(),
            began_us,
            took_us,
            // `SET timestamp` changes the times of `MariaDB` and of old servers, which write no time zone.
            is_of_server_clock: self.time_us.is_some_and(|(_, has_zone)| has_zone),
            text,
            is_cut,
            is_bulk: false,
            lacks_values: false,
            rows,
            affected: self.affected(rows),
            error: error.and_then(|code| u16::try_from(code).ok()),
        })
    }
}

/// Number of lines, from the one that is so many after the next, with which the header of an entry begins: perhaps its
/// time, its account, and all up to its duration. 0 for none.
pub(super) fn header_lines(lines: &mut Lines, after: usize) -> Result<usize, CaptureError> {
    let has_time = match lines.peek(after)? {
        Some(line) if line.starts_with(b"# ") => time_of(line).is_some(),
        _ => return Ok(0),
    };
    let account = usize::from(has_time);
    let line = lines.peek(after + account)?;
    if line.and_then(user_of).is_none() {
        return Ok(0);
    }
    for between in 0..=HEADERS_BETWEEN {
        let count = account + 1 + between;
        match lines.peek(after + count)? {
            Some(line) if line.starts_with(DURATION) => return Ok(count + 1),
            Some(line) if line.starts_with(b"# ") => {}
            _ => break,
        }
    }
    Ok(0)
}

/// Returns true if an entry ends before the line that is so many after the next one.
fn is_end(lines: &mut Lines, after: usize) -> Result<bool, CaptureError> {
    let is_log_end = lines.peek(after)?.is_none();
    Ok(is_log_end || header_lines(lines, after)? > 0 || lines.is_start(after)?)
}

/// The time of `# Time: ...`, and whether it tells its time zone. A line of a statement that begins so has another form.
fn time_of(line: &[u8]) -> Option<(i64, bool)> {
    let text = std::str::from_utf8(line.strip_prefix(b"# Time: ")?).ok()?;
    let mut words = text.split_ascii_whitespace();
    let first = words.next()?;
    match iso_us(first) {
        Some(at_us) => Some((at_us, true)),
        None => Some((short_us(first, words.next()?)?, false)),
    }
}

/// Returns the text after `# User@Host: ` in the form that the servers write.
fn user_of(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line.strip_prefix(b"# User@Host: ")?);
    let (account, host) = text.split_once("] @ ")?;
    let is_one = account.contains('[') && host.contains('[') && host.contains(']');
    is_one.then(|| text.into_owned())
}

/// The name of a command that is no statement: the whole text is the server's line for it.
fn administration(text: &[u8]) -> Option<String> {
    let name = text.strip_prefix(ADMINISTRATION)?;
    let is_one = !name.contains(&b'\n');
    is_one.then(|| String::from_utf8_lossy(name).into_owned())
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

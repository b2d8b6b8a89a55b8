//! Lines of a slow log become entries. The servers' own lines are known by their forms; all others are the statement's.

use std::collections::HashMap;

use crate::import::account::user_name;
use crate::import::lines::StartLines;
use crate::import::sessions::Entry;
use crate::import::times::{iso_us, seconds_us, short_us};

const ADMINISTRATION: &[u8] = b"# administrator command: ";
/// Header lines without a name and a value.
const PLAIN_HEADERS: [&str; 2] = ["#", "# No InnoDB statistics available for this query"];

/// Result that a line completes.
#[derive(Debug)]
pub(in crate::import) enum Step {
    Nothing,
    /// It belongs to no entry, or an entry has no statement.
    Unread,
    Restarted,
    Statement(Box<Entry>),
    /// A command that is no statement, by its name.
    Administration(String, Box<Entry>),
}

impl Step {
    /// The entry, if it has one.
    pub(in crate::import) fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Statement(entry) | Self::Administration(_, entry) => Some(entry),
            _ => None,
        }
    }

    pub(in crate::import) fn entry_mut(&mut self) -> Option<&mut Entry> {
        match self {
            Self::Statement(entry) | Self::Administration(_, entry) => Some(entry),
            _ => None,
        }
    }
}

/// Which part of an entry is read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// None is open.
    #[default]
    Outside,
    Header,
    /// The server's `SET timestamp` has passed, or a line that is none of its own.
    Text,
}

/// Where the log is.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The last `# Time`, which the entries after it may share, and whether it tells its time zone.
    time_us: Option<(i64, bool)>,
    /// The schema of the last `use`, which holds for all sessions until the next.
    schema: Option<String>,
    known: HashMap<String, String>,
    user: String,
    text: Vec<u8>,
    has_text: bool,
    part: Part,
    start: StartLines,
}

impl Parser {
    /// Takes a line; `None`: the log's end.
    pub(super) fn line(&mut self, line: Option<&[u8]>) -> Step {
        let Some(line) = line else {
            return self.complete();
        };
        if let Some(time) = time_of(line) {
            let step = self.complete();
            self.time_us = Some(time);
            return step;
        }
        if let Some(user) = user_of(line) {
            let step = self.complete();
            self.begin(&user);
            return step;
        }
        if self.start.takes(line) {
            return match self.complete() {
                Step::Nothing => Step::Restarted,
                step => step,
            };
        }
        match self.part {
            Part::Outside if line.is_empty() => Step::Nothing,
            Part::Outside => Step::Unread,
            Part::Header => self.header(line),
            Part::Text => {
                self.add_text(line);
                Step::Nothing
            }
        }
    }

    /// `root[root] @ localhost []  Id:     8`
    fn begin(&mut self, text: &str) {
        self.part = Part::Header;
        self.user = user_name(text);
        if let Some((_, id)) = text.rsplit_once("Id:") {
            self.know("Thread_id", id.trim());
        }
    }

    fn know(&mut self, name: &str, value: &str) {
        self.known.insert(name.to_owned(), value.to_owned());
    }

    /// A line between the first one and the statement.
    fn header(&mut self, line: &[u8]) -> Step {
        if line.starts_with(ADMINISTRATION) {
            self.part = Part::Text;
            self.add_text(line);
        } else if line.starts_with(b"#") {
            return self.facts(&String::from_utf8_lossy(line));
        } else if let Some(schema) = schema_of_use(line) {
            self.schema = Some(schema);
        } else if let Some(second) = second_of_set(line) {
            self.know("timestamp", &second);
            self.part = Part::Text;
        } else {
            self.part = Part::Text;
            self.add_text(line);
        }
        Step::Nothing
    }

    /// `# Query_time: 0.000123  Lock_time: ...`
    fn facts(&mut self, line: &str) -> Step {
        if PLAIN_HEADERS.contains(&line.trim_end()) || line.starts_with("# explain:") {
            return Step::Nothing;
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
        if is_known {
            Step::Nothing
        } else {
            Step::Unread
        }
    }

    fn add_text(&mut self, line: &[u8]) {
        if self.has_text {
            self.text.push(b'\n');
        }
        self.has_text = true;
        self.text.extend_from_slice(line);
    }

    /// When the entry was written.
    fn end_us(&self) -> Option<i64> {
        let second = self.known.get("timestamp");
        let second = second.and_then(|second| second.parse::<f64>().ok());
        let of_set = second.map(|second| (second * 1e6) as i64);
        match (
            self.known.get("End").and_then(|end| iso_us(end)),
            self.time_us,
        ) {
            (Some(end_us), _) => Some(end_us),
            // MySQL's `SET timestamp` is the beginning, in seconds.
            (None, Some((time_us, true))) => Some(time_us),
            // The others write local time, and only when it changes.
            (None, time) => of_set.or(time.map(|(time_us, _)| time_us)),
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.known.get(name)?.parse().ok()
    }

    fn complete(&mut self) -> Step {
        if self.part == Part::Outside {
            return Step::Nothing;
        }
        let entry = self.has_text.then(|| self.entry()).flatten();
        self.known.clear();
        self.text.clear();
        (self.has_text, self.part) = (false, Part::Outside);
        let Some(entry) = entry else {
            return Step::Unread;
        };
        match administration(&entry.text) {
            Some(name) => Step::Administration(name, Box::new(entry)),
            None => Step::Statement(Box::new(entry)),
        }
    }

    fn entry(&mut self) -> Option<Entry> {
        let took_us = self.known.get("Query_time");
        let took_us = took_us.and_then(|text| seconds_us(text));
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
            is_bulk: false,
            lacks_values: false,
            rows: self.number("Rows_sent"),
            affected: self.number("Rows_affected"),
            error: error.and_then(|code| u16::try_from(code).ok()),
        })
    }
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

//! What a server's general log and a capture say of a session, in the same words.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write as _;

use weir_capture::{Command, CommandEnd, CommandStart, Login, Value, inlined};
use weir_mysql::Connection;

use crate::proxy::USER;

/// What a session said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionAction {
    /// Account and schema.
    Login(String, String),
    Changed(String, String),
    Schema(String),
    Text(String),
    Prepared(String),
    /// With its parameters in their places.
    Executed(String),
    Reset,
    /// Another one, which the server has not answered.
    Unanswered(Box<SessionAction>),
}

const LOG: &str =
    "SELECT thread_id, CONVERT(command_type USING utf8mb4), HEX(argument) FROM mysql.general_log";

/// Connections of the clients that the server has logged.
pub(crate) fn connections(root: &mut Connection) -> usize {
    sessions(root).len()
}

/// What the server logged of each session of the account, in the order in which they connected.
pub(crate) fn sessions(root: &mut Connection) -> Vec<Vec<SessionAction>> {
    let rows: Vec<(u64, String, Option<String>)> = root.rows(LOG).unwrap();
    let mut sessions: Vec<(u64, Vec<SessionAction>)> = Vec::new();
    for (connection, command, argument) in rows {
        let argument = unhex(&argument.unwrap_or_default());
        if command == "Connect" && argument.starts_with(&format!("{USER}@")) {
            sessions.push((connection, Vec::new()));
        }
        let session = sessions
            .iter_mut()
            .find(|(number, _)| *number == connection);
        if let (Some((_, said)), Some(one)) = (session, logged(&command, argument)) {
            // What a statement of SQL prepares or executes is logged again behind it.
            let is_again = matches!(one, SessionAction::Prepared(_) | SessionAction::Executed(_))
                && matches!(said.last(), Some(SessionAction::Text(text)) if is_by_sql(text));
            if !is_again {
                said.push(one);
            }
        }
    }
    sessions.into_iter().map(|(_, said)| said).collect()
}

/// The way by which each of these sessions came: `TCP/IP`, `SSL/TLS`.
pub(crate) fn ways(root: &mut Connection) -> Vec<String> {
    let rows: Vec<(u64, String, Option<String>)> = root.rows(LOG).unwrap();
    let logins = rows.into_iter().filter_map(|(_, command, argument)| {
        let argument = unhex(&argument.unwrap_or_default());
        let is_login = command == "Connect" && argument.starts_with(&format!("{USER}@"));
        is_login.then_some(argument)
    });
    let way = |login: String| login.rsplit(" using ").next().unwrap().to_owned();
    logins.map(way).collect()
}

fn is_by_sql(text: &str) -> bool {
    let verb = text.split_whitespace().next().unwrap_or_default();
    ["PREPARE", "EXECUTE"]
        .iter()
        .any(|by_sql| verb.eq_ignore_ascii_case(by_sql))
}

fn logged(command: &str, argument: String) -> Option<SessionAction> {
    let login = |argument: &str| {
        let (user, rest) = argument.split_once('@').unwrap();
        let schema = rest.split_once(" on ").map_or("", |(_, schema)| schema);
        let schema = schema.split(" using ").next().unwrap_or_default();
        (user.to_owned(), schema.trim().to_owned())
    };
    Some(match command.to_ascii_lowercase().as_str() {
        "connect" => {
            let (user, schema) = login(&argument);
            SessionAction::Login(user, schema)
        }
        "change user" => {
            let (user, schema) = login(&argument);
            SessionAction::Changed(user, schema)
        }
        "init db" => SessionAction::Schema(argument),
        "query" => SessionAction::Text(argument),
        "prepare" => SessionAction::Prepared(argument),
        "execute" => SessionAction::Executed(argument),
        _ => return None,
    })
}

/// Bytes of any encoding as a text.
fn unhex(digits: &str) -> String {
    let pairs = digits.as_bytes().chunks(2);
    let bytes: Vec<u8> = pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    text(&bytes)
}

/// Bytes that are no UTF-8 each as a character of their own.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Reads a session of a capture.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    said: Vec<SessionAction>,
    prepared: HashMap<u32, Vec<u8>>,
    /// Commands that have not ended: what was said, and the text that is prepared.
    open: VecDeque<(Option<usize>, Option<Vec<u8>>)>,
    refused: Vec<usize>,
}

impl Reader {
    pub(crate) fn opened(&mut self, login: &Login) {
        self.said.push(SessionAction::Login(
            login.user.clone(),
            login.schema.clone(),
        ));
    }

    pub(crate) fn started(&mut self, started: &CommandStart) {
        let bytes = started.text();
        let said = match started.command {
            Command::Close => return,
            Command::Other => None,
            Command::Query => Some(SessionAction::Text(text(&bytes))),
            Command::Prepare => Some(SessionAction::Prepared(text(&bytes))),
            Command::Execute => Some(SessionAction::Executed(self.execution(started))),
            Command::UseSchema => Some(SessionAction::Schema(text(&bytes))),
            Command::Reset => Some(SessionAction::Reset),
            Command::ChangeUser => started
                .login
                .clone()
                .map(|login| SessionAction::Changed(login.user, login.schema)),
        };
        let number = said.is_some().then_some(self.said.len());
        self.said.extend(said);
        let prepares = started.command == Command::Prepare;
        self.open.push_back((number, prepares.then_some(bytes)));
    }

    fn execution(&self, started: &CommandStart) -> String {
        let prepared = self.prepared.get(&started.handle);
        let values: &[Value] = &started.values;
        let whole = prepared.and_then(|sql| inlined(sql, values));
        whole.map_or_else(|| format!("{started:?}"), |sql| text(&sql))
    }

    pub(crate) fn ended(&mut self, ended: &CommandEnd) {
        let (number, prepared) = self.open.pop_front().unwrap();
        if let (Some(handle), Some(sql)) = (ended.handle, prepared) {
            self.prepared.insert(handle, sql);
        }
        // Servers log a schema when the session is in it, and a preparation when it is made.
        if let Some(number) = number
            && matches!(
                self.said[number],
                SessionAction::Schema(_) | SessionAction::Prepared(_)
            )
            && ended.error != Some(0)
        {
            self.refused.push(number);
        }
    }

    pub(crate) fn into_said(mut self) -> Vec<SessionAction> {
        for number in self.open.into_iter().filter_map(|(number, _)| number) {
            let said = std::mem::replace(&mut self.said[number], SessionAction::Reset);
            self.said[number] = SessionAction::Unanswered(Box::new(said));
        }
        let kept = self.said.into_iter().enumerate();
        kept.filter(|(number, _)| !self.refused.contains(number))
            .map(|(_, said)| said)
            .collect()
    }
}

/// Differences that have a name, and how often; and all others.
pub(crate) fn differences(
    logged: &[SessionAction],
    captured: &[SessionAction],
) -> (BTreeMap<&'static str, usize>, Vec<String>) {
    let mut named = BTreeMap::new();
    let mut others = Vec::new();
    let mut logged = logged.iter().peekable();
    let (mut prepared, mut is_bulk) = (None, false);
    for said in captured {
        is_bulk &= matches!(said, SessionAction::Executed(_))
            && !logged.peek().is_some_and(|next| is_same(next, said));
        if is_bulk {
            continue;
        }
        // Neither server logs it.
        if *said == SessionAction::Reset {
            *named.entry("reset").or_default() += 1;
            continue;
        }
        // The server ended the session, perhaps before it read it.
        if let SessionAction::Unanswered(said) = said {
            *named.entry("no answer").or_default() += 1;
            logged.next_if(|next| is_same(next, said));
            continue;
        }
        let mut expected = logged.next();
        // MySQL prepares a statement anew for parameters of other types.
        while expected.is_some()
            && expected == prepared
            && !matches!(said, SessionAction::Prepared(_))
        {
            *named.entry("prepared again").or_default() += 1;
            expected = logged.next();
        }
        if matches!(said, SessionAction::Prepared(_)) {
            prepared = expected;
        }
        // MariaDB logs one line without parameters for a bulk execution.
        if let (Some(SessionAction::Executed(text)), SessionAction::Executed(_)) = (expected, said)
            && text.contains('?')
        {
            *named.entry("bulk execution").or_default() += 1;
            is_bulk = true;
            continue;
        }
        if expected.is_some_and(|expected| is_same(expected, said)) {
            // MariaDB logs a text of several statements, MySQL each of them.
            continue;
        }
        if let (Some(SessionAction::Text(first)), SessionAction::Text(all)) = (expected, said)
            && let Some(count) = statements_of(all, first, &mut logged)
        {
            *named.entry("several statements in one text").or_default() += count;
            continue;
        }
        others.push(format!("logged {expected:?}, captured {said:?}"));
        if others.len() > 5 {
            break;
        }
    }
    others.extend(logged.map(|said| format!("logged {said:?}, not captured")));
    (named, others)
}

/// Whether a text is that of several statements, of which the server logged the first and the next ones.
fn statements_of<'a>(
    all: &str,
    first: &str,
    logged: &mut std::iter::Peekable<impl Iterator<Item = &'a SessionAction>>,
) -> Option<usize> {
    let mut rest = all.strip_prefix(first.trim_end_matches(';'))?;
    let mut count = 1;
    while let Some(after) = rest.trim_start().strip_prefix(';') {
        let after = after.trim_start();
        if after.is_empty() {
            return Some(count);
        }
        let Some(SessionAction::Text(next)) = logged.next() else {
            return None;
        };
        rest = after.strip_prefix(next.trim_start().trim_end_matches(';'))?;
        count += 1;
    }
    rest.is_empty().then_some(count)
}

/// Whether both are the same, but for comments, which a capture leaves out, and for how a parameter is written.
fn is_same(logged: &SessionAction, captured: &SessionAction) -> bool {
    match (logged, captured) {
        // MySQL does not log a text that SQL prepares.
        (SessionAction::Text(logged), SessionAction::Text(captured))
            if logged.ends_with(" FROM ...") =>
        {
            is_by_sql(captured) && plain(captured).starts_with(plain(logged).trim_end_matches('.'))
        }
        (SessionAction::Text(logged), SessionAction::Text(captured))
        | (SessionAction::Prepared(logged), SessionAction::Prepared(captured))
        | (SessionAction::Executed(logged), SessionAction::Executed(captured)) => {
            // MariaDB logs the type of a time among parameters.
            let logged = plain(logged).replace("TIMESTAMP'", "'");
            let captured = plain(captured).replace("TIMESTAMP'", "'");
            logged == captured
                || is_in_other_charset(&captured) && ascii(&logged) == ascii(&captured)
        }
        (logged, captured) => logged == captured,
    }
}

/// Whether bytes were read as characters of their own. The log has them in the server's character set.
fn is_in_other_charset(text: &str) -> bool {
    text.chars().any(|c| ('\u{80}'..='\u{ff}').contains(&c))
}

/// What is the same in all character sets: a second byte may look like a backslash.
fn ascii(text: &str) -> String {
    let mut parts = text.split("\\x");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    // The log writes a byte that is no character as two digits.
    for part in parts {
        let is_byte = part
            .get(..2)
            .is_some_and(|two| two.bytes().all(|c| c.is_ascii_hexdigit()));
        plain.push_str(if is_byte { &part[2..] } else { part });
    }
    let is_same = |c: &char| c.is_ascii() && *c != '\\';
    plain.chars().filter(is_same).collect()
}

/// A text without blanks outside of strings' reach and without comments.
fn plain(sql: &str) -> String {
    let mut text = String::new();
    let mut rest = sql;
    while let Some(at) = rest.find("/*") {
        if rest[at..].starts_with("/*!") {
            text.push_str(&rest[..at + 3]);
            rest = &rest[at + 3..];
            continue;
        }
        text.push_str(&rest[..at]);
        rest = rest[at..].split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    // MariaDB's table of the log has three bytes for a character.
    let mut escaped = String::new();
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        let mut bytes = [0; 4];
        match c.encode_utf8(&mut bytes).as_bytes() {
            [a, b, c, d] => {
                // Writing into a string does not fail.
                let _ = write!(escaped, "\\x{a:02X}\\x{b:02X}\\x{c:02X}\\x{d:02X}");
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

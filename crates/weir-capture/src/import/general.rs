//! The general query log's file, as both servers write it: a statement when it begins, and no more.

use super::account::login;
use super::lines::{Lines, START_LINES};
use super::log_part::LogPart;
use super::parts::Span;
use super::sessions::{Entry, Sessions};
use super::spanning::lines_within;
use super::times::{iso_us, short_us};
use crate::CaptureError;
use crate::sql::{OpenText, has_marks, is_by_sql, is_of_routine};

/// Lines that are looked at for the first entry.
const LINES_LOOKED_AT: usize = 10_000;
/// Commands that an entry may have.
pub(super) const COMMANDS: [&str; 40] = [
    "Sleep",
    "Quit",
    "Init DB",
    "Query",
    "Field List",
    "Create DB",
    "Drop DB",
    "Refresh",
    "Shutdown",
    "Statistics",
    "Processlist",
    "Connect",
    "Kill",
    "Debug",
    "Ping",
    "Delayed insert",
    "Change user",
    "Prepare",
    "Execute",
    "Long Data",
    "Close stmt",
    "Reset stmt",
    "Set option",
    "Fetch",
    "Reset Connection",
    "Reset connection",
    "Time",
    "Binlog Dump",
    "Binlog Dump GTID",
    "Table Dump",
    "Connect Out",
    "Register Slave",
    "Register Replica",
    "Daemon",
    "Error",
    "Clone",
    "Bulk_execute",
    "Slave_IO",
    "Slave_SQL",
    "Slave_worker",
];

/// The beginning of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EntryStart {
    /// When, if this line tells.
    at_us: Option<i64>,
    connection: u64,
    command: &'static str,
    /// Where its text begins in the line.
    text_at: usize,
}

/// The first and the last time of the entries at the beginning of a part.
pub(super) fn span(part: &LogPart) -> Result<Option<Span>, CaptureError> {
    let mut lines = Lines::open_all(std::slice::from_ref(part))?;
    let mut span: Option<Span> = None;
    for _ in 0..LINES_LOOKED_AT {
        let Some(line) = lines.next()? else { break };
        if let Some(at_us) = begun(line).and_then(|begun| begun.at_us) {
            span = Some((span.map_or(at_us, |(first_us, _)| first_us), at_us));
        }
    }
    Ok(span)
}

/// Returns true if a line begins an entry.
pub(super) fn is_begun(line: &[u8]) -> bool {
    begun(line).is_some()
}

/// Returns true if a line has the time of its entry.
pub(super) fn has_time(line: &[u8]) -> bool {
    begun(line).is_some_and(|begun| begun.at_us.is_some())
}

/// Reads the log to its end. Entries before the first one with a time have that time.
pub(super) fn read(
    lines: &mut Lines,
    began_us: i64,
    sessions: &mut Sessions,
) -> Result<(), CaptureError> {
    let mut at_us = began_us;
    loop {
        if lines.is_start(0)? {
            lines.skip(START_LINES)?;
            continue;
        }
        let Some(line) = lines.next()? else {
            return Ok(());
        };
        let Some(start) = begun(line) else {
            sessions.unread();
            continue;
        };
        let text = line[start.text_at..].to_vec();
        at_us = start.at_us.unwrap_or(at_us);
        let mut entry = Entry {
            connection: start.connection,
            began_us: at_us,
            text,
            is_cut: !lines.is_whole(),
            ..Entry::default()
        };
        read_text(lines, &mut entry)?;
        command(start.command, entry, sessions)?;
    }
}

/// Reads the other lines of an entry.
fn read_text(lines: &mut Lines, entry: &mut Entry) -> Result<(), CaptureError> {
    let mut open = OpenText::default();
    open.push(&entry.text);
    loop {
        let count = if ends(lines, 0)? {
            let is_open = open.is_open();
            if is_open {
                lines_within(&open, lines, ends)?
            } else {
                0
            }
        } else {
            1
        };
        if count == 0 {
            return Ok(());
        }
        for _ in 0..count {
            let Some(line) = lines.next()? else { break };
            open.push(line);
            entry.text.push(b'\n');
            entry.text.extend_from_slice(line);
            entry.is_cut |= !lines.is_whole();
        }
    }
}

/// Returns true if an entry ends before the line that is so many after the next one.
fn ends(lines: &mut Lines, after: usize) -> Result<bool, CaptureError> {
    let is_begun = lines.peek(after)?.is_none_or(|line| begun(line).is_some());
    Ok(is_begun || lines.is_start(after)?)
}

/// The command of an entry of the log, in its file or its table; its text follows the command.
pub(super) fn command(
    name: &str,
    entry: Entry,
    sessions: &mut Sessions,
) -> Result<(), CaptureError> {
    let (connection, at_us) = (entry.connection, entry.began_us);
    let text = || String::from_utf8_lossy(&entry.text).into_owned();
    match name {
        "Connect" => match login(&text()) {
            Some(login) => sessions.open(connection, at_us, login),
            None => sessions.refuse(connection),
        },
        "Change user" => match login(&text()) {
            Some(login) => sessions.change(connection, at_us, login),
            None => sessions.refuse(connection),
        },
        "Reset Connection" | "Reset connection" => sessions.reset(connection, at_us),
        "Quit" => sessions.close(connection, at_us),
        "Init DB" => sessions.move_to(connection, &text(), 0),
        // What SQL prepares and executes is logged by itself, with its parameters.
        "Query" if is_by_sql(&entry.text) => Ok(()),
        // Functions, procedures and triggers are run by a statement that is logged itself.
        "Query" if is_of_routine(&entry.text) => {
            sessions.of_routine();
            Ok(())
        }
        // Parameters stand in the text of an execution.
        "Execute" if has_marks(&entry.text) => sessions.statement(Entry {
            is_bulk: true,
            ..entry
        }),
        "Query" | "Execute" => sessions.statement(entry),
        _ => Ok(()),
    }
}

/// Reads a line that begins an entry.
fn begun(line: &[u8]) -> Option<EntryStart> {
    let head = &line[..line.len().min(200)];
    let head = match std::str::from_utf8(head) {
        Ok(head) => head,
        // The statement may be of any encoding; what stands before it is ASCII.
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let mut rest = head;
    let at_us = time(&mut rest);
    if at_us.is_none() && !head.starts_with("\t\t") {
        return None;
    }
    let rest = rest.trim_start_matches(['\t', ' ']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let connection = rest.get(..digits)?.parse().ok()?;
    let after = rest[digits..].strip_prefix(' ')?;
    let command = COMMANDS.iter().find(|command| {
        let rest = after.strip_prefix(*command);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('\t'))
    })?;
    let text = after[command.len()..].strip_prefix('\t').unwrap_or("");
    Some(EntryStart {
        at_us,
        connection,
        command,
        text_at: head.len() - text.len(),
    })
}

/// Takes the time from the beginning of a line.
fn time(rest: &mut &str) -> Option<i64> {
    let (first, after) = rest.split_once(['\t', ' '])?;
    if let Some(at_us) = iso_us(first) {
        *rest = after;
        return Some(at_us);
    }
    let after = after.trim_start_matches(' ');
    let (second, after) = after.split_once('\t')?;
    let at_us = short_us(first, second)?;
    *rest = after;
    Some(at_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_both_servers_begin() {
        for (line, connection, command, text, has_time) in [
            (
                "2026-11-25T14:00:00.123456Z\t    8 Query\tSELECT 1",
                8,
                "Query",
                "SELECT 1",
                true,
            ),
            (
                "261125 14:00:00\t     9 Connect\troot@localhost on x",
                9,
                "Connect",
                "root@localhost on x",
                true,
            ),
            ("\t\t    10 Init DB\tshop", 10, "Init DB", "shop", false),
            (
                "2026-11-25T14:00:00.123456Z\t    8 Quit\t",
                8,
                "Quit",
                "",
                true,
            ),
        ] {
            let found = begun(line.as_bytes()).unwrap();
            assert_eq!((found.connection, found.command), (connection, command));
            assert_eq!(&line[found.text_at..], text);
            assert_eq!(found.at_us.is_some(), has_time);
        }
        for line in [
            "  FROM t",
            "WHERE a = 5 Query\tx",
            "",
            "\t\tFROM t",
            "\u{e9}",
        ] {
            assert_eq!(begun(line.as_bytes()), None, "{line}");
        }
    }
}

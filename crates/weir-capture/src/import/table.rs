//! The tables `mysql.slow_log` and `mysql.general_log`, as the files of their engine: `slow_log.CSV`, `general_log.CSV`.
//!
//! Each row is a line; texts stand in double quotes, with backslashes before quotes, backslashes and line ends. Times are
//! in the server's time zone. `start_time` of a slow log is when the statement ended on `MySQL`, and when it began on
//! `MariaDB` (a test says so).

use super::account::user_name;
use super::general::{COMMANDS, command};
use super::lines::Lines;
use super::log_part::LogPart;
use super::parts::Span;
use super::placing::Placer;
use super::sessions::{Entry, Sessions};
use super::slow::{Step, put};
use super::times::table_us;
use crate::CaptureError;

/// Columns of a row of each table, at least.
const SLOW_COLUMNS: usize = 12;
const GENERAL_COLUMNS: usize = 6;
/// Position of the changed rows, a column of `MariaDB` only.
const AFFECTED: usize = 12;
/// Rows that are looked at for their times.
const ROWS_LOOKED_AT: usize = 10_000;

/// Content of a row.
enum Row {
    Slow(Box<Entry>),
    /// With its command.
    General(String, Box<Entry>),
}

/// When the first row's statement began; `None` if the file is of no such table.
pub(super) fn began(lines: &mut Lines) -> Result<Option<i64>, CaptureError> {
    let Some(line) = lines.next()? else {
        return Ok(None);
    };
    Ok(row(line).map(|row| match row {
        Row::Slow(entry) | Row::General(_, entry) => entry.began_us,
    }))
}

/// The first and the last time of the rows at the beginning of a part.
pub(super) fn span(part: &LogPart) -> Result<Option<Span>, CaptureError> {
    let mut lines = Lines::open_all(std::slice::from_ref(part))?;
    let mut span: Option<Span> = None;
    for _ in 0..ROWS_LOOKED_AT {
        let Some(line) = lines.next()? else { break };
        if let Some(Row::Slow(entry) | Row::General(_, entry)) = row(line) {
            let at_us = entry.ended_us();
            span = Some((span.map_or(at_us, |(first_us, _)| first_us), at_us));
        }
    }
    Ok(span)
}

/// Returns true if the first row is one of the slow log.
pub(super) fn is_slow(lines: &mut Lines) -> Result<bool, CaptureError> {
    let line = lines.next()?;
    Ok(line
        .and_then(row)
        .is_some_and(|row| matches!(row, Row::Slow(_))))
}

/// Reads the rows.
pub(super) fn read(lines: &mut Lines, sessions: &mut Sessions) -> Result<(), CaptureError> {
    let mut placer = Placer::default();
    while let Some(line) = lines.next()? {
        match row(line) {
            None if line.is_empty() => {}
            None => sessions.unread(),
            Some(Row::Slow(entry)) => {
                let step = match administration(&entry.text) {
                    Some(name) => Step::Administration(name, entry),
                    None => Step::Statement(entry),
                };
                placer.push(step, &mut |placed| put(placed, sessions))?;
            }
            Some(Row::General(name, entry)) => command(&name, *entry, sessions)?,
        }
    }
    placer.finish(&mut |placed| put(placed, sessions))
}

/// The name of a command that is no statement, which stands in place of its text.
fn administration(text: &[u8]) -> Option<String> {
    let is_it = |name: &&&str| name.as_bytes() == text;
    COMMANDS.iter().find(is_it).map(|name| (*name).to_owned())
}

fn row(line: &[u8]) -> Option<Row> {
    let fields = fields(line)?;
    let text = |at: usize| {
        fields
            .get(at)
            .map(|field| String::from_utf8_lossy(field).into_owned())
    };
    let number = |at: usize| text(at)?.parse::<u64>().ok();
    let at_us = table_us(&text(0)?)?;
    let user = user_name(&text(1)?);
    if fields.len() >= SLOW_COLUMNS {
        let took_us = duration_us(&text(2)?)?;
        // `MariaDB` notes the begin by the session's clock, MySQL the end by the server's (observed on 5.7 to 9.7).
        let is_of_mariadb = number(AFFECTED).is_some();
        let began_us = if is_of_mariadb {
            at_us
        } else {
            at_us.checked_sub_unsigned(took_us)?
        };
        return Some(Row::Slow(Box::new(Entry {
            connection: number(11)?,
            user,
            schema: text(6).filter(|schema| !schema.is_empty()),
            began_us,
            took_us: Some(took_us),
            is_of_server_clock: !is_of_mariadb,
            text: fields[10].clone(),
            is_cut: false,
            is_bulk: false,
            lacks_values: false,
            rows: number(4),
            // The file does not name its server, and some versions of `MariaDB` add the rows of triggers.
            affected: None,
            error: None,
        })));
    }
    (fields.len() >= GENERAL_COLUMNS).then(|| {
        let entry = Entry {
            connection: number(2)?,
            user,
            began_us: at_us,
            text: fields[5].clone(),
            ..Entry::default()
        };
        Some(Row::General(text(4)?, Box::new(entry)))
    })?
}

/// `00:00:01.500000`, microseconds.
fn duration_us(text: &str) -> Option<u64> {
    let mut parts = text.split(':');
    let (hours, minutes) = (
        parts.next()?.parse::<u64>().ok()?,
        parts.next()?.parse::<u64>().ok()?,
    );
    let seconds: f64 = parts.next()?.parse().ok()?;
    let is_time = hours < 1_000 && minutes < 60 && (0.0..60.0).contains(&seconds);
    is_time.then(|| (hours * 3_600 + minutes * 60) * 1_000_000 + (seconds * 1e6).round() as u64)
}

/// The fields of a line; `None` if it is none of the engine's.
fn fields(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let mut field = Vec::new();
        if let [b'"', inner @ ..] = rest {
            rest = inner;
            loop {
                match rest {
                    [b'"', after @ ..] => {
                        rest = after;
                        break;
                    }
                    [b'\\', escaped, after @ ..] => {
                        field.push(match escaped {
                            b'n' => b'\n',
                            b'r' => b'\r',
                            other => *other,
                        });
                        rest = after;
                    }
                    [byte, after @ ..] => {
                        field.push(*byte);
                        rest = after;
                    }
                    [] => return None,
                }
            }
        } else {
            let end = rest
                .iter()
                .position(|byte| *byte == b',')
                .unwrap_or(rest.len());
            field.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
        }
        fields.push(field);
        match rest {
            [] => return Some(fields),
            [b',', after @ ..] => rest = after,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_tables_are_read() {
        let slow = br#""2026-11-25 10:00:02.500000","app[app] @ localhost []","00:00:01.500000","00:00:00.000001",1,2,"shop",0,0,1,"SELECT \"a\nb\", 'x\\y'",8,3"#;
        let Some(Row::Slow(entry)) = row(slow) else {
            panic!("a slow row");
        };
        assert_eq!(
            (entry.connection, &*entry.user, entry.affected),
            (8, "app", None)
        );
        assert_eq!(entry.text, b"SELECT \"a\nb\", 'x\\y'");
        assert_eq!(entry.took_us, Some(1_500_000));
        assert_eq!(entry.began_us % 60_000_000, 2_500_000);
        let of_mysql = slow.strip_suffix(b",3").unwrap();
        let Some(Row::Slow(entry)) = row(of_mysql) else {
            panic!("a slow row");
        };
        assert_eq!(entry.began_us % 60_000_000, 1_000_000);
        assert_eq!(
            administration(b"Reset Connection").as_deref(),
            Some("Reset Connection")
        );
        assert_eq!(administration(b"SELECT 1"), None);
        let general =
            br#""2026-11-25 10:00:02.500000","app[app] @ localhost []",8,1,"Query","SELECT 1""#;
        let Some(Row::General(command, entry)) = row(general) else {
            panic!("a row of the general log");
        };
        assert_eq!((&*command, entry.connection), ("Query", 8));
        for wrong in [&b""[..], b"\"", b"\"2026-11-25 10:00:02\"", b"# Time: 1"] {
            assert!(row(wrong).is_none());
        }
    }
}

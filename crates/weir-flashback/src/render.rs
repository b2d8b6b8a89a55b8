//! Values of the log as people read them, and as SQL takes them.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use jiff::Timestamp;
use weir_mysql::binlog::{
    ColumnFormat, Field, LogValue, MalformedEvent, RowImage, TableMap, decode,
};
use weir_mysql::identifier;

use crate::{Column, Table};

/// Character sets whose texts are UTF-8.
const UTF8: [&str; 5] = ["utf8mb4", "utf8mb3", "utf8", "ascii", "uca1400"];
/// Character sets that have ASCII in other places.
const WIDE: [&str; 7] = ["ucs2", "utf16", "utf16le", "utf32", "swe7", "sjis", "cp932"];
/// The places 0x80 to 0x9F of code page 1252; the servers keep its five holes as control characters.
const CP1252: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
];
/// Longest text that is shown whole, characters.
const SHOWN: usize = 80;

/// Content of a row image for a column of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Nothing, or not the whole.
    Unknown,
    Null,
    Value(LogValue),
}

/// All cells of an image of which `fields` are known, for the columns that the table has now.
pub(crate) fn cells(
    table: &Table,
    map: &TableMap,
    image: &RowImage<'_>,
    fields: &[Field<'_>],
) -> Result<Vec<Cell>, MalformedEvent> {
    let cell = |at: usize, column: &Column| {
        let (Some(field), Some(format)) = (fields.get(at), map.columns.get(at)) else {
            return Ok(Cell::Unknown);
        };
        Ok(match field {
            Field::Absent => Cell::Unknown,
            Field::Null => Cell::Null,
            // A difference is no document.
            Field::Value(_) if image.is_partial && column.data_type == "json" => Cell::Unknown,
            Field::Value(value) => Cell::Value(value_of(*format, value, column)?),
        })
    };
    let numbered = table.columns.iter().enumerate();
    numbered.map(|(at, column)| cell(at, column)).collect()
}

fn value_of(
    format: ColumnFormat,
    value: &[u8],
    column: &Column,
) -> Result<LogValue, MalformedEvent> {
    let decoded = decode(format, value, column.is_unsigned())?;
    // The log leaves out the zero bytes at the end that such a value has.
    let length = match column.data_type.as_str() {
        "binary" => declared_length(column),
        "uuid" | "inet6" => 16,
        "inet4" => 4,
        _ => 0,
    };
    match decoded {
        LogValue::Bytes(mut bytes) => {
            bytes.resize(bytes.len().max(length), 0);
            Ok(LogValue::Bytes(bytes))
        }
        decoded => Ok(decoded),
    }
}

/// The number in `binary(8)`.
fn declared_length(column: &Column) -> usize {
    let digits = column.column_type.split(['(', ')']).nth(1);
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Members of an ENUM or a SET.
fn members(column: &Column) -> Vec<String> {
    let inner = column
        .column_type
        .split_once('(')
        .and_then(|(_, rest)| rest.rsplit_once(')'));
    let mut rest = inner.map_or("", |(inner, _)| inner);
    let mut found = Vec::new();
    while let Some(start) = rest.find('\'') {
        let mut member = String::new();
        let mut characters = rest[start + 1..].char_indices().peekable();
        let mut end = rest.len();
        while let Some((at, c)) = characters.next() {
            if c == '\'' {
                if characters.next_if(|(_, next)| *next == '\'').is_none() {
                    end = start + 1 + at + 1;
                    break;
                }
                member.push('\'');
            } else {
                member.push(c);
            }
        }
        found.push(member);
        rest = &rest[end.min(rest.len())..];
    }
    found
}

/// A text if the bytes are one in UTF-8, or letters that nearly every character set has in the same places.
fn utf8<'a>(bytes: &'a [u8], column: &Column) -> Option<&'a str> {
    let charset = column.charset.as_deref()?;
    let is_utf8 = UTF8.iter().any(|known| charset.starts_with(known));
    let is_wide = WIDE.contains(&charset);
    if is_utf8 || (bytes.is_ascii() && !is_wide && charset != "binary") {
        std::str::from_utf8(bytes).ok()
    } else {
        None
    }
}

/// As [`utf8`], for reading: also `latin1`, which is Windows' code page 1252 to the servers.
fn readable(bytes: &[u8], column: &Column) -> Option<String> {
    if column.charset.as_deref() == Some("latin1") {
        let character = |byte: &u8| match byte {
            0x80..=0x9F => CP1252[usize::from(byte - 0x80)],
            other => char::from(*other),
        };
        return Some(bytes.iter().map(character).collect());
    }
    address(bytes, column).or_else(|| utf8(bytes, column).map(str::to_owned))
}

/// The value of a UUID or of an address, as the server prints it.
fn address(bytes: &[u8], column: &Column) -> Option<String> {
    match column.data_type.as_str() {
        "uuid" => {
            let digits = hex(bytes).to_ascii_lowercase();
            let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits.get(part));
            Some(parts.into_iter().collect::<Option<Vec<_>>>()?.join("-"))
        }
        "inet6" => Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_string()),
        "inet4" => Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).to_string()),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02X}");
    }
    text
}

fn member_name(column: &Column, number: u64) -> Option<String> {
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    members(column).into_iter().nth(at)
}

fn member_names(column: &Column, bits: u64) -> String {
    let names = members(column).into_iter().enumerate();
    let names: Vec<_> = names
        .filter(|(at, _)| bits >> at & 1 == 1)
        .map(|(_, name)| name)
        .collect();
    names.join(",")
}

/// A point of time in UTC; the log has seconds since 1970, of which 0 is no time.
fn timestamp(seconds: &str) -> String {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let whole = whole.parse().unwrap_or(0);
    let mut text = match (whole, Timestamp::from_second(whole)) {
        (0, _) | (_, Err(_)) => "0000-00-00 00:00:00".to_owned(),
        (_, Ok(time)) => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    };
    if !fraction.is_empty() {
        let _ = write!(text, ".{fraction}");
    }
    text
}

/// A value for people. Texts are in quotes only where they stand beside others.
pub(crate) fn text(column: &Column, cell: &Cell) -> String {
    let value = match cell {
        Cell::Unknown => return "(not logged)".to_owned(),
        Cell::Null => return "NULL".to_owned(),
        Cell::Value(value) => value,
    };
    match value {
        LogValue::Int(number) => number.to_string(),
        LogValue::UInt(number) | LogValue::Bits(number) => number.to_string(),
        LogValue::Float(number) => number.to_string(),
        LogValue::Double(number) => number.to_string(),
        LogValue::Plain(text) | LogValue::Json(text) => text.clone(),
        LogValue::Timestamp(seconds) => timestamp(seconds),
        LogValue::Bytes(bytes) => match readable(bytes, column) {
            Some(text) => text,
            None => format!("0x{}", hex(bytes)),
        },
        LogValue::Member(number) => member_name(column, *number).unwrap_or_default(),
        LogValue::Members(bits) => member_names(column, *bits),
    }
}

/// As [`text`], short and in quotes, for a line with others.
pub(crate) fn quoted(column: &Column, cell: &Cell) -> String {
    let text = text(column, cell);
    let shown: String = text.chars().take(SHOWN).collect();
    let shown: String = shown.escape_debug().collect();
    let more = if text.chars().count() > SHOWN {
        "..."
    } else {
        ""
    };
    match cell {
        Cell::Value(LogValue::Bytes(_) | LogValue::Member(_) | LogValue::Members(_)) => {
            format!("'{shown}{more}'")
        }
        _ => format!("{shown}{more}"),
    }
}

/// A string of SQL that every mode reads alike.
pub(crate) fn string(text: &str) -> String {
    if text.contains(['\'', '\\']) || text.chars().any(char::is_control) {
        return format!("_utf8mb4 X'{}'", hex(text.as_bytes()));
    }
    format!("'{text}'")
}

/// A value as SQL takes it, in a session of UTC whose texts are UTF-8.
pub(crate) fn literal(column: &Column, cell: &Cell) -> String {
    let value = match cell {
        Cell::Unknown | Cell::Null => return "NULL".to_owned(),
        Cell::Value(value) => value,
    };
    match value {
        LogValue::Int(number) => number.to_string(),
        LogValue::UInt(number)
        | LogValue::Bits(number)
        | LogValue::Member(number)
        | LogValue::Members(number) => number.to_string(),
        // The digits of the DOUBLE that is equal: it becomes the same FLOAT again.
        LogValue::Float(number) => format!("{:e}", f64::from(*number)),
        LogValue::Double(number) => format!("{number:e}"),
        LogValue::Plain(text) if column.data_type == "decimal" => text.clone(),
        LogValue::Plain(text) => format!("'{text}'"),
        LogValue::Timestamp(seconds) => format!("'{}'", timestamp(seconds)),
        LogValue::Json(text) => format!("CAST({} AS JSON)", string(text)),
        LogValue::Bytes(bytes) => bytes_literal(column, bytes),
    }
}

fn bytes_literal(column: &Column, bytes: &[u8]) -> String {
    match (utf8(bytes, column), &column.charset) {
        (Some(text), _) => string(text),
        (None, Some(charset)) if charset != "binary" => format!("_{charset} X'{}'", hex(bytes)),
        _ => match column.data_type.as_str() {
            "uuid" | "inet6" | "inet4" => {
                format!("CAST(X'{}' AS BINARY({}))", hex(bytes), bytes.len())
            }
            _ => format!("X'{}'", hex(bytes)),
        },
    }
}

/// A condition that a column holds exactly this; none where SQL cannot tell.
pub(crate) fn guard(column: &Column, cell: &Cell) -> Option<String> {
    let name = identifier(&column.name);
    let value = match cell {
        Cell::Unknown => return None,
        Cell::Null => return Some(format!("{name} IS NULL")),
        Cell::Value(value) => value,
    };
    match value {
        // Collations take different texts for the same.
        LogValue::Bytes(bytes) => match column.data_type.as_str() {
            "char" | "varchar" | "binary" | "varbinary" | "tinytext" | "text" | "mediumtext"
            | "longtext" | "tinyblob" | "blob" | "mediumblob" | "longblob" => {
                Some(format!("CAST({name} AS BINARY) <=> X'{}'", hex(bytes)))
            }
            "uuid" | "inet6" | "inet4" => Some(format!(
                "CAST({name} AS BINARY({})) <=> X'{}'",
                bytes.len(),
                hex(bytes)
            )),
            // Shapes and vectors.
            _ => Some(format!("HEX({name}) <=> '{}'", hex(bytes))),
        },
        LogValue::Member(_) | LogValue::Members(_) | LogValue::Bits(_) => {
            let number = literal(column, cell);
            Some(format!("CAST({name} AS UNSIGNED) <=> {number}"))
        }
        _ => Some(format!("{name} <=> {}", literal(column, cell))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(column_type: &str) -> Column {
        Column {
            name: "c".to_owned(),
            data_type: column_type.split('(').next().unwrap_or_default().to_owned(),
            column_type: column_type.to_owned(),
            charset: Some("utf8mb4".to_owned()),
            is_generated: false,
            is_virtual: false,
        }
    }

    #[test]
    fn members_are_found_by_number_and_by_bits() {
        let column = column("enum('a','it''s','c,d')");
        assert_eq!(members(&column), ["a", "it's", "c,d"]);
        assert_eq!(member_name(&column, 2).as_deref(), Some("it's"));
        assert_eq!(member_name(&column, 0), None);
        assert_eq!(member_names(&column, 0b101), "a,c,d");
    }

    #[test]
    fn texts_that_modes_read_differently_are_written_as_bytes() {
        assert_eq!(string("it is"), "'it is'");
        assert_eq!(string("it's"), "_utf8mb4 X'69742773'");
        assert_eq!(string("\\"), "_utf8mb4 X'5C'");
        assert_eq!(timestamp("0"), "0000-00-00 00:00:00");
        assert_eq!(timestamp("1.50"), "1970-01-01 00:00:01.50");
    }
}

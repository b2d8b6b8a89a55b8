//! One value of a row, for printing.
//!
//! `mysql_common` decodes dates and JSON. Decimals, times, timestamps and years are read by this crate: the library's
//! versions overflow at damaged digits, stop at 2038 and at year 0000, and at negative fractions.

use std::fmt::Write as _;
use std::io::Read as _;

use mysql_common::Value;
use mysql_common::binlog::value::BinlogValue;
use mysql_common::constants::ColumnType;
use mysql_common::io::ParseBuf;

use crate::binlog::bytes::Bytes;
use crate::binlog::value_length::{
    BIT, BLOB, DATE, DOUBLE, ENUM, FLOAT, GEOMETRY, INT24, JSON, LONG, LONG_BLOB, LONGLONG,
    MARIADB_BLOB_COMPRESSED, MARIADB_VARCHAR_COMPRESSED, MEDIUM_BLOB, NEWDATE, NEWDECIMAL, SET,
    SHORT, STRING, TIME2, TIMESTAMP, TIMESTAMP2, TINY, TINY_BLOB, VAR_STRING, VARCHAR, VECTOR,
    YEAR, fraction_bytes, string_bytes_max,
};
use crate::binlog::{ColumnFormat, MalformedEvent, decimal};

/// Longest value of a compressed column, bytes.
const COMPRESSED_MAX: u64 = 1 << 30;

/// A value of a row. Equal ones are equal bit for bit: two zeros of a DOUBLE differ.
#[derive(Debug, Clone)]
pub enum LogValue {
    /// A whole number.
    Int(i64),
    /// A whole number of an unsigned column.
    UInt(u64),
    /// A FLOAT.
    Float(f32),
    /// A DOUBLE.
    Double(f64),
    /// Digits, a date or a time, as the server prints it.
    Plain(String),
    /// s since 1970 with decimals, if the column has some.
    Timestamp(String),
    /// Bytes in the column's character set, or of a binary column.
    Bytes(Vec<u8>),
    /// Bits, as a number.
    Bits(u64),
    /// The number of an ENUM's member, from 1.
    Member(u64),
    /// A SET's members as bits.
    Members(u64),
    /// A JSON text.
    Json(String),
}

impl PartialEq for LogValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => one == two,
            (Self::UInt(one), Self::UInt(two))
            | (Self::Bits(one), Self::Bits(two))
            | (Self::Member(one), Self::Member(two))
            | (Self::Members(one), Self::Members(two)) => one == two,
            (Self::Float(one), Self::Float(two)) => one.to_bits() == two.to_bits(),
            (Self::Double(one), Self::Double(two)) => one.to_bits() == two.to_bits(),
            (Self::Plain(one), Self::Plain(two))
            | (Self::Timestamp(one), Self::Timestamp(two))
            | (Self::Json(one), Self::Json(two)) => one == two,
            (Self::Bytes(one), Self::Bytes(two)) => one == two,
            _ => false,
        }
    }
}

/// Decodes a value. `is_unsigned`: the log does not always say it.
///
/// # Errors
///
/// A value that is not one of its column.
pub fn decode(
    column: ColumnFormat,
    value: &[u8],
    is_unsigned: bool,
) -> Result<LogValue, MalformedEvent> {
    let mut bytes = Bytes(value);
    let [low, high] = column.metadata;
    match column.column_type {
        TINY | SHORT | INT24 | LONG | LONGLONG => {
            let number = bytes.uint(value.len())?;
            if is_unsigned {
                return Ok(LogValue::UInt(number));
            }
            let shift = 64 - 8 * value.len() as u32;
            Ok(LogValue::Int((number << shift).cast_signed() >> shift))
        }
        FLOAT => Ok(LogValue::Float(f32::from_bits(bytes.u32()?))),
        DOUBLE => Ok(LogValue::Double(f64::from_bits(bytes.u64()?))),
        YEAR => Ok(LogValue::Plain(match bytes.u8()? {
            0 => "0000".to_owned(),
            year => (1900 + u32::from(year)).to_string(),
        })),
        TIMESTAMP => Ok(LogValue::Timestamp(bytes.u32()?.to_string())),
        TIMESTAMP2 => {
            let seconds = bytes.uint_big_endian(4)?;
            let fraction = fraction(&mut bytes, low)?;
            Ok(LogValue::Timestamp(with_fraction(
                seconds.to_string(),
                fraction,
                low,
            )))
        }
        TIME2 => time(value, low).map(LogValue::Plain),
        NEWDECIMAL => decimal::text(value, low, high).map(LogValue::Plain),
        BIT => Ok(LogValue::Bits(bytes.uint_big_endian(value.len())?)),
        ENUM | SET => member(column.column_type, &mut bytes, value.len()),
        STRING if matches!(low, ENUM | SET) => member(low, &mut bytes, value.len()),
        STRING => Ok(bytes_after(
            value,
            length_width(string_bytes_max(low, high)),
        )),
        VARCHAR | VAR_STRING => {
            let width = length_width(u16::from_le_bytes([low, high]));
            Ok(bytes_after(value, width))
        }
        TINY_BLOB | MEDIUM_BLOB | LONG_BLOB | BLOB | GEOMETRY | VECTOR => {
            Ok(bytes_after(value, usize::from(low)))
        }
        MARIADB_BLOB_COMPRESSED => {
            compressed(value.get(usize::from(low)..).unwrap_or_default()).map(LogValue::Bytes)
        }
        MARIADB_VARCHAR_COMPRESSED => {
            let width = length_width(u16::from_le_bytes([low, high]));
            compressed(value.get(width..).unwrap_or_default()).map(LogValue::Bytes)
        }
        // An empty document is what MySQL stores for NULL of a column that became NOT NULL.
        JSON if value.len() <= usize::from(low) => Ok(LogValue::Json("null".to_owned())),
        _ => by_library(column, value),
    }
}

/// Bytes of the length before a string whose column has at most so many bytes.
fn length_width(bytes_max: u16) -> usize {
    if bytes_max < 256 { 1 } else { 2 }
}

/// The bytes of a string, which follow `width` bytes with its length.
fn bytes_after(value: &[u8], width: usize) -> LogValue {
    LogValue::Bytes(value.get(width..).unwrap_or_default().to_vec())
}

/// Returns the content of a compressed column of `MariaDB`. The column has a byte that tells the method, the length,
/// then the compressed bytes.
fn compressed(value: &[u8]) -> Result<Vec<u8>, MalformedEvent> {
    let Some((first, rest)) = value.split_first() else {
        return Ok(Vec::new());
    };
    if *first == 0 {
        return Ok(rest.to_vec());
    }
    if first & 0xF0 != 0x80 {
        return Err(MalformedEvent("a compressed column does not begin as one"));
    }
    // The lowest bits are the bytes of the length; one bit says that there is no zlib header.
    let mut bytes = Bytes(rest);
    bytes.take(usize::from(first & 0x07))?;
    let mut plain = Vec::new();
    let read = if first & 0x08 == 0 {
        flate2::read::ZlibDecoder::new(bytes.0)
            .take(COMPRESSED_MAX)
            .read_to_end(&mut plain)
    } else {
        flate2::read::DeflateDecoder::new(bytes.0)
            .take(COMPRESSED_MAX)
            .read_to_end(&mut plain)
    };
    read.map_err(|_| MalformedEvent("a compressed column is damaged"))?;
    Ok(plain)
}

fn by_library(column: ColumnFormat, value: &[u8]) -> Result<LogValue, MalformedEvent> {
    let undecoded = MalformedEvent("a value does not decode");
    let column_type = match column.column_type {
        DATE => NEWDATE,
        other => other,
    };
    let column_type = ColumnType::try_from(column_type).map_err(|_| undecoded)?;
    let context = (column_type, &column.metadata[..], false, false);
    let decoded = ParseBuf(value).parse::<BinlogValue<'_>>(context);
    match decoded.map_err(|_| undecoded)? {
        BinlogValue::Jsonb(json) => {
            let json = serde_json(json).ok_or(undecoded)?;
            Ok(LogValue::Json(json))
        }
        BinlogValue::Value(Value::Bytes(text)) => {
            Ok(LogValue::Plain(String::from_utf8_lossy(&text).into_owned()))
        }
        BinlogValue::Value(Value::Date(year, month, day, hour, minute, second, micros)) => {
            let mut text = format!("{year:04}-{month:02}-{day:02}");
            if column.column_type != DATE && column.column_type != NEWDATE {
                let _ = write!(text, " {hour:02}:{minute:02}:{second:02}");
                text = with_fraction(text, micros, column.metadata[0]);
            }
            Ok(LogValue::Plain(text))
        }
        BinlogValue::Value(other) => Ok(LogValue::Plain(
            other.as_sql(true).trim_matches('\'').to_owned(),
        )),
        BinlogValue::JsonDiff(_) => Err(undecoded),
    }
}

fn serde_json(json: mysql_common::binlog::jsonb::Value<'_>) -> Option<String> {
    match Value::try_from(BinlogValue::Jsonb(json)).ok()? {
        Value::Bytes(text) => String::from_utf8(text).ok(),
        _ => None,
    }
}

fn member(kind: u8, bytes: &mut Bytes<'_>, width: usize) -> Result<LogValue, MalformedEvent> {
    let number = bytes.uint(width)?;
    Ok(match kind {
        ENUM => LogValue::Member(number),
        _ => LogValue::Members(number),
    })
}

/// The decimals of a TIMESTAMP, µs.
fn fraction(bytes: &mut Bytes<'_>, decimals: u8) -> Result<u32, MalformedEvent> {
    let digits = bytes.uint_big_endian(fraction_bytes(decimals))? as u32;
    Ok(digits * unit(decimals))
}

/// Returns one step of the stored decimals, µs.
fn unit(decimals: u8) -> u32 {
    match fraction_bytes(decimals) {
        1 => 10_000,
        2 => 100,
        _ => 1,
    }
}

fn with_fraction(mut text: String, micros: u32, decimals: u8) -> String {
    if decimals > 0 {
        let digits = format!("{micros:06}");
        let _ = write!(text, ".{}", &digits[..usize::from(decimals.min(6))]);
    }
    text
}

/// A TIME: one big-endian number with the sign as an offset, whose last bytes are decimals.
fn time(value: &[u8], decimals: u8) -> Result<String, MalformedEvent> {
    let width = 3 + fraction_bytes(decimals);
    let raw = Bytes(value).uint_big_endian(width)?;
    let fraction_bits = 8 * fraction_bytes(decimals) as u32;
    let offset = 0x0080_0000_u64 << fraction_bits;
    let (sign, packed) = if raw >= offset {
        ("", raw - offset)
    } else {
        ("-", offset - raw)
    };
    let whole = packed >> fraction_bits;
    let micros = (packed & ((1 << fraction_bits) - 1)) as u32 * unit(decimals);
    let text = format!(
        "{sign}{:02}:{:02}:{:02}",
        (whole >> 12) & 0x3FF,
        (whole >> 6) & 0x3F,
        whole & 0x3F
    );
    Ok(with_fraction(text, micros, decimals))
}

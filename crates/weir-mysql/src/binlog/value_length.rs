//! Length of a value, by the type of its column. Nothing else of a value is looked at.
//!
//! MySQL: `sql/log_event.cc` documents the types' metadata; "Date and Time Data Type Representation" the
//! temporal ones.

use crate::binlog::bytes::Bytes;
use crate::binlog::{ColumnFormat, MalformedEvent, decimal};

pub(crate) const TINY: u8 = 1;
pub(crate) const SHORT: u8 = 2;
pub(crate) const LONG: u8 = 3;
pub(crate) const FLOAT: u8 = 4;
pub(crate) const DOUBLE: u8 = 5;
pub(crate) const NULL: u8 = 6;
pub(crate) const TIMESTAMP: u8 = 7;
pub(crate) const LONGLONG: u8 = 8;
pub(crate) const INT24: u8 = 9;
pub(crate) const DATE: u8 = 10;
pub(crate) const TIME: u8 = 11;
pub(crate) const DATETIME: u8 = 12;
pub(crate) const YEAR: u8 = 13;
pub(crate) const NEWDATE: u8 = 14;
pub(crate) const VARCHAR: u8 = 15;
pub(crate) const BIT: u8 = 16;
pub(crate) const TIMESTAMP2: u8 = 17;
pub(crate) const DATETIME2: u8 = 18;
pub(crate) const TIME2: u8 = 19;
pub(crate) const MARIADB_BLOB_COMPRESSED: u8 = 140;
pub(crate) const MARIADB_VARCHAR_COMPRESSED: u8 = 141;
pub(crate) const VECTOR: u8 = 242;
pub(crate) const JSON: u8 = 245;
pub(crate) const NEWDECIMAL: u8 = 246;
pub(crate) const ENUM: u8 = 247;
pub(crate) const SET: u8 = 248;
pub(crate) const TINY_BLOB: u8 = 249;
pub(crate) const MEDIUM_BLOB: u8 = 250;
pub(crate) const LONG_BLOB: u8 = 251;
pub(crate) const BLOB: u8 = 252;
pub(crate) const VAR_STRING: u8 = 253;
pub(crate) const STRING: u8 = 254;
pub(crate) const GEOMETRY: u8 = 255;

/// Bytes of metadata that a type has in the table map.
pub(crate) fn metadata_bytes(column_type: u8) -> Result<usize, MalformedEvent> {
    Ok(match column_type {
        TINY | SHORT | LONG | NULL | TIMESTAMP | LONGLONG | INT24 | DATE | TIME | DATETIME
        | YEAR | NEWDATE => 0,
        FLOAT
        | DOUBLE
        | TIMESTAMP2
        | DATETIME2
        | TIME2
        | VECTOR
        | JSON
        | TINY_BLOB
        | MEDIUM_BLOB
        | LONG_BLOB
        | BLOB
        | GEOMETRY
        | MARIADB_BLOB_COMPRESSED => 1,
        VARCHAR
        | BIT
        | NEWDECIMAL
        | ENUM
        | SET
        | VAR_STRING
        | STRING
        | MARIADB_VARCHAR_COMPRESSED => 2,
        _ => return Err(MalformedEvent("a column has a type that is not known")),
    })
}

/// Takes one value of `column` from the front.
pub(crate) fn take<'a>(
    column: ColumnFormat,
    bytes: &mut Bytes<'a>,
) -> Result<&'a [u8], MalformedEvent> {
    let all = bytes.0;
    let [low, high] = column.metadata;
    let prefix = |width: usize| -> Result<usize, MalformedEvent> {
        let length = Bytes(all).uint(width)?;
        let length = usize::try_from(length).map_err(|_| MalformedEvent("a value is too long"))?;
        length
            .checked_add(width)
            .ok_or(MalformedEvent("a value is too long"))
    };
    let length = match column.column_type {
        NULL => 0,
        TINY | YEAR => 1,
        SHORT => 2,
        INT24 | DATE | NEWDATE | TIME => 3,
        LONG | FLOAT | TIMESTAMP => 4,
        LONGLONG | DOUBLE | DATETIME => 8,
        TIMESTAMP2 => 4 + fraction_bytes(low),
        DATETIME2 => 5 + fraction_bytes(low),
        TIME2 => 3 + fraction_bytes(low),
        NEWDECIMAL => decimal::length(low, high)?,
        BIT => usize::from(high) + usize::from(low > 0),
        ENUM | SET => usize::from(high),
        STRING => match low {
            ENUM | SET => usize::from(high),
            _ => prefix(if string_bytes_max(low, high) < 256 {
                1
            } else {
                2
            })?,
        },
        VARCHAR | VAR_STRING | MARIADB_VARCHAR_COMPRESSED => {
            prefix(if u16::from_le_bytes([low, high]) < 256 {
                1
            } else {
                2
            })?
        }
        TINY_BLOB
        | MEDIUM_BLOB
        | LONG_BLOB
        | BLOB
        | GEOMETRY
        | JSON
        | VECTOR
        | MARIADB_BLOB_COMPRESSED => match low {
            1..=4 => prefix(usize::from(low))?,
            _ => return Err(MalformedEvent("a length has an unknown width")),
        },
        _ => return Err(MalformedEvent("a column has a type that is not known")),
    };
    bytes.take(length)
}

/// Longest value of a CHAR, bytes: two bits of it are kept in the type.
pub(crate) fn string_bytes_max(low: u8, high: u8) -> u16 {
    if low & 0x30 == 0x30 {
        return u16::from(high);
    }
    u16::from(high) | u16::from((low & 0x30) ^ 0x30) << 4
}

pub(crate) fn fraction_bytes(decimals: u8) -> usize {
    usize::from(decimals.min(6)).div_ceil(2)
}

//! Values of parameters as bytes of a capture.

use mysql_common::Value;

use crate::bytes::{Cursor, put_bytes, put_number, put_signed};

const NULL: u8 = 0;
const BYTES: u8 = 1;
const INT: u8 = 2;
const UINT: u8 = 3;
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;
const DATE: u8 = 6;
const TIME: u8 = 7;

/// Appends a value.
pub(crate) fn put(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::NULL => out.push(NULL),
        Value::Bytes(bytes) => {
            out.push(BYTES);
            put_bytes(out, bytes);
        }
        Value::Int(number) => {
            out.push(INT);
            put_signed(out, *number);
        }
        Value::UInt(number) => {
            out.push(UINT);
            put_number(out, *number);
        }
        Value::Float(number) => {
            out.push(FLOAT);
            out.extend(number.to_le_bytes());
        }
        Value::Double(number) => {
            out.push(DOUBLE);
            out.extend(number.to_le_bytes());
        }
        Value::Date(year, month, day, hour, minute, second, us) => {
            out.push(DATE);
            out.extend(year.to_le_bytes());
            out.extend([*month, *day, *hour, *minute, *second]);
            out.extend(us.to_le_bytes());
        }
        Value::Time(is_negative, days, hours, minutes, seconds, us) => {
            out.push(TIME);
            out.push(u8::from(*is_negative));
            out.extend(days.to_le_bytes());
            out.extend([*hours, *minutes, *seconds]);
            out.extend(us.to_le_bytes());
        }
    }
}

/// Reads one.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Value, &'static str> {
    Ok(match cursor.byte()? {
        NULL => Value::NULL,
        BYTES => Value::Bytes(cursor.bytes()?.to_vec()),
        INT => Value::Int(cursor.signed()?),
        UINT => Value::UInt(cursor.number()?),
        FLOAT => Value::Float(f32::from_le_bytes(array(cursor)?)),
        DOUBLE => Value::Double(f64::from_le_bytes(array(cursor)?)),
        DATE => {
            let year = u16::from_le_bytes(array(cursor)?);
            let [month, day, hour, minute, second] = array(cursor)?;
            let us = u32::from_le_bytes(array(cursor)?);
            Value::Date(year, month, day, hour, minute, second, us)
        }
        TIME => {
            let is_negative = cursor.byte()? != 0;
            let days = u32::from_le_bytes(array(cursor)?);
            let [hours, minutes, seconds] = array(cursor)?;
            let us = u32::from_le_bytes(array(cursor)?);
            Value::Time(is_negative, days, hours, minutes, seconds, us)
        }
        _ => return Err("a value is of no type that is known"),
    })
}

fn array<const N: usize>(cursor: &mut Cursor<'_>) -> Result<[u8; N], &'static str> {
    let bytes = cursor.take(N as u64)?;
    bytes.try_into().map_err(|_| crate::bytes::CUT)
}

//! What a call of the prelude was given.

use mlua::{MultiValue, Value};

use crate::host::Parameter;
use crate::statement::ParameterKind;

/// What a call was given.
pub(super) struct Arguments(pub(super) MultiValue);

impl Arguments {
    pub(super) fn number(&mut self) -> Option<u32> {
        match self.0.pop_front()? {
            Value::Integer(number) => u32::try_from(number).ok(),
            Value::Number(number) => Some(number as u32),
            _ => None,
        }
    }

    pub(super) fn text(&mut self) -> Option<Vec<u8>> {
        match self.0.pop_front()? {
            Value::String(text) => Some(text.as_bytes().to_vec()),
            Value::Integer(number) => Some(number.to_string().into_bytes()),
            _ => None,
        }
    }

    /// The next value, as a parameter of this kind.
    pub(super) fn parameter(&mut self, kind: ParameterKind) -> Parameter {
        let value = self.0.pop_front().unwrap_or(Value::Nil);
        match (kind, value) {
            (ParameterKind::Integer, Value::Integer(number)) => Parameter::Integer(number),
            (ParameterKind::Integer, Value::Number(number)) => Parameter::Integer(number as i64),
            (ParameterKind::Integer, Value::String(digits)) => integer(&digits.as_bytes()),
            (ParameterKind::Real, Value::Integer(number)) => Parameter::Real(number as f64),
            (ParameterKind::Real, Value::Number(number)) => Parameter::Real(number),
            (ParameterKind::Text, Value::String(text)) => Parameter::Text(text.as_bytes().to_vec()),
            _ => Parameter::Null,
        }
    }
}

/// A 64-bit number as the prelude writes it.
fn integer(digits: &[u8]) -> Parameter {
    let text = String::from_utf8_lossy(digits);
    let signed = text.parse::<i64>().ok();
    let unsigned = || text.parse::<u64>().ok().map(u64::cast_signed);
    signed
        .or_else(unsigned)
        .map_or(Parameter::Null, Parameter::Integer)
}

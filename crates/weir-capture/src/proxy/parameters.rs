//! Values beside the text of a client's statement: values of parameters, and attributes of a query.

use std::collections::HashMap;

use mysql_common::Value;
use mysql_common::constants::{CapabilityFlags, ColumnFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::proto::MyDeserialize as _;
use mysql_common::value::{BinValue, ValueDeserializer};

use super::login::LoginSeen;
use super::packets::Fields;

/// Statements that one session has prepared at the same time; more are a leak, and are not followed.
const STATEMENTS_MAX: usize = 100_000;
/// Longest value that comes in pieces.
const LONG_BYTES_MAX: usize = 16 << 20;
/// `PARAMETER_COUNT_AVAILABLE` among the flags of an execution.
const HAS_COUNT: u64 = 8;
const UNSIGNED: u8 = 0x80;
/// `STMT_BULK_FLAG_CLIENT_SEND_TYPES` among the flags of a bulk execution.
const BULK_HAS_TYPES: u64 = 128;
/// Mark before each parameter of a bulk execution: a value follows, or what takes its place.
const BULK_VALUE: u64 = 0;
const BULK_NULL: u64 = 1;
const BULK_DEFAULT: u64 = 2;
const BULK_IGNORE: u64 = 3;

/// Statements that a session has prepared.
#[derive(Debug, Default)]
pub(super) struct StatementsByHandle(HashMap<u32, Statement>);

#[derive(Debug, Default)]
struct Statement {
    parameters: usize,
    /// As told with the last execution that told them: type and sign.
    types: Vec<(u8, u8)>,
    /// Values that came in pieces, by the parameter's number.
    long: HashMap<u16, Vec<u8>>,
    is_too_long: bool,
}

impl StatementsByHandle {
    pub(super) fn add(&mut self, handle: u32, parameters: u16) {
        if self.0.len() < STATEMENTS_MAX {
            let statement = Statement {
                parameters: usize::from(parameters),
                ..Statement::default()
            };
            self.0.insert(handle, statement);
        }
    }

    pub(super) fn forget(&mut self, handle: u32) {
        self.0.remove(&handle);
    }

    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }

    /// Takes a piece of a value (`COM_STMT_SEND_LONG_DATA`, without its first byte).
    pub(super) fn add_piece(&mut self, body: &[u8]) {
        let mut fields = Fields(body);
        let (Some(handle), Some(parameter)) = (fields.number(4), fields.number(2)) else {
            return;
        };
        if let Some(statement) = self.0.get_mut(&(handle as u32)) {
            let value = statement.long.entry(parameter as u16).or_default();
            if value.len() + fields.0.len() > LONG_BYTES_MAX {
                statement.is_too_long = true;
            } else {
                value.extend_from_slice(fields.0);
            }
        }
    }

    /// Forgets the pieces of a statement's values (`COM_STMT_RESET`).
    pub(super) fn reset(&mut self, handle: u32) {
        if let Some(statement) = self.0.get_mut(&handle) {
            statement.long.clear();
            statement.is_too_long = false;
        }
    }

    /// The statement's number and the values of an execution, of its payload without the first byte; no values
    /// if they cannot be read.
    pub(super) fn execution(
        &mut self,
        body: &[u8],
        login: &LoginSeen,
    ) -> (u32, Option<Vec<Value>>) {
        let mut fields = Fields(body);
        let handle = fields.number(4).unwrap_or(0) as u32;
        let Some(statement) = self.0.get_mut(&handle) else {
            return (handle, None);
        };
        let values = statement.values(fields, login.has(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES));
        statement.long.clear();
        let is_too_long = std::mem::take(&mut statement.is_too_long);
        (handle, values.filter(|_| !is_too_long))
    }
}

impl StatementsByHandle {
    /// The statement's number and the values of each execution of a bulk execution (`COM_STMT_BULK_EXECUTE`), of its payload
    /// without the first byte; none if they cannot be read. A set of values is missing where a parameter is left to its
    /// column's default, which no single execution can say.
    pub(super) fn bulk(&mut self, body: &[u8]) -> (u32, Option<Vec<Option<Vec<Value>>>>) {
        let mut fields = Fields(body);
        let handle = fields.number(4).unwrap_or(0) as u32;
        let statement = self.0.get_mut(&handle);
        (
            handle,
            statement.and_then(|statement| statement.sets(fields)),
        )
    }
}

impl Statement {
    /// The values of each execution of a bulk execution.
    fn sets(&mut self, mut fields: Fields<'_>) -> Option<Vec<Option<Vec<Value>>>> {
        if fields.number(2)? & BULK_HAS_TYPES != 0 {
            self.types = types(&mut fields, self.parameters, false)?;
        }
        if self.parameters == 0 || self.types.len() < self.parameters {
            return None;
        }
        let mut sets = Vec::new();
        while !fields.0.is_empty() {
            let mut values = Some(Vec::with_capacity(self.parameters));
            for kind in &self.types[..self.parameters] {
                let value = match fields.number(1)? {
                    BULK_VALUE => Some(value(&mut fields, *kind)?),
                    BULK_NULL => Some(Value::NULL),
                    BULK_DEFAULT | BULK_IGNORE => None,
                    _ => return None,
                };
                values = values.zip(value).map(|(mut values, value)| {
                    values.push(value);
                    values
                });
            }
            sets.push(values);
        }
        Some(sets)
    }

    fn values(&mut self, mut fields: Fields<'_>, has_attributes: bool) -> Option<Vec<Value>> {
        let flags = fields.number(1)?;
        fields.take(4)?;
        let mut count = self.parameters;
        // Clients with attributes tell the number, with or without the flag, where there are parameters.
        if has_attributes && (count > 0 || flags & HAS_COUNT != 0) {
            count = usize::try_from(fields.encoded()?).ok()?;
        }
        if count == 0 {
            return Some(Vec::new());
        }
        let nulls = fields.take(count.div_ceil(8))?;
        if fields.number(1)? == 1 {
            self.types = types(&mut fields, count, has_attributes)?;
        }
        if self.types.len() < count {
            return None;
        }
        let mut values = Vec::with_capacity(self.parameters);
        for number in 0..count.min(self.parameters) {
            let is_null = nulls[number / 8] >> (number % 8) & 1 == 1;
            values.push(if let Some(long) = self.long.remove(&(number as u16)) {
                Value::Bytes(long)
            } else if is_null {
                Value::NULL
            } else {
                value(&mut fields, self.types[number])?
            });
        }
        Some(values)
    }
}

/// The types of so many parameters; with attributes each has a name.
fn types(fields: &mut Fields<'_>, count: usize, has_names: bool) -> Option<Vec<(u8, u8)>> {
    let mut types = Vec::new();
    for _ in 0..count {
        let pair = fields.take(2)?;
        if has_names {
            fields.text()?;
        }
        types.push((pair[0], pair[1]));
    }
    Some(types)
}

fn value(fields: &mut Fields<'_>, (code, sign): (u8, u8)) -> Option<Value> {
    let kind = ColumnType::try_from(code).ok()?;
    let flags = if sign & UNSIGNED == 0 {
        ColumnFlags::empty()
    } else {
        ColumnFlags::UNSIGNED_FLAG
    };
    if !is_known(kind) {
        return None;
    }
    let mut rest = ParseBuf(fields.0);
    let read = ValueDeserializer::<BinValue>::deserialize((kind, flags), &mut rest).ok()?;
    fields.0 = rest.0;
    Some(read.0)
}

/// Types that a client sends.
fn is_known(kind: ColumnType) -> bool {
    use ColumnType as T;
    matches!(
        kind,
        T::MYSQL_TYPE_NULL
            | T::MYSQL_TYPE_TINY
            | T::MYSQL_TYPE_SHORT
            | T::MYSQL_TYPE_YEAR
            | T::MYSQL_TYPE_INT24
            | T::MYSQL_TYPE_LONG
            | T::MYSQL_TYPE_LONGLONG
            | T::MYSQL_TYPE_FLOAT
            | T::MYSQL_TYPE_DOUBLE
            | T::MYSQL_TYPE_TIMESTAMP
            | T::MYSQL_TYPE_DATE
            | T::MYSQL_TYPE_DATETIME
            | T::MYSQL_TYPE_TIME
            | T::MYSQL_TYPE_STRING
            | T::MYSQL_TYPE_VAR_STRING
            | T::MYSQL_TYPE_VARCHAR
            | T::MYSQL_TYPE_DECIMAL
            | T::MYSQL_TYPE_NEWDECIMAL
            | T::MYSQL_TYPE_BLOB
            | T::MYSQL_TYPE_TINY_BLOB
            | T::MYSQL_TYPE_MEDIUM_BLOB
            | T::MYSQL_TYPE_LONG_BLOB
            | T::MYSQL_TYPE_BIT
            | T::MYSQL_TYPE_ENUM
            | T::MYSQL_TYPE_SET
            | T::MYSQL_TYPE_JSON
    )
}

/// The text of a query, of its payload without the first byte: attributes stand before it.
pub(super) fn query_text<'a>(body: &'a [u8], login: &LoginSeen) -> Option<&'a [u8]> {
    let mut fields = Fields(body);
    if !login.has(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES) {
        return Some(body);
    }
    let count = usize::try_from(fields.encoded()?).ok()?;
    fields.encoded()?;
    if count > 0 {
        let nulls = fields.take(count.div_ceil(8))?;
        fields.take(1)?;
        let types = types(&mut fields, count, true)?;
        for (number, kind) in types.into_iter().enumerate() {
            if nulls[number / 8] >> (number % 8) & 1 == 0 {
                value(&mut fields, kind)?;
            }
        }
    }
    Some(fields.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(attributes: bool) -> LoginSeen {
        let flag = CapabilityFlags::CLIENT_QUERY_ATTRIBUTES.bits();
        LoginSeen {
            capabilities: if attributes { flag } else { 0 },
            ..LoginSeen::default()
        }
    }

    #[test]
    fn values_are_read_as_the_client_wrote_them() {
        let values = vec![
            Value::Int(-5),
            Value::NULL,
            Value::Bytes(b"x".to_vec()),
            Value::Double(1.5),
        ];
        let mut out = Vec::new();
        weir_mysql::Request::execute_with(&mut out, 7, &values);
        let mut prepared = StatementsByHandle::default();
        prepared.add(7, 4);
        let body = &out[5..];
        assert_eq!(prepared.execution(body, &login(false)), (7, Some(values)));
        assert_eq!(prepared.execution(&[9, 0, 0, 0], &login(false)), (9, None));
        for end in 0..body.len() {
            let mut prepared = StatementsByHandle::default();
            prepared.add(7, 4);
            assert_eq!(prepared.execution(&body[..end], &login(false)).1, None);
        }
    }

    /// As mysql-connector-python writes them: the number of parameters without its flag.
    #[test]
    fn the_number_of_parameters_may_stand_without_its_flag() {
        let mut prepared = StatementsByHandle::default();
        prepared.add(7, 1);
        let body = [7, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 5];
        let read = prepared.execution(&body, &login(true));
        assert_eq!(read, (7, Some(vec![Value::Int(5)])));
    }

    #[test]
    fn a_value_in_pieces_is_put_together() {
        let mut prepared = StatementsByHandle::default();
        prepared.add(1, 1);
        prepared.add_piece(&[1, 0, 0, 0, 0, 0, b'a']);
        prepared.add_piece(&[1, 0, 0, 0, 0, 0, b'b']);
        let body = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0xFC, 0];
        let (_, values) = prepared.execution(&body, &login(false));
        assert_eq!(values, Some(vec![Value::Bytes(b"ab".to_vec())]));
    }

    #[test]
    fn attributes_of_a_query_are_passed_over() {
        assert_eq!(
            query_text(b"SELECT 1", &login(false)),
            Some(&b"SELECT 1"[..])
        );
        assert_eq!(
            query_text(b"\x00\x01SELECT 1", &login(true)),
            Some(&b"SELECT 1"[..])
        );
        let with = [
            &[1, 1, 0, 1, 0xFE, 0, 1, b'n', 2, b'v', b'w'][..],
            b"SELECT 1",
        ]
        .concat();
        assert_eq!(query_text(&with, &login(true)), Some(&b"SELECT 1"[..]));
        assert_eq!(query_text(&with[..5], &login(true)), None);
    }
}

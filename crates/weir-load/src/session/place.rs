//! Data of a connection's current steps.

use weir_workload::Value;

/// Table and values of a connection's transaction.
#[derive(Debug)]
pub(super) struct Place {
    /// Number of the connection, from 0.
    pub(super) connection: u32,
    /// The kind of the transaction.
    pub(super) transaction: usize,
    /// Counted from 0.
    pub(super) table: u32,
    /// The transaction's values.
    pub(super) slots: Box<[CarriedValue]>,
    /// First row of the next bulk insert.
    pub(super) first_row: u32,
    /// Rows of a bulk insert; until it is sent, the most that it may have.
    pub(super) rows: u64,
}

impl Place {
    /// Creates the place at which connection `connection` begins: in a bulk insert, before row 1 of
    /// its own table.
    pub(super) fn new(connection: u32, slots: usize) -> Self {
        Self {
            connection,
            transaction: 0,
            table: connection,
            slots: vec![CarriedValue::default(); slots].into_boxed_slice(),
            first_row: 1,
            rows: 0,
        }
    }
}

/// A value that is kept from one statement to the next.
#[derive(Debug, Clone)]
pub(super) enum CarriedValue {
    Integer(i64),
    Text(Vec<u8>),
}

impl Default for CarriedValue {
    fn default() -> Self {
        Self::Integer(0)
    }
}

impl CarriedValue {
    pub(super) fn get(&self) -> Value<'_> {
        match self {
            Self::Integer(number) => Value::Integer(*number),
            Self::Text(text) => Value::Text(text),
        }
    }

    /// Keeps a value, in the memory of the last one.
    pub(super) fn set(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::Text(kept), Value::Text(text)) => {
                kept.clear();
                kept.extend_from_slice(text);
            }
            (kept, Value::Text(text)) => *kept = Self::Text(text.to_vec()),
            (kept, Value::Integer(number)) => *kept = Self::Integer(number),
        }
    }
}

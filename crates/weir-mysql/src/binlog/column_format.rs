//! How a column is laid out.

/// The type of a column as the log writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnFormat {
    /// The type's number.
    pub column_type: u8,
    /// What its values' lengths depend on.
    pub metadata: [u8; 2],
}

//! Layout of a column.

/// The type of a column as the log writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnFormat {
    /// The type's number.
    pub column_type: u8,
    /// Metadata on which the lengths of the values depend.
    pub metadata: [u8; 2],
}

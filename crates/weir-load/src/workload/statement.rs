//! The statements, with their parameters.

use super::{C_BYTES, PAD_BYTES};
use crate::codec::ParameterKind;

/// A statement that is prepared once per table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statement {
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    UpdateIndex,
    UpdateNonIndex,
    Delete,
    Insert,
}

impl Statement {
    /// All of them, in the order of a transaction; the position is its number.
    pub(crate) const ALL: [Self; 9] = [
        Self::PointSelect,
        Self::SimpleRange,
        Self::SumRange,
        Self::OrderRange,
        Self::DistinctRange,
        Self::UpdateIndex,
        Self::UpdateNonIndex,
        Self::Delete,
        Self::Insert,
    ];

    /// Its number in [`Self::ALL`].
    pub(crate) const fn number(self) -> usize {
        self as usize
    }

    /// Its text for a table.
    pub(crate) fn sql(self, table: &str) -> String {
        match self {
            Self::PointSelect => format!("SELECT c FROM {table} WHERE id=?"),
            Self::SimpleRange => format!("SELECT c FROM {table} WHERE id BETWEEN ? AND ?"),
            Self::SumRange => format!("SELECT SUM(k) FROM {table} WHERE id BETWEEN ? AND ?"),
            Self::OrderRange => {
                format!("SELECT c FROM {table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Self::DistinctRange => {
                format!("SELECT DISTINCT c FROM {table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Self::UpdateIndex => format!("UPDATE {table} SET k=k+1 WHERE id=?"),
            Self::UpdateNonIndex => format!("UPDATE {table} SET c=? WHERE id=?"),
            Self::Delete => format!("DELETE FROM {table} WHERE id=?"),
            Self::Insert => format!("INSERT INTO {table} (id, k, c, pad) VALUES (?, ?, ?, ?)"),
        }
    }

    /// Its parameters.
    pub(crate) const fn parameters(self) -> &'static [ParameterKind] {
        use ParameterKind::{Integer, Text};
        match self {
            Self::PointSelect | Self::UpdateIndex | Self::Delete => &[Integer],
            Self::SimpleRange | Self::SumRange | Self::OrderRange | Self::DistinctRange => {
                &[Integer, Integer]
            }
            Self::UpdateNonIndex => &[Text(C_BYTES), Integer],
            Self::Insert => &[Integer, Integer, Text(C_BYTES), Text(PAD_BYTES)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Statement;

    #[test]
    fn numbers_are_positions_and_every_question_mark_has_a_parameter() {
        for (position, statement) in Statement::ALL.into_iter().enumerate() {
            assert_eq!(statement.number(), position);
            let sql = statement.sql("sbtest1");
            assert_eq!(
                sql.matches('?').count(),
                statement.parameters().len(),
                "{sql}"
            );
        }
    }
}

//! The statements, with their parameters.

use super::{C_BYTES, Mix, PAD_BYTES};
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
    RandomPoints,
    RandomRanges,
}

impl Statement {
    /// All of them, in the order of a transaction; the position is its number.
    pub(crate) const ALL: [Self; 11] = [
        Self::PointSelect,
        Self::SimpleRange,
        Self::SumRange,
        Self::OrderRange,
        Self::DistinctRange,
        Self::UpdateIndex,
        Self::UpdateNonIndex,
        Self::Delete,
        Self::Insert,
        Self::RandomPoints,
        Self::RandomRanges,
    ];

    /// Its number in [`Self::ALL`].
    pub(crate) const fn number(self) -> usize {
        self as usize
    }

    /// Its text for a table.
    pub(crate) fn sql(self, table: &str, mix: &Mix) -> String {
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
            Self::RandomPoints => {
                let points = vec!["?"; mix.random_points as usize].join(", ");
                format!("SELECT id, k, c, pad FROM {table} WHERE k IN ({points})")
            }
            Self::RandomRanges => {
                let ranges = vec!["k BETWEEN ? AND ?"; mix.random_ranges as usize].join(" OR ");
                format!("SELECT count(k) FROM {table} WHERE {ranges}")
            }
        }
    }

    /// Its parameters.
    pub(crate) fn parameters(self, mix: &Mix) -> Vec<ParameterKind> {
        use ParameterKind::{Integer, Text};
        match self {
            Self::PointSelect | Self::UpdateIndex | Self::Delete => vec![Integer],
            Self::SimpleRange | Self::SumRange | Self::OrderRange | Self::DistinctRange => {
                vec![Integer, Integer]
            }
            Self::UpdateNonIndex => vec![Text(C_BYTES), Integer],
            Self::Insert => vec![Integer, Integer, Text(C_BYTES), Text(PAD_BYTES)],
            Self::RandomPoints => vec![Integer; mix.random_points as usize],
            Self::RandomRanges => vec![Integer; 2 * mix.random_ranges as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mix, Statement};

    #[test]
    fn numbers_are_positions_and_every_question_mark_has_a_parameter() {
        for (position, statement) in Statement::ALL.into_iter().enumerate() {
            assert_eq!(statement.number(), position);
            let mix = Mix::default();
            let sql = statement.sql("sbtest1", &mix);
            assert_eq!(
                sql.matches('?').count(),
                statement.parameters(&mix).len(),
                "{sql}"
            );
        }
    }

    #[test]
    fn lists_are_as_long_as_asked_for() {
        let mix = Mix {
            random_points: 3,
            random_ranges: 2,
            ..Mix::default()
        };
        let sql = Statement::RandomPoints.sql("sbtest1", &mix);
        assert_eq!(
            sql,
            "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?)"
        );
        let sql = Statement::RandomRanges.sql("sbtest1", &mix);
        assert!(
            sql.ends_with("WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?"),
            "{sql}"
        );
    }
}

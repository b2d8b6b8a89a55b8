//! A table that is shared out among the connections.
//!
//! `select_random_points` and `select_random_ranges` give each connection its own part of the
//! table, as the server's log shows of sysbench 1.0.20: of `rows` rows and `n` connections,
//! connection `i` asks for `i * (rows / n)` to `(i + 1) * (rows / n)`, both included, and the last
//! one to the end of the table.

use super::{Keys, Rng};
use crate::WorkloadError;
use weir_model::Distribution;

/// A table in as many parts as there are connections.
#[derive(Debug, Clone)]
pub struct Parts {
    part_rows: u64,
    last: u32,
    keys: Keys,
    /// The last part may be longer.
    keys_of_last: Keys,
}

impl Parts {
    /// Shares `rows` rows out among `connections`.
    ///
    /// # Errors
    ///
    /// As [`Keys::new`].
    pub fn new(
        distribution: Distribution,
        rows: u64,
        connections: u32,
    ) -> Result<Self, WorkloadError> {
        let part_rows = rows / u64::from(connections);
        let last = connections - 1;
        let last_rows = rows - part_rows * u64::from(last);
        Ok(Self {
            part_rows,
            last,
            keys: Keys::new(distribution, part_rows + 1)?,
            keys_of_last: Keys::new(distribution, last_rows + 1)?,
        })
    }

    /// The next key of a connection, from its own part.
    pub fn key_of(&self, connection: u32, rng: &mut Rng) -> u32 {
        let keys = if connection == self.last {
            &self.keys_of_last
        } else {
            &self.keys
        };
        // Keys count from 1, a part from its first row.
        (self.part_rows * u64::from(connection)) as u32 + keys.next(rng) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded;

    fn range(parts: &Parts, connection: u32) -> (u32, u32) {
        let mut rng = seeded(1, u64::from(connection));
        let keys: Vec<_> = (0..2_000)
            .map(|_| parts.key_of(connection, &mut rng))
            .collect();
        (*keys.iter().min().unwrap(), *keys.iter().max().unwrap())
    }

    #[test]
    fn connections_share_a_table_as_sysbenchs_do() {
        // As logged by a server under sysbench with three threads and 31 rows, and with one.
        let of_three = Parts::new(Distribution::Uniform, 31, 3).unwrap();
        let ranges = [0, 1, 2].map(|connection| range(&of_three, connection));
        assert_eq!(ranges, [(0, 10), (10, 20), (20, 31)]);
        let of_one = Parts::new(Distribution::Uniform, 31, 1).unwrap();
        assert_eq!(range(&of_one, 0), (0, 31));
    }

    #[test]
    fn more_connections_than_rows_share_the_first_and_the_rest() {
        let parts = Parts::new(Distribution::Uniform, 31, 40).unwrap();
        assert_eq!(range(&parts, 7), (0, 0));
        assert_eq!(range(&parts, 39), (0, 31));
    }
}

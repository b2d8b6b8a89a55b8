//! Which rows of which tables a run asks for.
//!
//! `select_random_points` and `select_random_ranges` give each connection its own part of the
//! table, as the server's log shows of sysbench 1.0.20: of `rows` rows and `n` connections,
//! connection `i` asks for `i * (rows / n)` to `(i + 1) * (rows / n)`, both included, and the last
//! one to the end of the table.

use super::{Distribution, Keys, Rng, Script};
use crate::LoadError;

/// The rows of a run.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    /// Tables to choose from.
    pub(crate) tables: u32,
    /// Keys of the whole table.
    pub(crate) keys: Keys,
    parts: Option<Parts>,
}

/// A table in as many parts as there are connections.
#[derive(Debug, Clone)]
struct Parts {
    part_rows: u64,
    last: u32,
    keys: Keys,
    /// The last part may be longer.
    keys_of_last: Keys,
}

impl Rows {
    /// What `script` asks for on `connections` connections.
    pub(crate) fn new(
        script: &Script,
        distribution: Distribution,
        tables: u32,
        rows: u64,
        connections: u32,
    ) -> Result<Self, LoadError> {
        let parts = if script.is_partitioned() {
            let part_rows = rows / u64::from(connections);
            let last = connections - 1;
            let last_rows = rows - part_rows * u64::from(last);
            Some(Parts {
                part_rows,
                last,
                keys: Keys::new(distribution, part_rows + 1)?,
                keys_of_last: Keys::new(distribution, last_rows + 1)?,
            })
        } else {
            None
        };
        Ok(Self {
            tables: script.tables(tables),
            keys: Keys::new(distribution, rows)?,
            parts,
        })
    }

    /// The next key of a connection, from its own part if it has one.
    pub(crate) fn key_of(&self, connection: u32, rng: &mut Rng) -> u32 {
        let Some(parts) = &self.parts else {
            return self.keys.next(rng);
        };
        let keys = if connection == parts.last {
            &parts.keys_of_last
        } else {
            &parts.keys
        };
        // Keys count from 1, a part from its first row.
        (parts.part_rows * u64::from(connection)) as u32 + keys.next(rng) - 1
    }
}

#[cfg(test)]
mod tests {
    use weir_model::WorkloadName;

    use super::*;
    use crate::workload::{Mix, seeded};

    fn rows(workload: WorkloadName, connections: u32) -> Rows {
        let script = Script::new(workload, &Mix::default()).unwrap();
        Rows::new(&script, Distribution::Uniform, 3, 31, connections).unwrap()
    }

    fn range(rows: &Rows, connection: u32) -> (u32, u32) {
        let mut rng = seeded(1, u64::from(connection));
        let keys: Vec<_> = (0..2_000)
            .map(|_| rows.key_of(connection, &mut rng))
            .collect();
        (*keys.iter().min().unwrap(), *keys.iter().max().unwrap())
    }

    #[test]
    fn connections_share_a_table_as_sysbenchs_do() {
        // As logged by a server under sysbench with three threads and 31 rows, and with one.
        let rows_of_three = rows(WorkloadName::SelectRandomPoints, 3);
        let ranges = [0, 1, 2].map(|connection| range(&rows_of_three, connection));
        assert_eq!(ranges, [(0, 10), (10, 20), (20, 31)]);
        assert_eq!(rows_of_three.tables, 1);
        assert_eq!(
            range(&rows(WorkloadName::SelectRandomRanges, 1), 0),
            (0, 31)
        );
    }

    #[test]
    fn other_workloads_ask_for_all_rows_of_all_tables() {
        let rows = rows(WorkloadName::OltpDelete, 3);
        assert_eq!(rows.tables, 3);
        assert_eq!(range(&rows, 2), (1, 31));
    }

    #[test]
    fn more_connections_than_rows_share_the_first_and_the_rest() {
        let rows = rows(WorkloadName::SelectRandomPoints, 40);
        assert_eq!(range(&rows, 7), (0, 0));
        assert_eq!(range(&rows, 39), (0, 31));
    }
}

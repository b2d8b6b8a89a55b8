//! Tables and rows, as SQL.

use std::fmt::Write as _;

use super::{C_BYTES, Keys, PAD_BYTES, Rng, write_groups};

/// Name of table `number`, counted from 1.
pub(crate) fn table_name(number: u32) -> String {
    format!("sbtest{number}")
}

/// Makes table `number`. The secondary index comes after the rows, see [`create_index`].
pub(crate) fn create_table(number: u32, engine: &str) -> String {
    format!(
        "CREATE TABLE {} (\
         id INTEGER NOT NULL AUTO_INCREMENT, \
         k INTEGER DEFAULT 0 NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, \
         pad CHAR(60) DEFAULT '' NOT NULL, \
         PRIMARY KEY (id)) ENGINE = {engine}",
        table_name(number)
    )
}

/// Makes table `number` of `bulk_insert`, unless it exists: sysbench's is made without a choice
/// of engine.
pub(crate) fn create_bulk_table(number: u32) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {} (\
         id INTEGER NOT NULL, \
         k INTEGER DEFAULT '0' NOT NULL, \
         PRIMARY KEY (id))",
        table_name(number)
    )
}

/// Makes the secondary index of table `number`.
pub(crate) fn create_index(number: u32) -> String {
    format!("CREATE INDEX k_{number} ON {}(k)", table_name(number))
}

/// Builds multi-row inserts.
#[derive(Debug)]
pub(crate) struct RowText<'a> {
    sql: String,
    prefix_bytes: usize,
    keys: &'a Keys,
}

impl<'a> RowText<'a> {
    /// An insert into table `number`; column `k` is drawn from `keys`.
    pub(crate) fn new(number: u32, keys: &'a Keys) -> Self {
        let sql = format!("INSERT INTO {} (id, k, c, pad) VALUES", table_name(number));
        Self {
            prefix_bytes: sql.len(),
            sql,
            keys,
        }
    }

    /// The statement for rows `ids`.
    pub(crate) fn rows(&mut self, rng: &mut Rng, ids: std::ops::RangeInclusive<u64>) -> &str {
        self.sql.truncate(self.prefix_bytes);
        let mut c = [0; C_BYTES];
        let mut pad = [0; PAD_BYTES];
        for (position, id) in ids.enumerate() {
            write_groups(rng, &mut c);
            write_groups(rng, &mut pad);
            let comma = if position == 0 { "" } else { "," };
            write!(
                self.sql,
                "{comma}({id},{},'{}','{}')",
                self.keys.next(rng),
                String::from_utf8_lossy(&c),
                String::from_utf8_lossy(&pad),
            )
            .expect("invariant: writing into a string cannot fail");
        }
        &self.sql
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Distribution, seeded};

    #[test]
    fn inserts_hold_the_rows_that_were_asked_for_and_are_reused() {
        let keys = Keys::new(Distribution::Uniform, 10).unwrap();
        let mut text = RowText::new(3, &keys);
        let mut rng = seeded(1, 1);
        let first = text.rows(&mut rng, 1..=2).to_owned();
        assert!(first.starts_with("INSERT INTO sbtest3 (id, k, c, pad) VALUES(1,"));
        assert_eq!(first.matches("),(").count(), 1);
        let second = text.rows(&mut rng, 3..=3);
        assert!(second.contains("VALUES(3,"), "{second}");
        assert_eq!(second.matches('(').count(), 2);
    }
}

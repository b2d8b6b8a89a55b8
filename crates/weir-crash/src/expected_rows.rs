//! Expected content of every row after a crash, and its check.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use weir_mysql::Connection;

use crate::content::{self, Content, RowId, Shape};
use crate::ledger::{Ledger, TransactionBounds};

/// Differences of one kind that are listed one by one; further ones are counted.
const LISTED: usize = 5;

/// The loaded content of all rows, so that it is made once and not for each state.
#[derive(Debug)]
pub(crate) struct ExpectedRows {
    seed: u64,
    shape: Shape,
    /// Table by table, row by row: digests of what was loaded.
    loaded: Vec<Digest>,
    /// By the same index: what the last state wanted of a row that a transaction changed. The next one, a moment
    /// later in the recording, wants the same of most rows.
    changed: Mutex<Vec<Whole>>,
}

/// A row's content as the server is asked for it: the text by its CRC-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest {
    key: u32,
    text: u32,
}

/// The [`Digest::whole`] of a row after transaction `number`.
#[derive(Clone, Copy, Debug, Default)]
struct Whole {
    number: u32,
    whole: u64,
}

/// The rows of a table and the sum of their digests. CRCs alone would have the same sum after two rows have exchanged
/// their texts, so each is multiplied by the row's number.
const SUM_OF_ROWS: &str = "COUNT(*), BIT_XOR((CRC32(text) * id) ^ (k * (txn + id)))";
/// `ER_DATA_OUT_OF_RANGE`: what only numbers without a writer come to.
const OUT_OF_RANGE: u16 = 1690;

impl From<Content> for Digest {
    fn from(content: Content) -> Self {
        Self {
            key: content.key,
            text: crc32fast::hash(content.text.as_bytes()),
        }
    }
}

impl Digest {
    /// Of all columns of row `id` after transaction `number`, as [`SUM_OF_ROWS`] makes it.
    fn whole(self, id: u32, number: u32) -> u64 {
        let mixed = u64::from(self.key) * (u64::from(number) + u64::from(id));
        (u64::from(self.text) * u64::from(id)) ^ mixed
    }
}

/// Problems of the rows of a recovered database.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LedgerReport {
    /// Acknowledged commits that are gone.
    pub commits_lost: u32,
    /// The first differences, in words.
    pub differences: Vec<String>,
    /// Differences of which only the first are listed.
    pub difference_count: u32,
}

impl LedgerReport {
    fn add(&mut self, difference: impl FnOnce() -> String) {
        self.difference_count += 1;
        if self.differences.len() < LISTED {
            self.differences.push(difference());
        }
    }
}

impl ExpectedRows {
    pub(crate) fn new(seed: u64, shape: Shape) -> Self {
        let places = (1..=shape.tables)
            .flat_map(|table| (1..=shape.rows).map(move |id| RowId { table, id }));
        Self {
            seed,
            shape,
            loaded: places
                .map(|place| content::loaded_row(place).into())
                .collect(),
            changed: Mutex::new(vec![
                Whole::default();
                shape.tables as usize * shape.rows as usize
            ]),
        }
    }

    /// Compares the database with the ledger as it stood when the power was cut, at `cut_ns`.
    ///
    /// Each client's own row says how many of its transactions are there. That number must lie
    /// between what was acknowledged and what was sent, and all its rows must be as exactly so many
    /// transactions leave them: a transaction is there whole or not at all. Where all tables are `sound`, a table
    /// whose sum of digests is as it must be is not read row by row.
    pub(crate) fn compare(
        &self,
        connection: &mut Connection,
        ledger: &Ledger,
        cut_ns: u64,
        sound: bool,
    ) -> Result<LedgerReport, weir_mysql::ClientError> {
        let mut report = LedgerReport::default();
        let found: BTreeMap<u32, u32> = connection
            .rows("SELECT id, txn FROM client")?
            .into_iter()
            .collect();
        let mut present = Vec::new();
        for client in 0..self.shape.clients {
            let Some(&number) = found.get(&client) else {
                report.add(|| format!("client {client}: its row is gone"));
                present.push(0);
                continue;
            };
            judge_count(
                &mut report,
                client,
                number,
                ledger.at(client as usize, cut_ns),
            );
            present.push(number);
        }
        let numbers = self.last_numbers(&present);
        let sums = self.sums(&numbers);
        for table in 1..=self.shape.tables {
            let due = (u64::from(self.shape.rows), sums[table as usize - 1]);
            if !sound || !has_sum(connection, table, due)? {
                self.compare_rows(connection, table, &numbers, &mut report)?;
            }
        }
        self.compare_history(connection, &present, &mut report)?;
        Ok(report)
    }

    /// Reads a table row by row.
    fn compare_rows(
        &self,
        connection: &mut Connection,
        table: u32,
        numbers: &[u32],
        report: &mut LedgerReport,
    ) -> Result<(), weir_mysql::ClientError> {
        let mut next_id = 1;
        let query = format!("SELECT id, txn, k, CRC32(text) FROM crash{table} ORDER BY id");
        connection.each(&query, |(id, number, key, text): (u32, u32, u32, u32)| {
            if id != next_id {
                report.add(|| format!("crash{table}: row {id} where {next_id} was due"));
            }
            next_id = id + 1;
            if id == 0 || id > self.shape.rows {
                return;
            }
            let place = RowId { table, id };
            let due = numbers[self.index(place)];
            if number != due {
                report.add(|| format!("crash{table} row {id}: of transaction {number}, not {due}"));
            } else if self.digest(place, due) != (Digest { key, text }) {
                report.add(|| format!("crash{table} row {id}: a content without a writer"));
            }
        })?;
        if next_id != self.shape.rows + 1 {
            report.add(|| format!("crash{table}: rows end before {next_id}"));
        }
        Ok(())
    }

    fn compare_history(
        &self,
        connection: &mut Connection,
        present: &[u32],
        report: &mut LedgerReport,
    ) -> Result<(), weir_mysql::ClientError> {
        let query = "SELECT client, txn, k, CRC32(text) FROM history ORDER BY client, txn";
        let mut found: BTreeMap<u32, Vec<(u32, Digest)>> = BTreeMap::new();
        connection.each(query, |(client, number, key, text)| {
            let entry = (number, Digest { key, text });
            found.entry(client).or_default().push(entry);
        })?;
        for (client, &number) in (0..).zip(present) {
            let due = content::history_after(number)
                .map(|entry| (entry, content::history(self.seed, client, entry).into()));
            let due: Vec<(u32, Digest)> = due.collect();
            if found.remove(&client).unwrap_or_default() != due {
                report.add(|| {
                    format!("history of client {client}: not that of {number} transactions")
                });
            }
        }
        for client in found.keys() {
            report.add(|| format!("history of client {client}: there is no such client"));
        }
        Ok(())
    }

    /// The last transaction of each row, 0 of one that none changed, when `present` transactions of each client are
    /// there.
    fn last_numbers(&self, present: &[u32]) -> Vec<u32> {
        let mut numbers = vec![0; self.loaded.len()];
        for (client, &count) in (0..).zip(present) {
            for number in 1..=count {
                let transaction = content::transaction(self.seed, self.shape, client, number);
                for row in transaction.updates {
                    numbers[self.index(row)] = number;
                }
            }
        }
        numbers
    }

    /// The sum of the digests of each table.
    fn sums(&self, numbers: &[u32]) -> Vec<u64> {
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = self.shape.rows as usize;
        let mut sums = vec![0; self.shape.tables as usize];
        for (index, &number) in numbers.iter().enumerate() {
            let id = (index % rows) as u32 + 1;
            let whole = if number == 0 {
                self.loaded[index].whole(id, 0)
            } else {
                let kept = &mut changed[index];
                if kept.number != number {
                    let place = RowId {
                        table: (index / rows) as u32 + 1,
                        id,
                    };
                    let whole = self.digest(place, number).whole(id, number);
                    *kept = Whole { number, whole };
                }
                kept.whole
            };
            sums[index / rows] ^= whole;
        }
        sums
    }

    fn digest(&self, place: RowId, number: u32) -> Digest {
        if number > 0 {
            return content::row(self.seed, place, number).into();
        }
        self.loaded[self.index(place)]
    }

    fn index(&self, place: RowId) -> usize {
        ((place.table - 1) * self.shape.rows + place.id - 1) as usize
    }
}

/// Returns true if a table has the rows and the sum of digests that are `due`.
fn has_sum(
    connection: &mut Connection,
    table: u32,
    due: (u64, u64),
) -> Result<bool, weir_mysql::ClientError> {
    // All rows lie in the clustered index: the other one has no texts.
    let query = format!("SELECT {SUM_OF_ROWS} FROM crash{table}");
    match connection.first::<(u64, u64)>(query) {
        Err(error) if error.code() == Some(OUT_OF_RANGE) => Ok(false),
        found => Ok(found? == Some(due)),
    }
}

fn judge_count(report: &mut LedgerReport, client: u32, number: u32, allowed: TransactionBounds) {
    let TransactionBounds { acknowledged, sent } = allowed;
    if number < acknowledged {
        report.commits_lost += acknowledged - number;
    }
    if number > sent {
        report.add(|| format!("client {client}: {number} transactions, and it asked for {sent}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use weir_model::Flavor;

    use super::*;
    use crate::{connection, workload};

    const SHAPE: Shape = Shape {
        tables: 1,
        rows: 40,
        clients: 2,
        warehouses: 0,
    };

    weir_testing::on_both_flavors! { a_table_is_as_it_must_be_only_with_all_its_rows }

    /// Were the sums never the same, each state would be read row by row, and no verdict would show it.
    fn a_table_is_as_it_must_be_only_with_all_its_rows(flavor: Flavor) {
        let (server, _directory) = weir_testing::start_with(flavor, &[]);
        let endpoint = server.endpoint();
        workload::load(&endpoint, flavor, SHAPE, &AtomicBool::new(false)).unwrap();
        let mut connection = connection::connect(&endpoint).unwrap();
        let expected = ExpectedRows::new(7, SHAPE);

        let loaded = (40, expected.sums(&expected.last_numbers(&[0, 0]))[0]);
        assert!(has_sum(&mut connection, 1, loaded).unwrap());

        // What the first transaction of the second client leaves.
        for row in content::transaction(7, SHAPE, 1, 1).updates {
            let new = content::row(7, row, 1);
            let change = format!(
                "UPDATE crash1 SET txn = 1, k = {}, text = '{}' WHERE id = {}",
                new.key, new.text, row.id
            );
            connection.run(change).unwrap();
        }
        let changed = (40, expected.sums(&expected.last_numbers(&[0, 1]))[0]);
        assert!(has_sum(&mut connection, 1, changed).unwrap());
        assert!(!has_sum(&mut connection, 1, loaded).unwrap());

        for damage in [
            "UPDATE crash1 SET text = REVERSE(text) WHERE id = 3",
            "UPDATE crash1 a JOIN crash1 b ON a.id + b.id = 9 SET a.text = b.text WHERE a.id = 4",
            "UPDATE crash1 SET txn = txn + 1 WHERE id = 5",
            "UPDATE crash1 SET k = -1, txn = 2147483647 WHERE id = 6",
            "UPDATE crash1 SET id = -id WHERE id = 7",
            "DELETE FROM crash1 WHERE id = 8",
        ] {
            connection.run("BEGIN").unwrap();
            connection.run(damage).unwrap();
            assert!(!has_sum(&mut connection, 1, changed).unwrap(), "{damage}");
            connection.run("ROLLBACK").unwrap();
        }
        assert!(has_sum(&mut connection, 1, changed).unwrap());
    }
}

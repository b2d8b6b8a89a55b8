//! What every row must hold after a crash, and whether it does.

use std::collections::BTreeMap;

use weir_mysql::Connection;

use crate::content::{self, Content, RowId, Shape};
use crate::ledger::{Allowed, Ledger};

/// Differences of one kind that are listed one by one; further ones are counted.
const LISTED: usize = 5;

/// The loaded content of all rows, so that it is made once and not for each state.
#[derive(Debug)]
pub(crate) struct Expected {
    seed: u64,
    shape: Shape,
    /// Table by table, row by row: digests of what was loaded.
    loaded: Vec<Digest>,
}

/// A row's content as the server is asked for it: the text by its CRC-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest {
    key: u32,
    text: u32,
}

impl From<Content> for Digest {
    fn from(content: Content) -> Self {
        Self {
            key: content.key,
            text: crc32fast::hash(content.text.as_bytes()),
        }
    }
}

/// What is wrong with the rows of a recovered database.
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

impl Expected {
    pub(crate) fn new(seed: u64, shape: Shape) -> Self {
        let places = (1..=shape.tables)
            .flat_map(|table| (1..=shape.rows).map(move |id| RowId { table, id }));
        Self {
            seed,
            shape,
            loaded: places
                .map(|place| content::loaded_row(place).into())
                .collect(),
        }
    }

    /// Compares the database with the ledger as it stood when the power was cut, at `cut_ns`.
    ///
    /// Each client's own row says how many of its transactions are there. That number must lie
    /// between what was acknowledged and what was sent, and all its rows must be as exactly so many
    /// transactions leave them: a transaction is there whole or not at all.
    pub(crate) fn compare(
        &self,
        connection: &mut Connection,
        ledger: &Ledger,
        cut_ns: u64,
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
        self.compare_rows(connection, &present, &mut report)?;
        self.compare_history(connection, &present, &mut report)?;
        Ok(report)
    }

    fn compare_rows(
        &self,
        connection: &mut Connection,
        present: &[u32],
        report: &mut LedgerReport,
    ) -> Result<(), weir_mysql::ClientError> {
        let changed = self.changed(present);
        for table in 1..=self.shape.tables {
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
                let due = changed.get(&place).copied().unwrap_or(0);
                if number != due {
                    report.add(|| {
                        format!("crash{table} row {id}: of transaction {number}, not {due}")
                    });
                } else if self.digest(place, due) != (Digest { key, text }) {
                    report.add(|| format!("crash{table} row {id}: a content without a writer"));
                }
            })?;
            if next_id != self.shape.rows + 1 {
                report.add(|| format!("crash{table}: rows end before {next_id}"));
            }
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

    /// The last transaction of each row that any changed, when `present` transactions of each client
    /// are there.
    fn changed(&self, present: &[u32]) -> BTreeMap<RowId, u32> {
        let mut changed = BTreeMap::new();
        for (client, &count) in (0..).zip(present) {
            for number in 1..=count {
                let transaction = content::transaction(self.seed, self.shape, client, number);
                changed.extend(transaction.updates.into_iter().map(|row| (row, number)));
            }
        }
        changed
    }

    fn digest(&self, place: RowId, number: u32) -> Digest {
        if number > 0 {
            return content::row(self.seed, place, number).into();
        }
        let index = (place.table - 1) * self.shape.rows + place.id - 1;
        self.loaded[index as usize]
    }
}

fn judge_count(report: &mut LedgerReport, client: u32, number: u32, allowed: Allowed) {
    let Allowed { acknowledged, sent } = allowed;
    if number < acknowledged {
        report.commits_lost += acknowledged - number;
    }
    if number > sent {
        report.add(|| format!("client {client}: {number} transactions, and it asked for {sent}"));
    }
}

//! Content that the workload writes: a pure function of seed, client and transaction number.
//!
//! So the ledger need not hold contents. A caller that knows how many transactions of a client are in the
//! database knows what every one of its rows must hold, byte by byte.

use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Seed of the loaded rows.
pub(crate) const LOADED_SEED: u64 = 1;
/// Rows that one transaction changes.
const ROWS_PER_TRANSACTION: usize = 4;
/// Bytes of a row's text: some 60 rows to a page of 16 KiB.
const TEXT_BYTES: RangeInclusive<usize> = 180..=220;
/// Transactions whose history rows a client keeps.
const HISTORY_KEPT: u32 = 400;
/// Every so many transactions the history's tail is deleted: work for purge and for undo.
const HISTORY_TRIMMED_EVERY: u32 = 50;

/// The size of the tested database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shape {
    /// Tables of rows that are updated.
    pub tables: u32,
    /// Rows of each.
    pub rows: u32,
    /// Connections that write, each to rows of its own.
    pub clients: u32,
    /// Warehouses of order entry beside them; 0: there is none.
    #[serde(default)]
    pub warehouses: u32,
}

/// A row's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RowId {
    /// Table, from 1.
    pub(crate) table: u32,
    /// Primary key, from 1.
    pub(crate) id: u32,
}

/// Transaction of one client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Transaction {
    /// Rows that get a new content; no row twice.
    pub(crate) updates: Vec<RowId>,
    /// Of these, rows that are deleted and inserted again instead of updated.
    pub(crate) reinserted: usize,
    /// History rows of this client up to here are deleted.
    pub(crate) trim_history_to: Option<u32>,
}

/// The content of a row or a history entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// The indexed column.
    pub(crate) key: u32,
    /// The text.
    pub(crate) text: String,
}

fn random(seed: u64, parts: [u32; 3]) -> Xoshiro256PlusPlus {
    let [a, b, c] = parts.map(u64::from);
    // Odd multipliers keep different parts apart; the generator's own seeding mixes the bits.
    let mixed = seed
        .wrapping_add(a.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_add(b.wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
        .wrapping_add(c.wrapping_mul(0x1656_67B1_9E37_79F9));
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

/// Transaction `number` (from 1) of `client` (from 0).
pub(crate) fn transaction(seed: u64, shape: Shape, client: u32, number: u32) -> Transaction {
    let mut random = random(seed, [1, client, number]);
    let own_rows = own_rows(shape, client);
    let mut updates: Vec<RowId> = Vec::with_capacity(ROWS_PER_TRANSACTION);
    while updates.len() < ROWS_PER_TRANSACTION.min((own_rows * shape.tables) as usize) {
        let row = RowId {
            table: random.random_range(1..=shape.tables),
            id: client + 1 + shape.clients * random.random_range(0..own_rows),
        };
        if !updates.contains(&row) {
            updates.push(row);
        }
    }
    let trims = number.is_multiple_of(HISTORY_TRIMMED_EVERY) && number > HISTORY_KEPT;
    Transaction {
        updates,
        reinserted: usize::from(random.random_bool(0.25)),
        trim_history_to: trims.then(|| number - HISTORY_KEPT),
    }
}

/// Rows of each table that belong to `client`: those with `(id - 1) % clients == client`.
fn own_rows(shape: Shape, client: u32) -> u32 {
    (shape.rows - client).div_ceil(shape.clients)
}

/// Returns the content of `row` as loaded: the same for all tests, so that loaded data can be kept.
pub(crate) fn loaded_row(row: RowId) -> Content {
    self::row(LOADED_SEED, row, 0)
}

/// Returns the content of `row` after transaction `number` of its client.
pub(crate) fn row(seed: u64, row: RowId, number: u32) -> Content {
    content(&mut random(seed, [row.table << 8 | 2, row.id, number]))
}

/// The history entry that transaction `number` of `client` inserts.
pub(crate) fn history(seed: u64, client: u32, number: u32) -> Content {
    content(&mut random(seed, [3, client, number]))
}

/// History entries that exist after transaction `number` of a client.
pub(crate) fn history_after(number: u32) -> RangeInclusive<u32> {
    let last_trim = number - number % HISTORY_TRIMMED_EVERY;
    let first = if last_trim > HISTORY_KEPT {
        last_trim - HISTORY_KEPT + 1
    } else {
        1
    };
    first..=number
}

fn content(random: &mut Xoshiro256PlusPlus) -> Content {
    let key = random.random_range(0..1 << 30);
    let length = random.random_range(TEXT_BYTES);
    let text = (0..length).map(|_| char::from(random.random_range(b'a'..=b'z')));
    Content {
        key,
        text: text.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        tables: 2,
        rows: 103,
        clients: 8,
        warehouses: 0,
    };

    #[test]
    fn transactions_repeat_and_stay_in_their_clients_rows() {
        for client in 0..SHAPE.clients {
            for number in 1..200 {
                let found = transaction(7, SHAPE, client, number);
                assert_eq!(found, transaction(7, SHAPE, client, number));
                assert_eq!(found.updates.len(), ROWS_PER_TRANSACTION);
                for row in &found.updates {
                    assert!((1..=SHAPE.rows).contains(&row.id), "{row:?}");
                    assert_eq!((row.id - 1) % SHAPE.clients, client);
                }
            }
        }
    }

    #[test]
    fn contents_differ() {
        let place = RowId { table: 1, id: 1 };
        let other = RowId { table: 2, id: 1 };
        assert_ne!(row(7, place, 1), row(7, place, 2));
        assert_ne!(row(7, place, 1), row(7, other, 1));
        assert_ne!(row(7, place, 1), row(8, place, 1));
        assert_ne!(history(7, 1, 1), history(7, 2, 1));
    }

    #[test]
    fn history_is_what_the_transactions_leave() {
        let mut kept = Vec::new();
        for number in 1..2_000 {
            kept.push(number);
            if let Some(trim) = transaction(7, SHAPE, 3, number).trim_history_to {
                kept.retain(|&entry| entry > trim);
            }
            assert_eq!(kept, history_after(number).collect::<Vec<_>>(), "{number}");
        }
    }
}

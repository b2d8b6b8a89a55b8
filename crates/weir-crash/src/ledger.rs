//! Acknowledgements of commits, by client and time.

use serde::{Deserialize, Serialize};

use crate::content::Shape;

/// Commits that a ledger holds at most, 24 bytes each: a recording ends when there are so many.
pub(crate) const LEDGER_COMMITS_MAX: usize = 1_000_000;

/// Acknowledged commits of all clients. Times are nanoseconds of `CLOCK_MONOTONIC`, as the drive's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The seed of all contents.
    pub seed: u64,
    /// The database.
    pub shape: Shape,
    /// Per client, transaction by transaction from 1.
    pub clients: Vec<Vec<Commit>>,
    /// Transactions of order entry, whose commits are not noted one by one.
    #[serde(default)]
    pub order_entry_transactions: u64,
}

/// One transaction's COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Time at which the client asked for it.
    pub sent_ns: u64,
    /// Time at which the client read the server's OK; `None`: never.
    pub acknowledged_ns: Option<u64>,
}

/// Number of transactions of a client that may be in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransactionBounds {
    /// All that were acknowledged must be there.
    pub(crate) acknowledged: u32,
    /// No more than were sent can be there: rows that no transaction wrote cannot exist.
    pub(crate) sent: u32,
}

impl Ledger {
    /// Returns the bounds for `client` after a cut at `at_ns`.
    pub(crate) fn at(&self, client: usize, at_ns: u64) -> TransactionBounds {
        let commits = &self.clients[client];
        let acknowledged = commits.partition_point(|commit| {
            commit
                .acknowledged_ns
                .is_some_and(|acknowledged_ns| acknowledged_ns < at_ns)
        });
        let sent = commits.partition_point(|commit| commit.sent_ns < at_ns);
        TransactionBounds {
            acknowledged: acknowledged as u32,
            sent: sent as u32,
        }
    }

    /// Acknowledged commits of all clients.
    pub fn acknowledged(&self) -> usize {
        let commits = self.clients.iter().flatten();
        commits
            .filter(|commit| commit.acknowledged_ns.is_some())
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cut_allows() {
        let commit = |sent_ns, acknowledged_ns| Commit {
            sent_ns,
            acknowledged_ns,
        };
        let ledger = Ledger {
            seed: 1,
            shape: Shape {
                tables: 1,
                rows: 1,
                clients: 1,
                warehouses: 0,
            },
            order_entry_transactions: 0,
            clients: vec![vec![
                commit(10, Some(20)),
                commit(30, Some(40)),
                commit(50, None),
            ]],
        };
        let allowed = |at_ns| {
            let found = ledger.at(0, at_ns);
            (found.acknowledged, found.sent)
        };
        assert_eq!(allowed(5), (0, 0));
        assert_eq!(allowed(15), (0, 1));
        assert_eq!(allowed(25), (1, 1));
        assert_eq!(allowed(35), (1, 2));
        assert_eq!(allowed(99), (2, 3));
    }
}

//! Transactions beside a page cleaner that writes in batches.
//!
//! It writes copies of a batch of pages in sequence, then the pages to their places, then the next batch; when it has
//! written what it wants to in this second, it rests. While it writes, the drive has hardly time for anything else: a
//! write of the log waits for what is left of the copies or of the pages. (Seen in the calls of `MySQL` 9.7 and in the
//! order in which they end.) So transactions have two
//! throughputs, and the cleaner writes for that share of the time in which as many pages are written as change.

use crate::PAGE_BYTES;
use crate::network::Network;
use crate::queues::Queues;
use crate::writes::{Pace, Writes};

/// Pages of a batch, as a share of the most: the last batch of a second's work has what is left, and what is evicted
/// goes in batches of its own. 70 to 123 pages of 128 were counted.
const BATCH_FILL: f64 = 0.8;

/// Transactions that read so many pages on a drive, whatever is written for them.
pub(crate) struct CleaningModel<'a> {
    queues: Queues<'a>,
    /// Of the drive for a page, with its copy, seconds.
    page_s: f64,
    /// Of the drive for a transaction's reads and its write of the log, seconds.
    own_s: f64,
    /// Share of the page cleaner's longer requests after which one is dropped.
    dropped: f64,
    /// Transactions per second of one connection, two, and so on, while the cleaner rests.
    resting: Vec<f64>,
    /// While it writes.
    held_up: Vec<f64>,
}

impl<'a> CleaningModel<'a> {
    /// With up to so many connections.
    pub(crate) fn new(queues: Queues<'a>, connections: u32) -> Self {
        let Queues {
            demands,
            settings,
            drive,
            misses,
        } = queues;
        let copies = if settings.doublewrite {
            PAGE_BYTES
        } else {
            0.0
        };
        let page_s = drive.busy_s(0.0, 1.0, copies);
        let without_pages = settings.of_pages(0.0);
        let resting = queues.network(without_pages);
        let batch_s = BATCH_FILL * settings.flushing.batch_pages * page_s;
        let blocks = if settings.doublewrite { 2.0 } else { 1.0 };
        let mut held_up = resting.committing_beside(batch_s / blocks);
        // The kernel lets no thread flush a file of an emulated drive while another writes to it, so the flush waits, too.
        if demands.emulation_s > 0.0 {
            held_up.delay_s += held_up.commit_s - resting.commit_s;
        }
        let per_s = |network: &Network| {
            let flows = network.flows(connections);
            flows.map(|flow| flow.transactions_per_s).collect()
        };
        Self {
            queues,
            page_s,
            own_s: drive.busy_s(misses, 0.0, 0.0) + without_pages.log_writes * drive.log_write_s,
            dropped: settings.flushing.dropped(drive.in_order),
            held_up: per_s(&held_up),
            resting: per_s(&resting),
        }
    }

    /// The queues, where the pages are a part of the transactions for which they are written.
    pub(crate) fn network(&self, writes: Writes) -> Network {
        self.queues.network(writes)
    }

    /// The pace of `connections` with what is written for a transaction.
    pub(crate) fn pace(&self, writes: Writes, connections: u32) -> Pace {
        let queueing = self.network(writes).flow(connections).transactions_per_s;
        let transactions_per_s = queueing.min(self.in_turns(writes, connections));
        let pages_per_s = transactions_per_s * writes.pages * writes.cleaned;
        let left = 1.0 - transactions_per_s * self.own_s;
        Pace {
            transactions_per_s,
            cleaner_busy: (pages_per_s * self.page_s / left.max(f64::MIN_POSITIVE)).min(1.0),
            dropped: self.dropped,
        }
    }

    /// The throughput `X` with two, of which the cleaner's share `u` has the lower one: `X = u held_up + (1 - u)
    /// resting`, with `u = X pages page_s / (1 - X own_s)`: it writes with what transactions leave of the drive.
    ///
    /// Only what it writes in batches holds commits up.
    fn in_turns(&self, writes: Writes, connections: u32) -> f64 {
        let number = connections as usize - 1;
        let (resting, held_up) = (self.resting[number], self.held_up[number]);
        let held_up = 1.0 / (writes.cleaned / held_up + (1.0 - writes.cleaned) / resting);
        let lost = writes.pages * self.page_s * (resting - held_up).max(0.0);
        let sum = 1.0 + lost + self.own_s * resting;
        let under = sum * sum - 4.0 * self.own_s * resting;
        2.0 * resting / (sum + under.max(0.0).sqrt())
    }
}

//! A device model as a storage in virtual time: whose figures are known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::{DeviceModel, FileKind, Nanoseconds, Op, OpKind};

use crate::MeasureError;
use crate::facts::Facts;
use crate::job::{Done, Job, Order, Work};
use crate::storage::Storage;

/// A model with a file on it.
#[derive(Debug)]
pub struct ModelStorage<M> {
    model: M,
    facts: Facts,
    file_bytes: u64,
    now_ns: Nanoseconds,
    /// Where the next sequential operation goes.
    cursor: u64,
    random: Xoshiro256PlusPlus,
}

impl<M: DeviceModel> ModelStorage<M> {
    /// `model` with a file of `file_bytes`, which are not written yet.
    pub fn new(model: M, facts: Facts, file_bytes: u64) -> Self {
        Self {
            model,
            facts,
            file_bytes,
            now_ns: 1_000_000,
            cursor: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(35),
        }
    }

    fn op(&mut self, job: &Job, number: u64) -> Op {
        let is_read = match job.work {
            Work::Read => true,
            Work::Write => false,
            Work::Mixed => number.is_multiple_of(2),
        };
        let blocks = self.file_bytes / job.bytes;
        let offset = match job.order {
            Order::Random => self.random.random_range(0..blocks) * job.bytes,
            Order::Sequential => {
                let offset = self.cursor.next_multiple_of(job.bytes);
                let offset = if offset + job.bytes > self.file_bytes {
                    0
                } else {
                    offset
                };
                self.cursor = offset + job.bytes;
                offset
            }
        };
        Op {
            kind: if is_read { OpKind::Read } else { OpKind::Write },
            bytes: job.bytes,
            offset,
            ..FLUSH
        }
    }
}

const FLUSH: Op = Op {
    kind: OpKind::Flush,
    file: 1,
    file_kind: FileKind::Data,
    offset: 0,
    bytes: 0,
    compressed_fraction: 1.0,
};

impl<M: DeviceModel> Storage for ModelStorage<M> {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now_ns(&self) -> Nanoseconds {
        self.now_ns
    }

    fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    fn shrink(&mut self, file_bytes: u64) -> Result<(), MeasureError> {
        self.file_bytes = file_bytes;
        self.cursor = 0;
        Ok(())
    }

    fn pause(&mut self, ns: Nanoseconds) {
        self.now_ns += ns;
    }

    fn run(&mut self, job: &Job) -> Result<Vec<Done>, MeasureError> {
        let end_ns = self.now_ns.saturating_add(job.limit.ns);
        let mut clients: BinaryHeap<_> =
            std::iter::repeat_n(Reverse(self.now_ns), job.depth).collect();
        let mut done = Vec::new();
        for number in 0..job.limit.operations {
            let Some(Reverse(free_ns)) = clients.pop() else {
                break;
            };
            let start_ns = free_ns + job.gap_ns;
            if start_ns >= end_ns {
                break;
            }
            let op = self.op(job, number);
            let end_ns = self.model.submit(&op, start_ns);
            done.push(Done { start_ns, end_ns });
            clients.push(Reverse(end_ns));
        }
        done.sort_by_key(|operation| operation.end_ns);
        if let Some(last) = done.last() {
            self.now_ns = self.now_ns.max(last.end_ns);
        }
        Ok(done)
    }

    fn flush(&mut self) -> Result<Done, MeasureError> {
        let start_ns = self.now_ns;
        let end_ns = self.model.submit(&FLUSH, start_ns);
        self.now_ns = end_ns;
        Ok(Done { start_ns, end_ns })
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

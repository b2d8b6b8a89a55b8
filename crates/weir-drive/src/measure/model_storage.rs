//! A device model as a storage in virtual time: whose figures are known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::{DeviceModel, FileKind, Nanoseconds, Op, OpKind};

use crate::measure::MeasureError;
use crate::measure::facts::Facts;
use crate::measure::job::{Job, OperationSpan};
use crate::measure::offsets::Offsets;
use crate::measure::storage::Storage;

/// A model with a file on it.
#[derive(Debug)]
pub struct ModelStorage<M> {
    model: M,
    facts: Facts,
    offsets: Offsets,
    now_ns: Nanoseconds,
}

impl<M: DeviceModel> ModelStorage<M> {
    /// `model` with a file of `file_bytes`, which are not written yet.
    pub fn new(model: M, facts: Facts, file_bytes: u64) -> Self {
        Self {
            model,
            facts,
            offsets: Offsets::new(file_bytes, Xoshiro256PlusPlus::seed_from_u64(35)),
            now_ns: 1_000_000,
        }
    }

    fn op(&mut self, job: &Job, number: u64) -> Op {
        let is_read = job.is_read(number);
        let offset = self.offsets.next(job);
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
        self.offsets.file_bytes()
    }

    fn shrink(&mut self, file_bytes: u64) -> Result<(), MeasureError> {
        self.offsets.shrink(file_bytes);
        Ok(())
    }

    fn pause(&mut self, ns: Nanoseconds) {
        self.now_ns += ns;
    }

    fn run(&mut self, job: &Job) -> Result<Vec<OperationSpan>, MeasureError> {
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
            done.push(OperationSpan { start_ns, end_ns });
            clients.push(Reverse(end_ns));
        }
        done.sort_by_key(|operation| operation.end_ns);
        if let Some(last) = done.last() {
            self.now_ns = self.now_ns.max(last.end_ns);
        }
        Ok(done)
    }

    fn flush(&mut self) -> Result<OperationSpan, MeasureError> {
        let start_ns = self.now_ns;
        let end_ns = self.model.submit(&FLUSH, start_ns);
        self.now_ns = end_ns;
        Ok(OperationSpan { start_ns, end_ns })
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

//! Offsets of a job's operations in the file.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::measure::job::{Job, Order};

/// Places in a file, random ones or one after the other.
#[derive(Debug)]
pub(crate) struct Offsets {
    file_bytes: u64,
    /// Offset of the next sequential operation.
    cursor: u64,
    random: Xoshiro256PlusPlus,
}

impl Offsets {
    /// In a file of `file_bytes`, from its beginning.
    pub(crate) fn new(file_bytes: u64, random: Xoshiro256PlusPlus) -> Self {
        Self {
            file_bytes,
            cursor: 0,
            random,
        }
    }

    pub(crate) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// The file is as long as this from now on; sequential operations begin anew.
    pub(crate) fn shrink(&mut self, file_bytes: u64) {
        self.file_bytes = file_bytes;
        self.cursor = 0;
    }

    /// The offset of the next operation of `job`, bytes.
    pub(crate) fn next(&mut self, job: &Job) -> u64 {
        match job.order {
            Order::Random => {
                let blocks = self.file_bytes / job.bytes;
                self.random.random_range(0..blocks) * job.bytes
            }
            Order::Sequential => {
                // A job of larger operations begins at a multiple of them.
                let offset = self.cursor.next_multiple_of(job.bytes);
                let offset = if offset + job.bytes > self.file_bytes {
                    0
                } else {
                    offset
                };
                self.cursor = offset + job.bytes;
                offset
            }
        }
    }
}

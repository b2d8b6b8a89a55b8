//! What garbage collection adds to a write.

use std::collections::HashMap;

use weir_model::{DriveProfile, Op};

use super::amplification::Amplification;
use super::flash::MappedFlash;

/// A write of this size or more fills flash blocks by itself, like a sequential one.
const LARGE_BYTES: u64 = 128 * 1024;
/// Files whose last write is remembered; past it, the memory starts afresh.
const FILES_REMEMBERED: usize = 65_536;

/// Media bytes per stored byte of each write.
#[derive(Debug)]
pub(super) enum Collection {
    /// One factor for all random writes: a drive that is always full and in steady state.
    Steady {
        amplification: Amplification,
        /// File -> end of its last write.
        last_end: HashMap<u64, u64>,
    },
    /// Follows from what was written where.
    Mapped(MappedFlash),
}

impl Collection {
    pub(super) fn of(profile: &DriveProfile, capacity_bytes: u64) -> Self {
        match &profile.flash {
            Some(flash) => {
                Self::Mapped(MappedFlash::new(flash, profile.compression, capacity_bytes))
            }
            None => Self::Steady {
                amplification: Amplification::from_factor(profile.write.amplification_random),
                last_end: HashMap::new(),
            },
        }
    }

    /// Accounts for a write that stores `fraction` of its bytes.
    pub(super) fn write(&mut self, op: &Op, fraction: f64) -> f64 {
        match self {
            Self::Mapped(flash) => flash.write(op, fraction),
            Self::Steady {
                amplification,
                last_end,
            } => {
                if is_sequential(last_end, op) {
                    1.0
                } else {
                    amplification.factor(fraction)
                }
            }
        }
    }

    /// TRIM.
    pub(super) fn discard(&mut self, op: &Op) {
        if let Self::Mapped(flash) = self {
            flash.discard(op);
        }
    }
}

fn is_sequential(last_end: &mut HashMap<u64, u64>, op: &Op) -> bool {
    if last_end.len() >= FILES_REMEMBERED {
        last_end.clear();
    }
    let previous_end = last_end.insert(op.file, op.offset + op.bytes);
    previous_end == Some(op.offset) || op.bytes >= LARGE_BYTES
}

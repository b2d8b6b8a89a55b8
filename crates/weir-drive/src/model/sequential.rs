//! Detection of operations that go on where the one before them on the same file ended.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use weir_model::Op;

/// Files whose last operation is remembered; past it, the memory starts afresh.
const FILES_REMEMBERED: usize = 65_536;

/// File -> end of its last operation.
#[derive(Debug, Default)]
pub(super) struct LastEnds(HashMap<u64, u64, FixedState>);

impl LastEnds {
    /// Remembers `op`; true if it continues the one before.
    pub(super) fn continues(&mut self, op: &Op) -> bool {
        if self.0.len() >= FILES_REMEMBERED {
            self.0.clear();
        }
        self.0.insert(op.file, op.offset + op.bytes) == Some(op.offset)
    }
}

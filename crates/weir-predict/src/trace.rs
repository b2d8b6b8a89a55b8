//! Page references from a drive's trace: the reads of a run with a tiny pool.
//!
//! What a tiny pool misses is nearly all that is asked for, and reproduces the curve of larger
//! ones: with a pool of 2 % of the data to 0.0001 from pools of 20 % on, with 5 % to 0.003. The
//! trace's file is read in one pass; memory is 4 bytes for each of up to [`READS_MAX`] references, and some 60 for each
//! page.

use std::collections::HashMap;
use std::path::Path;

use weir_drive::{TraceOperation, TraceReader};
use weir_model::{FileKind, OpKind};

use crate::PredictError;

const PAGE: u64 = 16_384;
/// Reads of a recording that are taken, its first: 400 MB of them, some hours of a busy drive.
pub const READS_MAX: usize = 100_000_000;

/// The pages that a recorded run read, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageReads {
    /// Numbers of the pages: 0 for the first one seen, and so on.
    pub pages: Vec<u32>,
    /// Different pages among them.
    pub distinct: u32,
    /// Pages of data files that the run wrote.
    pub written: u64,
    /// Length of what was taken of the recording, seconds.
    pub length_s: f64,
    /// The recording goes on beyond [`READS_MAX`].
    pub has_more: bool,
}

impl PageReads {
    /// Reads the trace in the file `path`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that is no trace.
    pub fn read(path: &Path) -> Result<Self, PredictError> {
        let mut reader = TraceReader::open(path)?;
        let mut taking = TraceScan::up_to(READS_MAX);
        for operation in reader.by_ref() {
            taking.take(&operation?);
        }
        let reads = taking.reads();
        let refuse = |why: String, remedy| PredictError::Trace {
            path: path.display().to_string(),
            why,
            remedy,
        };
        if reader.lost() > 0 {
            let why = format!("{} operations were not recorded", reader.lost());
            return Err(refuse(
                why,
                "record again with less load, or on a calmer machine",
            ));
        }
        if reads.pages.len() < 2 * reads.distinct.max(1) as usize {
            let why = format!(
                "{} reads of {} pages say too little about how often each is asked for",
                reads.pages.len(),
                reads.distinct
            );
            return Err(refuse(why, "record a longer run with a smaller pool"));
        }
        Ok(reads)
    }
}

/// A trace that is being read.
struct TraceScan {
    reads: PageReads,
    reads_max: usize,
    /// Numbers of the pages, by file and place.
    numbers: HashMap<(u32, u64), u32, foldhash::fast::FixedState>,
    first_ns: Option<u64>,
}

impl TraceScan {
    fn up_to(reads_max: usize) -> Self {
        Self {
            reads: PageReads::default(),
            reads_max,
            numbers: HashMap::default(),
            first_ns: None,
        }
    }

    fn take(&mut self, operation: &TraceOperation) {
        let reads = &mut self.reads;
        if reads.pages.len() >= self.reads_max {
            reads.has_more = true;
            return;
        }
        let began_ns = *self.first_ns.get_or_insert(operation.at_ns);
        reads.length_s = operation.at_ns.saturating_sub(began_ns) as f64 / 1e9;
        if operation.file_kind != FileKind::Data {
            return;
        }
        let first = operation.offset / PAGE;
        let pages = first..(operation.offset + operation.bytes).div_ceil(PAGE);
        match operation.what {
            OpKind::Read => {
                for page in pages {
                    let next = self.numbers.len() as u32;
                    let number = self.numbers.entry((operation.file, page));
                    reads.pages.push(*number.or_insert(next));
                }
            }
            OpKind::Write => reads.written += pages.end - pages.start,
            OpKind::Flush | OpKind::Discard => {}
        }
    }

    fn reads(self) -> PageReads {
        PageReads {
            distinct: self.numbers.len() as u32,
            ..self.reads
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut-off traces and other versions are the reader's to refuse, and are tested there.
    #[test]
    fn what_is_no_trace_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, "no trace").unwrap();
        let error = PageReads::read(&path).unwrap_err().to_string();
        assert!(
            error.contains("is no trace") && error.lines().count() == 1,
            "{error}"
        );
    }

    #[test]
    fn of_a_long_trace_the_first_reads_are_taken() {
        let mut taking = TraceScan::up_to(3);
        for second in 0..5 {
            taking.take(&TraceOperation {
                at_ns: second * 1_000_000_000,
                latency_ns: 80_000,
                what: OpKind::Read,
                file_kind: FileKind::Data,
                file: 1,
                offset: second % 2 * PAGE,
                bytes: PAGE,
            });
        }
        let reads = taking.reads();
        assert!(reads.has_more && (reads.length_s - 2.0).abs() < 1e-9);
        assert_eq!((reads.pages, reads.distinct), (vec![0, 1, 0], 2));
    }
}

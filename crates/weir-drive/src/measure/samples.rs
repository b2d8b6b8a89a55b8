//! Values that the rounds of a measurement have found.

use std::collections::BTreeMap;

use crate::measure::job::Work;

/// One figure for each round and name, and the distributions of all rounds together.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    /// Name of a quantity -> its value in each round.
    pub(crate) values: BTreeMap<&'static str, Vec<f64>>,
    /// Latencies of single 4 KiB reads, microseconds.
    pub(crate) read_us: Vec<f64>,
    /// Of writes to an idle drive.
    pub(crate) write_us: Vec<f64>,
    /// Of flushes of an idle drive.
    pub(crate) flush_us: Vec<f64>,
    /// Operations a second and latencies by size and depth.
    pub(crate) cells: Vec<Cell>,
    /// Complete rounds.
    pub(crate) rounds: u32,
    /// Bytes written.
    pub(crate) written_bytes: u64,
    /// Bytes of the file.
    pub(crate) file_bytes: u64,
    /// Curves of random writes at the end: operations over time.
    pub(crate) random_writes: Vec<Curve>,
    /// The first write of the file: operations over time.
    pub(crate) first_write: Curve,
    /// One long go of random 4 KiB reads after it.
    pub(crate) long_reads: Curve,
    /// After the first write: how long the drive was left alone, nanoseconds, and the sequential writes then.
    pub(crate) after_rest: Option<(u64, Curve)>,
    /// True if the user ended it.
    pub(crate) is_cut_short: bool,
}

/// Accepted operations over time in one go of writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Curve {
    /// Bytes of an operation.
    pub(crate) bytes: u64,
    /// Nanoseconds since the start at which each operation was acknowledged.
    pub(crate) ends_ns: Vec<u64>,
}

/// One size and depth of one kind of work.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) work: Work,
    pub(crate) bytes: u64,
    pub(crate) depth: usize,
    pub(crate) per_second: Vec<f64>,
    pub(crate) mean_us: Vec<f64>,
    pub(crate) p99_us: Vec<f64>,
}

impl Samples {
    /// Returns true if the user ended the measurement before its plan was done.
    pub fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    pub(crate) fn add(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.values.entry(name).or_default().push(value);
        }
    }

    /// The values of a quantity in each round.
    pub(crate) fn values(&self, name: &str) -> &[f64] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn mean(&self, name: &str) -> Option<f64> {
        mean(self.values(name))
    }

    /// The cell of a size and depth, made if it is new.
    pub(crate) fn cell(&mut self, work: Work, bytes: u64, depth: usize) -> &mut Cell {
        let known = |cell: &Cell| cell.work == work && cell.bytes == bytes && cell.depth == depth;
        let index = self
            .cells
            .iter()
            .position(known)
            .unwrap_or(self.cells.len());
        if index == self.cells.len() {
            self.cells.push(Cell {
                work,
                bytes,
                depth,
                per_second: Vec::new(),
                mean_us: Vec::new(),
                p99_us: Vec::new(),
            });
        }
        &mut self.cells[index]
    }
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

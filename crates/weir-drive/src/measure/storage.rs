//! The seam between the measuring code and what it measures.

use weir_model::Nanoseconds;

use crate::measure::MeasureError;
use crate::measure::facts::Facts;
use crate::measure::job::{Job, OperationSpan};

/// Something that stores: a file on a disk, or a device model in virtual time.
pub trait Storage {
    /// Returns the facts that are known without measuring.
    fn facts(&self) -> &Facts;

    /// The clock, nanoseconds.
    fn now_ns(&self) -> Nanoseconds;

    /// Bytes of the file that jobs read and write.
    fn file_bytes(&self) -> u64;

    /// Cuts the file to what was written of it.
    ///
    /// # Errors
    /// If the system refuses.
    fn shrink(&mut self, file_bytes: u64) -> Result<(), MeasureError>;

    /// Leaves the storage alone for so long.
    fn pause(&mut self, ns: Nanoseconds);

    /// Runs a job; what is done, in the order in which it was done. A stop ends it early.
    ///
    /// # Errors
    /// If an operation fails.
    fn run(&mut self, job: &Job) -> Result<Vec<OperationSpan>, MeasureError>;

    /// Makes all that was written durable; how long that took.
    ///
    /// # Errors
    /// If the flush fails.
    fn flush(&mut self) -> Result<OperationSpan, MeasureError>;

    /// Returns true if the user wants it to end.
    fn is_stopped(&self) -> bool;
}

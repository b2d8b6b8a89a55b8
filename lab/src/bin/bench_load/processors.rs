//! Processor that a thread runs on.

use std::thread::available_parallelism;

use anyhow::Context as _;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Processor of the side that answers, and of the side that asks.
pub(crate) const ANSWERING: usize = 0;
pub(crate) const ASKING: usize = 1;

/// Puts the calling thread, and those that it will start, on one processor. With a single processor
/// there is nothing to choose.
pub(crate) fn pin(processor: usize) -> anyhow::Result<()> {
    let mut set = CpuSet::new();
    set.set(processor % available_parallelism()?.get());
    sched_setaffinity(None, &set).context("while choosing a processor")
}

/// Runs `work` on a thread of its own that is pinned, as are those that it starts.
pub(crate) fn on<T: Send>(
    processor: usize,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    std::thread::scope(|scope| {
        let pinned = scope.spawn(|| {
            pin(processor)?;
            work()
        });
        pinned
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

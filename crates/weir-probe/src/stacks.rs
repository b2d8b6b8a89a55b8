//! Stacks of a process by the kernel's software clock.
//! Change here: what is sampled: `sampler.rs`, `ring.rs`; names of functions: `symbols.rs`; waits: `waits.rs`. Pictures and differences: `weir-report/src/flames/`.
//!
//! Sampling follows `perf_event_open(2)`: `PERF_COUNT_SW_CPU_CLOCK`, call chains by frame pointers. With the privilege there
//! is an event for each processor, else for each thread. The latter needs no root where `kernel.perf_event_paranoid` is 2 or less and the process is the user's own.

mod error;
mod ring;
mod sampler;
mod symbols;
mod waits;

pub use error::ProfileError;
pub use sampler::{FREQUENCY_HZ, StackSampler};

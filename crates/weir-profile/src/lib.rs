//! Stacks of a process by the kernel's software clock: sampled, folded, drawn and compared.
//! Change here: what is sampled: `sampler.rs`, `ring.rs`; names of functions: `symbols.rs`; pictures: `flame_graph.rs`; differences of two profiles: `difference.rs`.
//!
//! Sampling follows `perf_event_open(2)`: `PERF_COUNT_SW_CPU_CLOCK`, call chains by frame pointers. With the privilege there
//! is an event for each processor, else for each thread. The latter needs no root where `kernel.perf_event_paranoid` is 2 or less and the process is the user's own.

mod difference;
mod error;
mod flame_graph;
mod ring;
mod sampler;
mod stack_counts;
mod symbols;

pub use difference::{FrameChange, largest_changes};
pub use error::ProfileError;
pub use flame_graph::{difference_graph, flame_graph};
pub use sampler::{FREQUENCY_HZ, StackSampler};
pub use stack_counts::StackCounts;

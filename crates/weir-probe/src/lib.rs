//! Samplers of server, host, process and drive metrics: one file per source.
//!
//! A [`Probe`] reads one source. The [`Sampler`] asks each probe at the same instants from a thread
//! of its own, so that a server that stalls costs its own samples and nobody else's. What could
//! not be read in time is a gap, never a zero.

mod drive;
mod error;
mod host;
mod memory;
mod probe;
mod process;
mod sampler;
mod status;

pub use drive::DriveProbe;
pub use error::ProbeError;
pub use host::HostProbe;
pub use memory::{Memory, memory};
pub use probe::{Probe, Reading};
pub use process::ProcessProbe;
pub use sampler::{Gap, Sampler};
pub use status::StatusProbe;

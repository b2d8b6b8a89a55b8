//! Samplers of server, host, process and drive metrics: one file per source.
//! Change here: how a metric is read: `server/`, `host/`, `process.rs`, `drive.rs`; when: `sampler.rs`; stacks of a process: `stacks/`. Its name and unit: `weir-model/src/metric/names.rs`.
//!
//! A [`Probe`] reads one source. The [`Sampler`] asks each probe at the same instants from a thread
//! of its own, so that a server that stalls costs its own samples and no others. What could
//! not be read in time is a gap with its reason, never a zero.
#![warn(clippy::missing_errors_doc)]

mod drive;
mod error;
mod host;
mod probe;
mod probe_parts;
mod probes_page;
mod proc_file;
mod process;
mod readings;
mod sampler;
mod server;
mod stacks;

pub use drive::{DriveProbe, ReplicaDriveProbe};
pub use error::ProbeError;
pub use host::{HostProbe, Memory, block_device, memory, processor};
pub use probe::Probe;
pub use probes_page::probes_page;
pub use process::ProcessProbe;
pub use readings::{Loss, Readings};
pub use sampler::Sampler;
pub use server::{ReplicaProbe, ServerProbe};
pub use stacks::{FREQUENCY_HZ, ProfileError, StackSampler};

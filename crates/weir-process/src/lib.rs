//! Processes, mounts and directories of Weir on this machine: tied to its parent's life, recorded, and ended by id.
//! Change here: how a child starts: `spawn.rs`; leftovers of a dead owner: `sweep.rs`; private files and logs:
//! `private_file.rs`, `json_log.rs`.
//!
//! Three layers of certainty that nothing stays behind. A child dies with its parent
//! ([`spawn_tied`]: the kernel sends the signal, also after `kill -9`). What a child could not
//! take with it (a mount, a working directory) stands in the [`Registry`] under the identity of
//! its owner. [`sweep`] ends what an owner that no longer lives has left, and nothing else. A server
//! that is meant to go on ([`spawn_standing`]) is its own owner: no sweep ends it.
//!
//! What a server on an emulated drive has flushed goes on beside its writes by [`FlushCalls`].

mod alarm;
mod error;
mod flush_calls;
mod flush_obstacle;
mod identity;
mod inheritance;
mod json_log;
mod mapped_memory;
mod memory_group;
mod mounts;
mod name;
mod path_error;
mod priority;
mod private_file;
mod registry;
mod runtime_directory;
mod spawn;
mod sweep;
mod work_directory;

pub use alarm::{Alarm, instant_at, monotonic_ns, ns_at};
pub use error::ProcessError;
pub use flush_calls::{FLUSH, FlushCalls};
pub use flush_obstacle::FlushObstacle;
pub use identity::ProcessIdentity;
pub use inheritance::inherit_nothing;
pub use json_log::append_json_line;
pub use mapped_memory::MappedMemory;
pub use memory_group::MemoryGroup;
pub use mounts::{Mount, is_mounted, unmount};
pub use name::short_name;
pub use path_error::{MAKE_ROOM, PathError};
pub use priority::run_promptly;
pub use private_file::{create_private_directory, create_private_file, write_private};
pub use registry::{Entry, EntryKind, Registration, Registry};
pub use runtime_directory::runtime_directory;
pub use rustix::process::Signal;
pub use spawn::{pin, spawn_standing, spawn_tied};
pub use sweep::{SweptItem, sweep};
pub use work_directory::{WorkDirectory, create_users_folder};

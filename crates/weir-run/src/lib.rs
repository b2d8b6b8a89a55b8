//! Makes the runs of a plan: what executes a study touches servers and drives, and nothing else does.
//! Change here: an event under load: `events/prepared_event.rs`; where the server of a run comes from: `target/`; when a warm-up ends: `warmup.rs`; what limits a run: `bottleneck.rs`; one run: `session.rs`.
//!
//! Every run starts from nothing but the snapshot: data restored, drive mounted, server started
//! cold, loaded, and all of it thrown away. What remains is the stored result. Where a study varies
//! the load within one server, the runs of a block that differ in nothing else share one. A server that
//! the user gives is loaded as it is, and gets back what was set on it. A server may be on the host of an agent: that does
//! there what is done here ([`ServerHosting`]), and the load comes from here.

mod bottleneck;
mod cancel;
mod capture_load;
mod commands;
mod context;
mod counters;
mod data;
mod drives;
mod error;
mod events;
mod external_servers;
mod host;
mod hosting;
mod live;
mod loader;
mod options;
mod profile;
mod query_plans;
mod rehearsal;
mod remote_servers;
mod runner;
mod server_hosts;
mod session;
mod study_targets;
mod tables;
mod target;
mod usage;
mod warmup;
mod watch;
mod working_directory;

pub use error::RunError;
pub use hosting::ServerHosting;
pub use options::{RunOptions, UserPermissions};
pub use rehearsal::rehearse;
pub use runner::{RunOutcome, run};
pub use usage::host_utilization;
pub use working_directory::data_folder;

//! The interpreter side of sysbench's scripts: `LuaJIT` states with the table `sysbench`, its C surface and
//! its modules.
//!
//! No sockets and no clock here: a [`State`] asks its [`Host`], which is implemented where connections
//! and time are. All calls of a script that wait go through one function (`wait.rs`), in which a request
//! is made, handed to the host, and its reply turned into Lua's values. A host that waits in place has a
//! thread for each state. A script with FFI is a program: nothing here confines it.
//!
//! Written from what scripts may rely on and from watching sysbench run, not from its sources.

mod c_database;
mod c_functions;
mod c_histogram;
mod c_statement;
mod crash;
mod error;
mod files;
mod host;
mod ignored_errors;
mod loads;
mod options;
mod output;
mod prelude;
mod state;
mod state_data;
mod statement;
mod wait;

pub use crash::tell_where;
pub use error::ScriptError;
pub use files::{ScriptFiles, check_syntax};
pub use host::{
    Counter, Failure, Host, Level, Parameter, RandomKind, Refusal, Reply, Request, Rows,
};
pub use ignored_errors::Errors;
pub use options::{OptionKind, OptionValue, ScriptOption, option_list};
pub use output::flush_output;
pub use state::{
    CommandKind, CoroutineStep, Events, Identity, MovableState, State, luajit_version,
};
pub use wait::PendingRequest;

#[cfg(test)]
mod tests;

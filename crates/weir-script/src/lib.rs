//! Runs users' sysbench scripts: commands, options, threads or coroutines, and the Lua interpreter.
//! Change here: the table `sysbench` in Lua: `lua/prelude/`; C functions of scripts: `lua/c_functions.rs`, `lua/c_database.rs`; commands: `execute.rs`; a thread for each connection: `run.rs`; coroutines: `reactor.rs`.
//!
//! Each connection has a thread of its own and waits by blocking (`run`), or all are coroutines in the load engine's reactors
//! (`reactor`).
//!
//! [`execute`] is the whole: it finds the script, reads its options, and does the command. Interpreters are
//! the module `lua`'s, connections `weir_mysql`'s; what threads count goes to the meters of `weir_load`, so that a
//! script's report is that of a native workload. Nothing here prints: text goes to the caller.
//!
//! Without the feature `lua` only [`ScriptProcess`] is left, and reading a script is an error.

mod job;
mod process;

#[cfg(feature = "lua")]
mod connect;
#[cfg(feature = "lua")]
mod engine;
#[cfg(feature = "lua")]
mod execute;
#[cfg(feature = "lua")]
mod file_arguments;
#[cfg(feature = "lua")]
mod find;
#[cfg(feature = "lua")]
mod given_options;
#[cfg(feature = "lua")]
mod hooks;
#[cfg(feature = "lua")]
mod host;
#[cfg(feature = "lua")]
mod log;
#[cfg(feature = "lua")]
pub mod lua;
#[cfg(feature = "lua")]
mod options;
#[cfg(feature = "lua")]
mod parallel;
#[cfg(feature = "lua")]
mod profile;
#[cfg(feature = "lua")]
mod reactor;
#[cfg(feature = "lua")]
mod ready;
#[cfg(feature = "lua")]
mod reporters;
#[cfg(feature = "lua")]
mod run;
#[cfg(feature = "lua")]
mod run_end;
#[cfg(feature = "lua")]
mod serve;
#[cfg(feature = "lua")]
mod session;
#[cfg(feature = "lua")]
mod statement_kinds;
#[cfg(feature = "lua")]
mod statement_name;
#[cfg(feature = "lua")]
mod states;
#[cfg(not(feature = "lua"))]
mod without_lua;
#[cfg(feature = "lua")]
mod world;

#[cfg(feature = "lua")]
pub use execute::execute;
#[cfg(feature = "lua")]
pub use find::{Script, is_found};
#[cfg(feature = "lua")]
pub use log::Output;
#[cfg(feature = "lua")]
pub use lua::ScriptFiles;
pub use process::{OnInterval, PROCESS_WORDS, ScriptProcess};
#[cfg(feature = "lua")]
pub use serve::serve;
#[cfg(not(feature = "lua"))]
pub use without_lua::{NoLua, ScriptFiles, is_found};
#[cfg(feature = "lua")]
pub use world::{AWAY_MAX, DriverKind, Report, ScriptPlan};

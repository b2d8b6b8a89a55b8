//! Runs users' sysbench scripts: commands, options, threads or coroutines, and the Lua interpreter.
//! Change here: the table `sysbench` in Lua: `lua/prelude/`; C functions of scripts: `lua/c_functions.rs`, `lua/c_database.rs`; commands: `execute.rs`; a thread for each connection: `run.rs`; coroutines: `reactor.rs`.
//!
//! Each connection has a thread of its own and waits by blocking (`run`), or all are coroutines in the load engine's reactors
//! (`reactor`).
//!
//! [`execute`] is the whole: it finds the script, reads its options, and does the command. Interpreters are
//! the module `lua`'s, connections `weir_mysql`'s; what threads count goes to the meters of `weir_load`, so that a
//! script's report is that of a native workload. Nothing here prints: text goes to the caller.

mod connect;
mod engine;
mod execute;
mod find;
mod given_options;
mod hooks;
mod host;
mod job;
mod log;
pub mod lua;
mod option_files;
mod options;
mod parallel;
mod process;
mod profile;
mod reactor;
mod ready;
mod reporters;
mod run;
mod run_end;
mod serve;
mod session;
mod statement_kinds;
mod statement_name;
mod states;
mod world;

pub use execute::execute;
pub use find::{Script, is_found};
pub use log::Output;
pub use process::{OnInterval, PROCESS_WORDS, ScriptProcess};
pub use serve::serve;
pub use world::{AWAY_MAX, DriverKind, Report, ScriptPlan};

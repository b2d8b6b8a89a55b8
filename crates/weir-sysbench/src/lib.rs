//! sysbench's command line and report: the grammar, options, defaults and formats of 1.0.20 and of 1.1.
//! Change here: an option of sysbench: `options.rs`; of Weir alone: `own_options.rs`; from options to a load: `invocation.rs`; the report: `report.rs`, what Weir adds to it: `additions.rs`; a spec as a command: `written.rs`.
//!
//! `WORKLOAD [--name=value ...] prepare|run|cleanup|help`. Written from sysbench's documented
//! behaviour and the output of the program, not from its sources.

mod additions;
mod command_line;
mod compat;
mod drop_in;
mod help;
mod invocation;
mod options;
mod own_options;
mod report;
mod script;
mod server;
mod shell_word;
mod value;
mod written;

pub use additions::{additions, asked_additions, new_orders_per_minute};
pub use command_line::parse;
pub use compat::Compat;
pub use drop_in::{Refusal, refusal};
pub use help::{help, option_help};
pub use invocation::{Command, Form, Invocation};
pub use report::{
    THREADS_STARTED, checkpoint_report, final_report, header, interval_line, options_header,
    version,
};
pub use script::{
    LuaThreads, Options, ScriptLine, module_of, parse_script, script_line, script_sees,
    script_version,
};
pub use shell_word::shell_word;
pub use value::UsageError;
pub use written::command_line;

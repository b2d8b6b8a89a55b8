//! sysbench's command line and report: the grammar, options, defaults and formats of 1.0.20.
//!
//! `WORKLOAD [--name=value ...] prepare|run|cleanup|help`. Written from sysbench's documented
//! behaviour and the output of the program, not from its sources.

mod additions;
mod invocation;
mod options;
mod report;
mod value;

pub use additions::additions;
pub use invocation::{Command, Invocation, PASSWORD_VARIABLE, parse};
pub use options::help;
pub use report::{final_report, header, interval_line};
pub use value::UsageError;

//! A program at a terminal: what it prints, how it ends, signals, passwords, and the login to the user's server.
//! Change here: standard output and colours: `output.rs`; exit codes: `outcome.rs`; the line of an error: `error_line.rs`; Ctrl-C: `interrupt.rs`; questions for a password: `password.rs`; option files and the login: `external_server.rs`.
//!
//! The programs `weir` and `weir-flashback` share it. `#[macro_use] extern crate weir_terminal` puts macros for standard
//! error in the place of the standard library's.

#[macro_use]
pub mod stderr;

mod error_line;
pub mod external_server;
pub mod interrupt;
mod outcome;
pub mod output;
pub mod password;

pub use error_line::error_line;
pub use outcome::{Outcome, exit_code};

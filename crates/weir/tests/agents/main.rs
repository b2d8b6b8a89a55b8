//! Agents as processes on hosts of their own: network namespaces on a bridge, with clocks of their own.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, and says why"
)]

#[cfg(feature = "lua")]
mod early_ends;
mod faults;
mod hosts;
mod prepare;
mod remote_server;
#[cfg(feature = "lua")]
mod script;
mod server_host;
mod ssh;
mod study;

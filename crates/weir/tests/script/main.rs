//! `weir load my.lua` beside the distribution's sysbench: the same script and the same command line to
//! both, numbers masked, and everything else equal.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod bad_input;
mod beside;
mod c_modules;
mod c_surface;
mod commands;
mod contract;
mod database;
mod hosts;
mod losses;
mod modules;
mod native;
mod own_sockets;
mod profile;
mod reactors;
mod results;
mod runs;
mod suites;

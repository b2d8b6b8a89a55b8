//! Logs that real servers wrote, and packets of real sessions, become captures.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod cases;
mod digests;
mod golden;
mod logs;
mod pcap;
mod several;
mod wire;

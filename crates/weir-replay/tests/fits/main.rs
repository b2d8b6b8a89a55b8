//! Workloads fitted to captures whose truth is known.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod digests;
mod known;
mod names;
mod privacy;
mod shop;
mod written;

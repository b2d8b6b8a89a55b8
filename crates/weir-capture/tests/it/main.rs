//! Captures from real servers of both flavours.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod drivers;
mod poll;
mod proxy;

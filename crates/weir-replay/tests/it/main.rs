//! Replays on real servers of both flavours.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod bench;
mod clients;
mod difference_sources;
mod losses;
mod null;
mod order;
mod replayed_state;
mod shop;

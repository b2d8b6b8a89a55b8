//! Facts, advice and copiers on real servers of both flavours.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod advice;
mod copiers;
mod ledger;
mod own_tool;

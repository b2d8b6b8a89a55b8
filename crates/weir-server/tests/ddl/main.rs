//! Facts, advice and copiers on real servers of both flavours.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod advice;
mod copiers;
mod ledger;
mod name_case;
mod own_tool;

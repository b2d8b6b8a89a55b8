//! A user's own load as a file: its format, and the proxy, the logs and the polls that it is made from.
//! Change here: another kind of log: `import/`; the proxy: `proxy/`; polls of a server: `poll/`; fingerprints of statements: `sql/`; what becomes of values: `literals.rs`; the format: `record.rs`, `block.rs`.
//!
//! A capture (`name.weircap`) has what sessions asked a server, when, and what came of it. [`CaptureWriter`] makes one,
//! [`CaptureReader`] reads it, also while it is written. What becomes of the statements' values is decided before
//! they are written ([`Literals`]); statements about accounts leave no more than their first words.

mod block;
mod bytes;
mod error;
mod head;
mod import;
mod literals;
mod poll;
mod proxy;
mod reader;
mod record;
mod server_counters;
mod sql;
mod summary;
mod values;
mod writer;

pub use error::CaptureError;
pub use head::{CaptureCounts, CaptureHead, CaptureSource, CaptureTail, Losses};
pub use import::{ImportResult, LogFormat, import_log, import_logs, log_format};
pub use literals::Literals;
pub use poll::{PollTimes, StatementPoll};
pub use proxy::{CaptureProxy, ProxyCertificate};
pub use reader::CaptureReader;
pub use record::{Command, CommandEnd, CommandStart, Happening, Login, Record};
pub use server_counters::{CountedKind, ServerCounters};
pub use sql::{
    StatementClass, Template, TransactionStep, fingerprint, inlined, transaction_step,
    without_executed_comments,
};
pub use summary::{CaptureSummary, content_digest};
pub use writer::CaptureWriter;

pub use mysql_common::Value;

#[cfg(test)]
mod tests;

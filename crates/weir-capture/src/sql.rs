//! Statements as the bytes that a client sent, in whatever encoding: their words, their literals apart from the rest,
//! what they have in common, and what class they are of.

mod by_sql;
mod class;
mod clock;
mod cut;
mod executed;
mod fingerprint;
mod open_text;
mod parts;
mod routine;
mod template;

pub(crate) use by_sql::{has_marks, is_by_sql};
pub use class::{StatementClass, TransactionStep, transaction_step};
pub(crate) use clock::sets_own_clock;
pub(crate) use cut::is_cut;
pub use executed::{inlined, without_executed_comments};
pub use fingerprint::fingerprint;
pub(crate) use open_text::OpenText;
pub(crate) use parts::{Parts, split};
pub(crate) use routine::is_of_routine;
pub use template::Template;

//! A workload file fitted to a capture, and how close it is.
//!
//! [`fit`] reads a capture's transactions and writes a workload with the same statements, weights, links between values
//! and distributions. No text of a value is kept: a value is a number, or a length and a hash, from the moment it is
//! read. [`compare`] says how far a workload is from a capture.

mod catalog;
mod compare;
mod datum;
mod digests;
mod distance;
mod domain;
mod enum_members;
mod error;
mod fitted_workload;
mod key_fit;
mod kind_text;
mod links;
mod load_profile;
mod references;
mod schema;
mod schema_facts;
mod shapes;
mod slot;
mod table_text;
mod toml_text;
mod transactions;
mod workload_form;

pub use compare::{Comparison, Figure, FitLimits, compare};
pub use error::FitError;
pub use fitted_workload::{FitResult, Tables, fit};
pub use kind_text::FittedValue;

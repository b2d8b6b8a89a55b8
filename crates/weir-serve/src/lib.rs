//! Results and running studies in a browser: history, comparison, live view, start and stop.
//! Change here: an address of the API: `api/`; the metrics of a load: `metrics_endpoint.rs`; what is listed: `library.rs`; start and stop: `study_runner.rs`; the page itself: `web/src/serve`.
//!
//! In: a folder of results, of which those that are being made tell their progress in a file
//! ([`weir_store::progress::ProgressFile`]), and a folder of studies. Out: HTTP on one thread, with every read
//! of a result on another. It talks to no database server. Who may do what is in `guard`.
#![warn(clippy::missing_errors_doc)]

mod api;
mod api_error;
mod error;
mod file_cache;
mod guard;
mod library;
mod live;
mod metrics_endpoint;
mod openmetrics;
mod server;
mod state;
mod studies;
mod study_runner;
mod token;
#[cfg(test)]
mod typescript;

pub use error::ServeError;
pub use metrics_endpoint::MetricsEndpoint;
pub use openmetrics::escaped;
pub use server::{ServeOptions, Server};
pub use token::Token;

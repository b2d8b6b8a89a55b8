//! A result as HTML, JSON, Markdown, CSV and text for a terminal; all words for a reader.
//! Change here: the first sentence: `first_sentence.rs`; a comparison's: `comparison_sentences.rs`; names of things: `words.rs`; a column of CSV: `csv_columns.rs`; what the page gets: `page.rs`; the page itself: `web/src/sections`.
//!
//! In: a [`weir_model::JudgedResult`]. Out: text. Nothing here measures, compares or does I/O. What
//! is said in words is said here once: the page in `web/` shows the sentences that this crate
//! wrote, so that terminal, ticket and page never disagree.
#![warn(clippy::missing_errors_doc)]

mod cells;
mod claims;
mod comparison_sentences;
mod counters;
mod csv;
mod csv_columns;
mod data_sheet;
mod error;
mod events;
mod first_sentence;
mod flames;
mod gaps;
mod gate;
mod hosts;
mod html;
mod insights;
mod json;
mod markdown;
mod number;
mod objections;
mod over_cells;
mod page;
mod percentiles;
mod plain_page;
mod predicted_throughput;
mod ranked_findings;
mod runs;
mod screen;
mod screen_advice;
mod searches;
mod served;
mod server_hosts;
mod setup;
mod spread;
mod statements;
mod sweeps;
mod table;
mod terminal;
mod timeline;
mod traffic;
mod upgrade;
mod variables;
mod words;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod typescript;

pub use claims::claims_markdown;
pub use comparison_sentences::{comparison_name, sentence};
pub use csv::csv;
pub use data_sheet::data_sheet;
pub use error::ReportError;
pub use flames::{FrameChange, flame_graph, largest_changes, wait_graph};
pub use gate::{junit, result_comparison};
pub use html::{html, html_with_predictions, page_json};
pub use json::json;
pub use markdown::markdown;
pub use number::grouped;
pub use plain_page::{PageSection, PageTable, PlainPage};
pub use predicted_throughput::{PredictedDrive, PredictedPoint, PredictedThroughput};
pub use screen_advice::screen_advice;
pub use served::{comparison_json, run_json, runs_json};
pub use server_hosts::server_host_line;
pub use table::table;
pub use terminal::{finding_line, terminal};
pub use timeline::Window;
pub use upgrade::upgrade;
pub use words::{
    bottleneck_evidence, bottleneck_explanation, bottleneck_name, cell_label, connections,
    file_kind_name, server_names,
};

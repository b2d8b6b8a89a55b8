//! Study file to plan, and what installed servers and drives say of it; starts nothing.
//! Change here: a key of the file: `file.rs`, `file/`; its default and meaning: `resolve/`; levels of a factor: `levels.rs`; what servers would make of it: `settings_preview.rs`.
//!
//! [`StudyFile`] is what the user wrote; [`resolve`] turns it into a [`weir_model::Plan`] with
//! nothing left to decide; [`preview_settings`] asks installed servers what they would make of it. Nothing here starts a
//! server: `weir-run` makes the runs.

mod declared;
mod draft;
mod drive_profile;
mod error;
mod file;
mod full_size;
mod hosting;
mod installed;
mod levels;
mod programs;
mod reduced;
mod resolve;
mod server_defaults;
mod setting;
mod settings_preview;
mod target;

pub use drive_profile::{check_drives, drive_profiles, flush_obstacle};
pub use error::StudyError;
pub use file::StudyFile;
pub use full_size::full_size;
pub use hosting::refused_on_agent;
pub use installed::named_program;
pub use programs::server_programs;
pub use reduced::reduced;
pub use resolve::{Overrides, plan_from_text, probe_cell, resolve};
pub use settings_preview::preview_settings;

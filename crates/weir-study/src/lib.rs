//! Study file to plan to runs: the experiment itself.
//!
//! [`StudyFile`] is what the user wrote; [`resolve`] turns it into a [`weir_model::Plan`] with
//! nothing left to decide; [`foresee`] asks installed servers what they would make of it; [`run`] makes the
//! runs and stores each as it completes. Only [`run`] touches a server's data.

mod declared;
mod draft;
mod drive_profile;
mod error;
mod file;
mod foreseen;
mod full_size;
mod levels;
mod pace;
mod programs;
mod reduced;
mod resolve;
mod runner;
mod server_defaults;
mod target;

pub use drive_profile::{check_drives, drive_profiles};
pub use error::StudyError;
pub use file::StudyFile;
pub use foreseen::foresee;
pub use full_size::full_size;
pub use reduced::reduced;
pub use resolve::{Overrides, probe_cell, resolve};
pub use runner::{Allowed, RunOptions, RunOutcome, rehearse, run};

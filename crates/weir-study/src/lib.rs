//! Study file to plan to runs to result: the experiment itself, and the rules that judge it.
//!
//! [`StudyFile`] is what the user wrote; [`resolve`] turns it into a [`weir_model::Plan`] with
//! nothing left to decide; [`run`] makes the runs and stores each as it completes; [`evaluate`]
//! computes comparisons and findings from a stored result. Only [`run`] touches a server.

mod analysis;
mod claims;
mod compare;
mod conduct;
mod declared;
mod drive_profile;
mod error;
mod estimate;
mod estimate_ratio;
mod evaluate;
mod event;
mod file;
mod foreseen;
mod foresight;
mod full_size;
mod levels;
mod measured;
mod order;
mod part;
mod programs;
mod progress;
mod reduced;
mod resolve;
mod rules;
mod runner;
mod schedule;
mod server_defaults;
mod setting;
mod settings;
mod target;
mod two_results;
mod workload;

pub use drive_profile::check_drives;
pub use error::StudyError;
pub use estimate::{data_size, run_space, run_time};
pub use evaluate::{RESULT_FILE, evaluate, first_comparison, read_result};
pub use event::Event;
pub use file::StudyFile;
pub use foreseen::Foreseen;
pub use foresight::prospects;
pub use full_size::full_size;
pub use order::interleaved;
pub use part::{cells_at, part_of_plan, part_of_result};
pub use progress::{
    FinishedRun, Limits, PROGRESS_FILE, Progress, ProgressFile, RunInProgress, Second, Step,
};
pub use reduced::reduced;
pub use resolve::{Overrides, resolve};
pub use rules::{RULES, Rule, findings_of_design, rules_as_markdown};
pub use runner::{RunOptions, RunOutcome, rehearse, run};
pub use schedule::expected_runs;
pub use setting::is_setting;
pub use two_results::{compare_results, read_factor, read_for_comparison};
pub use workload::settings as workload_settings;

//! What runs say: a stored result becomes comparisons, verdicts, findings and analysis, each time it is
//! read, so that better statistics also judge old results. Also what remains to be run, which follows from
//! the plan and the runs that there are. Nothing here touches a server or a drive.
//!
//! Downwards: `evaluate` and `two_results` -> `analysis` -> `claims` -> `rules` -> `claim_contrasts`, `schedule` ->
//! `compare` -> `estimate_ratio` -> `measured`.

mod analysis;
mod claim_contrasts;
mod claims;
mod compare;
mod error;
mod estimate_ratio;
mod evaluate;
mod foreseen;
mod foresight;
mod measured;
mod order;
mod part;
mod rules;
mod schedule;
mod setting;
mod settings;
mod two_results;

pub use error::JudgeError;
pub use evaluate::{RESULT_FILE, evaluate, first_comparison, read_evidence, read_result};
pub use foreseen::{Foreseen, Foretold};
pub use foresight::prospects;
pub use order::{block, interleaved};
pub use part::{cells_at, part_of_plan, part_of_result};
pub use rules::{RULES, Rule, findings_of_design, rules_as_markdown};
pub use schedule::{Next, expected_runs, next, total_runs};
pub use setting::{RUN_DIRECTORY, is_setting, without_directory};
pub use two_results::{compare_results, read_factor, read_for_comparison};

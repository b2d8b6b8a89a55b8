//! Judges runs: comparisons, verdicts, findings and analysis, and which runs are left to do.
//! Change here: a rule: `rules/`, one file each, and its name in `weir-model/src/rule_id.rs`; an interval of a comparison: `estimate_ratio.rs`; equality: `equality.rs`; which run comes next: `schedule.rs`; a published claim: `claims.rs`.
//!
//! A stored result is judged each time it is read, so that better statistics also judge old results. What is left to do follows from
//! the plan and the runs that there are. Nothing here touches a server or a drive.
//!
//! Downwards: `sessions`, `evaluate` and `two_results` -> `analysis` -> `claims` -> `rules` -> `claim_contrasts`,
//! `schedule` -> `compare` -> `fingerprints` -> `equality` -> `estimate_ratio` -> `measured`.
#![warn(clippy::missing_errors_doc)]

mod analysis;
mod cell_index;
mod cell_settings;
mod claim_contrasts;
mod claims;
mod compare;
mod compare_costs;
mod contrast;
mod detectable_effect;
mod equality;
mod error;
mod estimate_ratio;
mod evaluate;
mod fingerprints;
mod gate;
mod instance_variables;
mod measured;
mod order;
mod part;
mod percent;
mod rules;
mod schedule;
mod screen;
mod sessions;
mod settings_preview;
mod two_results;

pub use claim_contrasts::claim_cells;
pub use detectable_effect::prospects;
pub use error::JudgeError;
pub use evaluate::{RESULT_FILE, evaluate, first_comparison, read_evidence, read_result};
pub use fingerprints::compare_replays;
pub use gate::GateConditions;
pub use instance_variables::{RUN_DIRECTORY, is_setting, without_directory};
pub use measured::recorded_metrics;
pub use order::{block, interleaved, screen_order};
pub use part::{cells_at, part_of_plan, part_of_result};
use percent::percent;
pub use rules::{RULES, Rule, findings_of_design, rules_as_markdown};
pub use schedule::{Next, RunKinds, expected_runs, next, total_runs};
pub use screen::confirm;
pub use sessions::merge_sessions;
pub use settings_preview::{CellPreview, SettingsPreview};
pub use two_results::{compare_results, read_factor, read_for_comparison};

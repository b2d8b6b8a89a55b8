//! The crash lab: may the doublewrite buffer be off on this storage?
//! Change here: where to cut: `choose_cuts.rs`; what a cut leaves of a write: `write_outcome.rs`; rules of devices: `device_rules.rs`; how a state is judged: `judge.rs`; all states together: `verdict.rs`. Words: `weir/src/commands/crash_test.rs`.
//!
//! One recording of a server at work ([`record`]) gives many crash states: a place in it, all that was
//! surely on the media by then, and of what was not, a part that the device's rules allow
//! ([`DeviceRules`]). Each state is recovered by the same server with the same settings on a copy of
//! its own, and judged ([`explore`]): by what the drive knows, by how the server came up, by every
//! page's checksum, and by the ledger of acknowledged commits.

mod applicability;
mod choose_cuts;
mod connection;
mod content;
mod crash_test;
mod cut;
mod cut_evidence;
mod data_storage;
mod ddl_workload;
mod decisive_settings;
mod device_rules;
mod disk_space;
mod durable_image;
mod error;
mod expected_rows;
mod explore;
mod explore_options;
mod ground_truth;
mod judge;
mod kept_rules;
mod ledger;
mod order_entry;
mod power_cut;
mod record;
mod server_clock;
mod sparse_files;
mod storage;
mod test_settings;
mod torn_page;
mod verdict;
mod workload;
mod write_kind;
mod write_outcome;

pub use applicability::{Objections, ServerInQuestion};
pub use content::Shape;
pub use crash_test::{
    CrashTest, FORMAT, Progress, Setting, TestOptions, judge_changed_state, replay_state, test,
};
pub use cut::{Cut, Moment};
pub use cut_evidence::{CutEvidence, shows_rules, words as cuts_in_words};
pub use data_storage::DataStorage;
pub use decisive_settings::{DECISIVE_SETTINGS, SettingDifference};
pub use device_rules::{CacheRule, DeviceRules};
pub use error::CrashError;
pub use expected_rows::LedgerReport;
pub use explore::{explore, judge_changed, judge_uncut, replay};
pub use explore_options::ExploreOptions;
pub use ground_truth::GroundTruth;
pub use judge::{Judgement, Recovery};
pub use kept_rules::KeptRules;
pub use ledger::{Commit, Ledger};
pub use power_cut::survivors;
pub use record::{RecordOptions, TestRecording, record};
pub use storage::{BlockDevice, Nvme, NvmeIdentity, Storage};
pub use torn_page::TornPage;
pub use verdict::{Rate, StateResult, Tally, Verdict};

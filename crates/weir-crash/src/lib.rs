//! The crash lab: may the doublewrite buffer be off on this storage?
//!
//! One recording of a server at work ([`record`]) gives many crash states: a place in it, all that was
//! surely on the media by then, and of what was not, a part that the device's rules allow
//! ([`DeviceRules`]). Each state is recovered by the same server with the same settings on a copy of
//! its own, and judged ([`explore`]): by what the drive knows, by how the server came up, by every
//! page's checksum, and by the ledger of acknowledged commits.

mod applies;
mod cache;
mod content;
mod error;
mod expected;
mod explore;
mod fate;
mod frontier;
mod ground;
mod holes;
mod judge;
mod kept_rules;
mod lab;
mod ledger;
mod moments;
mod patience;
mod power_cut;
mod record;
mod server_settings;
mod settings;
mod storage;
mod torn;
mod upheaval;
mod verdict;
mod workload;

pub use applies::{Objections, ServerInQuestion};
pub use cache::{CacheRule, DeviceRules};
pub use content::Shape;
pub use error::CrashError;
pub use expected::LedgerReport;
pub use explore::{ExploreOptions, explore, judge_changed, judge_uncut, replay};
pub use frontier::Cut;
pub use ground::Ground;
pub use judge::{Judgement, Recovery};
pub use kept_rules::KeptRules;
pub use lab::{
    CrashTest, FORMAT, Progress, Setting, TestOptions, judge_changed_state, replay_state, test,
};
pub use ledger::{Commit, Ledger};
pub use moments::Moment;
pub use power_cut::survivors;
pub use record::{RecordOptions, Recorded, record};
pub use server_settings::{DECISIVE_SETTINGS, SettingDifference};
pub use storage::{BlockDevice, Nvme, NvmeIdentity, Storage};
pub use torn::TornPage;
pub use verdict::{GroundTruth, Rate, StateResult, Tally, Verdict};

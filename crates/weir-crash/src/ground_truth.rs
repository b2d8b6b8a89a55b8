//! Facts that an emulated drive knows of a cut, independent of the server.

use serde::{Deserialize, Serialize};

use crate::torn_page::TornPage;

/// The drive's ground truth of one state: what the cut did to the writes that were not yet safe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroundTruth {
    /// Writes that the cut could take back.
    pub undecided: u32,
    /// Pages of which a part is new and a part is old.
    pub torn_pages: Vec<TornPage>,
    /// Pages whose completed write is gone: the media holds the version before it.
    pub stale_pages: u32,
    /// Pages whose write had not completed and is gone.
    pub lost_pages: u32,
}

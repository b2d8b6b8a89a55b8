//! What came of a replay.

use weir_load::LoadOutcome;
use weir_model::ReplayRecord;

/// What came of a replay.
#[derive(Debug)]
pub struct ReplayOutcome {
    /// How faithful it was, and then each kind of statement.
    pub record: ReplayRecord,
    /// What the load engine measured.
    pub load: LoadOutcome,
}

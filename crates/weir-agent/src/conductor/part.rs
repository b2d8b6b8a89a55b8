//! An agent's part of a run, and what all parts come to.

use weir_load::{LoadOutcome, Share};
use weir_model::LoadHost;

use crate::clock::Offset;

/// A run of several agents.
#[derive(Debug)]
pub struct AgentsOutcome {
    /// The whole, as of one process.
    pub outcome: LoadOutcome,
    /// Each agent's part.
    pub shares: Vec<LoadHost>,
}

/// An agent of a run.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) host: String,
    pub(crate) cores: u32,
    pub(crate) share: Share,
    pub(crate) sealing_key: String,
    pub(crate) reporters: u32,
    pub(crate) offset: Offset,
}

//! Joining the bus as its conductor.

use std::path::{Path, PathBuf};

use weir_agent::AgentPool;

/// The crew of this join file, or of the usual one.
pub(super) fn join(bus: Option<&Path>) -> anyhow::Result<AgentPool> {
    let file = bus.map_or_else(AgentPool::usual_file, PathBuf::from);
    Ok(AgentPool::join(&file, env!("WEIR_COMMIT"))?)
}

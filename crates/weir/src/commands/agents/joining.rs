//! Joining the bus as its conductor.

use std::path::{Path, PathBuf};

use weir_agent::Crew;

/// The crew of this join file, or of the usual one.
pub(super) fn join(bus: Option<&Path>) -> anyhow::Result<Crew> {
    let file = bus.map_or_else(Crew::usual_file, PathBuf::from);
    Ok(Crew::join(&file, env!("WEIR_COMMIT"))?)
}

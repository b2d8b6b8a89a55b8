//! Number of states that are recovered at a time, and the room that they take.

use std::num::NonZero;
use std::path::Path;
use std::thread;

use weir_model::Bytes;

use crate::error::CrashError;

/// Recoveries at a time and processor: a server that starts or ends waits more than half of its time.
const WORKERS_PER_PROCESSOR: usize = 2;
/// Bytes that a server may write beside its copy of the database: temporary tablespaces, redo,
/// logs.
pub(crate) const HEADROOM: Bytes = Bytes(64 << 20);

/// Returns the number of states that are recovered at a time.
pub(crate) fn workers() -> usize {
    WORKERS_PER_PROCESSOR * thread::available_parallelism().map_or(1, NonZero::get)
}

/// Room for the directory that follows the recording, for each worker's state with its server, and for the
/// one that is being made. The copies themselves look again.
pub(crate) fn check_room(base: &Path, work: &Path) -> Result<(), CrashError> {
    let base = weir_server::space_occupied(base)?;
    let workers = workers() as u64;
    let needed = base.0 * (workers + 2) + HEADROOM.0 * workers;
    Ok(weir_server::check_space(work, Bytes(needed))?)
}

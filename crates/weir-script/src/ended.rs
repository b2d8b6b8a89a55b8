//! How a run of a script ended.

use weir_load::LoadOutcome;

use crate::world::World;

/// How a run ended; why it did not complete has been said.
pub(crate) enum Ended {
    /// With numbers.
    Completed(Box<LoadOutcome>),
    /// A thread failed in the middle.
    Failed,
    /// Nothing has begun.
    NotStarted,
}

/// Says that the run has not begun, as sysbench does.
pub(crate) fn not_started(world: &World) {
    let threads = if world.plan.version == "1.0.20" {
        "Thread"
    } else {
        "Threads"
    };
    world
        .log
        .fatal(&format!("{threads} initialization failed!"));
}

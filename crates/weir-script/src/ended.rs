//! How a run of a script ended.

use weir_load::LoadOutcome;
use weir_lua::tell_where;

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

/// Says that an event has no end, and ends the program where that was asked for; `who`: `2 threads are`.
pub(crate) fn not_ended(world: &World, who: &str) {
    let line = format!("{who} still in an event 3 s after the end of the run");
    if world.plan.forced_shutdown {
        world.log.fatal(&line);
        tell_where();
        (world.plan.abandon)();
    }
    world.log.remark(&format!(
        "note: {line}; they are waited for: Ctrl-C ends them, --forced-shutdown does so by itself"
    ));
}

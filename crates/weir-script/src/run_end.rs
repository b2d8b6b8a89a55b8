//! End of a run of a script.

use std::sync::Arc;
use std::time::Duration;

use crate::lua::tell_where;
use weir_load::LoadOutcome;

use crate::world::World;

/// Time after its end for which a run is left in peace, as the load engines have it.
const AFTER_END: Duration = Duration::from_secs(3);

/// End of a run; the reason that it did not complete has been printed.
pub(crate) enum RunEnd {
    /// With numbers.
    Completed(Box<LoadOutcome>),
    /// A share of a run; the numbers are on their way.
    Share,
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

/// Says that an event has no end, and ends the program when that has lasted too long; `who`: `2 threads are`.
pub(crate) fn not_ended(world: &Arc<World>, who: &str) {
    let Some(patience) = world.plan.patience else {
        let line = still_in_an_event(who, AFTER_END);
        world.log.remark(&format!(
            "note: {line}; they are waited for: Ctrl-C ends them, --forced-shutdown does so by itself"
        ));
        return;
    };
    if patience.is_zero() {
        abandon(world, who, AFTER_END);
    }
    let (world, who) = (Arc::clone(world), who.to_owned());
    // Without this thread, the run lasts until its process is killed.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(patience);
        if !world.is_over() {
            abandon(&world, &who, AFTER_END + patience);
        }
    });
}

fn abandon(world: &World, who: &str, after: Duration) -> ! {
    world.log.fatal(&still_in_an_event(who, after));
    tell_where();
    (world.plan.abandon)()
}

fn still_in_an_event(who: &str, after: Duration) -> String {
    let after_s = after.as_secs();
    format!("{who} still in an event {after_s} s after the end of the run")
}

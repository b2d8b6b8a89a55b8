//! The command `run`: a thread for each connection, each with an interpreter of its own.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::lua::{MovableState, ScriptError, State};
use weir_load::{
    LoadError, PartLead, SessionKinds, Start, ThreadProgress, ThreadsOutcome, run_threads,
    run_threads_part,
};

use crate::reactor;
use crate::ready::Ready;
use crate::reporters::Reporters;
use crate::run_end::{RunEnd, not_ended, not_started};
use crate::world::{DriverKind, Report, World};

/// Runs the script's events.
pub(crate) fn run(
    world: &Arc<World>,
    global: &State,
    report: &dyn Report,
    stop: &AtomicBool,
) -> Result<RunEnd, LoadError> {
    if !global.has_function("event") {
        let name = world.plan.script.name();
        let why = format!("cannot find the event() function in {name}");
        world.log.fatal(&why);
        return Ok(RunEnd::NotStarted);
    }
    world.log.report(&report.header());
    let reporters = Reporters::new(world);
    let first = match driven_first(world) {
        Ok(First::Driven(ready)) => return reactor::run(world, ready, report, &reporters, stop),
        Ok(First::Threads(ready)) => Mutex::new(ready),
        Err(error) => {
            world.log.fatal(&error.to_string());
            not_started(world);
            return Ok(RunEnd::NotStarted);
        }
    };
    let mut on_progress = |progress: ThreadProgress<'_>| tell(world, report, &reporters, &progress);
    let work = |number, start| thread(world, number, &first, start);
    if world.is_share() {
        let ended = run_threads_part(
            &world.plan.load,
            &world.found,
            &work,
            stop,
            PartLead {
                start: &mut |ready| report.ready(ready),
                on_frame: &mut |frame| report.frame(frame),
            },
            &mut on_progress,
        )?;
        return Ok(ended_of(world, ended, |end| {
            report.share_ended(end);
            RunEnd::Share
        }));
    }
    let outcome = run_threads(
        &world.plan.load,
        &SessionKinds {
            found: Arc::clone(&world.found),
            ..SessionKinds::default()
        },
        &work,
        stop,
        &mut on_progress,
    )?;
    Ok(ended_of(world, outcome, RunEnd::Completed))
}

/// Says how far the threads are.
fn tell(
    world: &Arc<World>,
    report: &dyn Report,
    reporters: &Reporters,
    progress: &ThreadProgress<'_>,
) {
    match progress {
        ThreadProgress::Started => world.log.report(&report.started()),
        ThreadProgress::Load(progress) => reporters.tell(world, report, progress),
        ThreadProgress::NotReady(threads) => {
            let limit_s = world.plan.load.init_timeout.as_secs();
            world.log.fatal(&format!(
                "Worker threads failed to initialize within {limit_s} seconds!"
            ));
            world
                .log
                .remark(&format!("{threads} threads are not ready"));
            (world.plan.abandon)();
        }
        ThreadProgress::NotEnded(threads) => {
            world.set_ending();
            not_ended(world, &format!("{threads} threads are"));
        }
    }
}

fn ended_of<T>(
    world: &World,
    outcome: ThreadsOutcome<T>,
    completed: impl FnOnce(T) -> RunEnd,
) -> RunEnd {
    match outcome {
        ThreadsOutcome::Completed(outcome) => completed(outcome),
        ThreadsOutcome::Failed => RunEnd::Failed,
        ThreadsOutcome::NotStarted => {
            not_started(world);
            RunEnd::NotStarted
        }
    }
}

/// The first thread's interpreter, by which it is chosen how all are driven.
enum First {
    /// All are coroutines.
    Driven(Ready),
    /// Each has a thread; the first one's interpreter may be there already.
    Threads(Option<MovableState<Ready>>),
}

fn driven_first(world: &Arc<World>) -> Result<First, ScriptError> {
    let driving = world.plan.driving;
    // One connection holds no other up.
    let is_single = world.share().count() == 1 && driving == DriverKind::Auto;
    if driving == DriverKind::Threads || is_single {
        return Ok(First::Threads(None));
    }
    world.set_driven(true);
    let ready = reactor::ready(world, world.share().connections.start)?;
    let Some(objection) = reactor::objection(&ready) else {
        return Ok(First::Driven(ready));
    };
    world.set_driven(false);
    if driving == DriverKind::Reactor {
        world.log.remark(&format!(
            "note: each connection of the script has a thread, because {objection}"
        ));
    }
    Ok(First::Threads(Some(MovableState::new(ready))))
}

/// Runs one thread from its interpreter's beginning to its end.
fn thread(
    world: &Arc<World>,
    number: u32,
    first: &Mutex<Option<MovableState<Ready>>>,
    start: Start,
) -> Result<(), ()> {
    let failed = |error: &ScriptError| world.log.fatal(&error.to_string());
    let made = if number == world.share().connections.start {
        first.lock().unwrap_or_else(PoisonError::into_inner).take()
    } else {
        None
    };
    let ready = match made {
        Some(ready) => Ok(ready.into_inner()),
        None => Ready::new(world, number),
    };
    let Ready { state, part, .. } = match ready {
        Ok(ready) => ready,
        Err(error) => {
            // Before the others are told, so that their end does not hide why.
            failed(&error);
            return Err(());
        }
    };
    let Some(meter) = start.ready() else {
        return Ok(());
    };
    part.borrow_mut().meter = Some(meter);
    let ran = state.run_events(number);
    if let Err(error) = &ran {
        failed(error);
    }
    // The part in the run ends before the thread's last words.
    let meter = part.borrow_mut().meter.take();
    match (meter, &ran) {
        (Some(meter), Err(_)) => meter.fail(),
        (meter, _) => drop(meter),
    }
    ran.map_err(drop)?;
    if state.has_function("thread_done")
        && let Err(error) = state.call("thread_done", number)
    {
        failed(&error);
    }
    Ok(())
}

//! A run whose connections are coroutines in the load engine's reactors.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::lua::{MovableState, ScriptError};
use weir_load::{
    Frame, LoadError, LoadOutcome, LoadPlan, OpenedSession, PartEnd, Progress, Session,
    SessionKinds, SessionSource, run_part_sessions, run_sessions,
};
use weir_mysql::Exchange;

use crate::engine::Engine;
use crate::ready::Ready;
use crate::reporters::Reporters;
use crate::run_end::{RunEnd, not_ended, not_started};
use crate::session::ScriptSession;
use crate::world::{Report, World};

/// States from which on their compilers are off: with many, each compiles within the measurement.
const COMPILED_STATES_MAX: u32 = 64;
/// Sessions up to which the script's statements can be waited for in place: each takes another file descriptor.
const TWINS_MAX: u32 = 1024;
/// Time after its end in which a run may have something to do: the engine gives its transactions 3
/// s.
const PATIENCE: Duration = Duration::from_secs(4);
/// Pause between two looks at whether the run is to stop.
const LOOK: Duration = Duration::from_millis(20);

/// The interpreter of a thread, ready to be a coroutine.
pub(crate) fn ready(world: &Arc<World>, thread: u32) -> Result<Ready, ScriptError> {
    let ready = Ready::new(world, thread)?;
    if world.share().count() > COMPILED_STATES_MAX && world.plan.luajit_command.is_none() {
        ready.state.stop_compiling()?;
    }
    ready.state.collect()?;
    Ok(ready)
}

/// Returns the reason that a script's events cannot be coroutines; `None`: they can.
pub(crate) fn objection(ready: &Ready) -> Option<&'static str> {
    if ready.state.open_connections().is_empty() {
        return Some("its threads open no connection before their events");
    }
    if ready.state.has_own_loop() {
        return Some("it has a thread_run of its own");
    }
    if ready.state.has_c_modules() {
        return Some("it loads C modules");
    }
    None
}

/// Sessions of a script.
struct Source {
    engine: Arc<Engine>,
    /// The first thread's, which was made to look at.
    first: Mutex<Option<MovableState<Ready>>>,
}

impl Source {
    fn opened(&self, number: u32) -> Result<(Option<Exchange>, ScriptSession), ScriptError> {
        let world = self.engine.world();
        let first = || {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.take()
        };
        let made = if number == world.share().connections.start {
            first()
        } else {
            None
        };
        let mut ready = match made {
            Some(ready) => ready,
            None => MovableState::new(ready(world, number)?),
        };
        let exchange = take_connection(world, ready.get());
        Ok((
            exchange,
            ScriptSession::new(ready, Arc::clone(&self.engine)),
        ))
    }
}

/// The connection that the engine drives: the first that is open, unless it is encrypted or compressed. All others stay
/// with the script's session, which waits for their sockets.
fn take_connection(world: &World, ready: &Ready) -> Option<Exchange> {
    let mut share = ready.part.borrow_mut();
    let number = ready.state.open_connections().into_iter().min()?;
    let link = share.links.get_mut(&number)?;
    if !link.is_plain() {
        return None;
    }
    let exchange = if world.share().count() > TWINS_MAX {
        link.take_exchange()
    } else {
        link.share_exchange()
    };
    share.driven = exchange.is_some().then_some(number);
    exchange
}

impl SessionSource for Source {
    fn session(&self, _: u32) -> Box<dyn Session> {
        // All connections come from `open`.
        unreachable!("the engine opens no connection of a script")
    }

    fn open(&self, number: u32) -> Option<Result<OpenedSession, LoadError>> {
        Some(match self.opened(number) {
            Ok((exchange, session)) => Ok((exchange, Box::new(session) as Box<dyn Session>)),
            Err(error) => {
                self.engine.fail(&error);
                Err(LoadError::Interrupted("the script's start"))
            }
        })
    }

    fn opens_connections(&self) -> bool {
        true
    }

    fn kinds(&self) -> SessionKinds {
        SessionKinds {
            found: Arc::clone(&self.engine.world().found),
            ..SessionKinds::default()
        }
    }
}

/// Planned end of a run.
struct End {
    length: Option<Duration>,
    begun: Option<Instant>,
    stopped: Option<Instant>,
    is_told: bool,
}

impl End {
    fn new(plan: &LoadPlan) -> Self {
        let (warmup, measure) = (plan.load.warmup.least().0, plan.load.measure.0);
        Self {
            length: (!measure.is_zero()).then(|| warmup + measure),
            begun: None,
            stopped: None,
            is_told: false,
        }
    }

    /// Returns true if nothing should run any more, and that is new.
    fn is_long_ago(&mut self, has_begun: bool, is_stopped: bool) -> bool {
        let is_late = self
            .moment(has_begun, is_stopped)
            .is_some_and(|end| Instant::now() > end + PATIENCE);
        is_late && !std::mem::replace(&mut self.is_told, true)
    }

    /// Returns the time at which everything ends, as far as that is known.
    fn moment(&mut self, has_begun: bool, is_stopped: bool) -> Option<Instant> {
        let now = Instant::now();
        let begun = has_begun.then(|| *self.begun.get_or_insert(now));
        let stopped = is_stopped.then(|| *self.stopped.get_or_insert(now));
        let planned = begun.zip(self.length).map(|(begun, length)| begun + length);
        [planned, stopped].into_iter().flatten().min()
    }
}

/// Outcome of a run, or of a share of one.
enum Outcome {
    Whole(Box<LoadOutcome>),
    Share(PartEnd),
}

/// Runs the script's events.
pub(crate) fn run(
    world: &Arc<World>,
    first: Ready,
    report: &dyn Report,
    reporters: &Reporters,
    stop: &AtomicBool,
) -> Result<RunEnd, LoadError> {
    let engine = Arc::new(Engine::new(Arc::clone(world), report.started()));
    let source = Source {
        engine: Arc::clone(&engine),
        first: Mutex::new(Some(MovableState::new(first))),
    };
    let plan = &world.plan.load;
    let is_over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| watch_end(&engine, stop, &is_over));
        let gate = &world.plan.gate;
        let outcome = if world.is_share() {
            let mut start = |ready| report.ready(ready).inspect(|_| engine.started());
            let mut on_frame = |frame: &Frame| report.frame(frame);
            let stops = engine.stops();
            run_part_sessions(plan, &source, gate, stops, &mut start, &mut on_frame)
                .map(Outcome::Share)
        } else {
            let mut on_progress = |progress: Progress<'_>| {
                engine.started();
                reporters.tell(world, report, &progress);
            };
            run_sessions(plan, &source, gate, engine.stops(), &mut on_progress)
                .map(|outcome| Outcome::Whole(Box::new(outcome)))
        };
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    conclude(&engine, outcome, report)
}

/// Watches until the run is over: hands `stop` on, and says when nothing should run any more.
fn watch_end(engine: &Engine, stop: &AtomicBool, is_over: &AtomicBool) {
    let world = engine.world();
    let mut end = End::new(&world.plan.load);
    while !is_over.load(Ordering::Relaxed) {
        if stop.load(Ordering::Relaxed) {
            engine.stops().store(true, Ordering::Relaxed);
        }
        let is_stopped = engine.stops().load(Ordering::Relaxed);
        let has_begun = engine.has_begun();
        let moment = end.moment(has_begun, is_stopped);
        if moment.is_some_and(|moment| Instant::now() > moment) {
            world.set_ending();
        }
        if end.is_long_ago(has_begun, is_stopped) {
            not_ended(world, "threads are");
        }
        std::thread::sleep(LOOK);
    }
}

/// Returns the end of the run, by the engine and the script.
fn conclude(
    engine: &Engine,
    outcome: Result<Outcome, LoadError>,
    report: &dyn Report,
) -> Result<RunEnd, LoadError> {
    let world = engine.world();
    let has_begun = engine.has_begun();
    if engine.is_failed() {
        if has_begun {
            return Ok(RunEnd::Failed);
        }
        not_started(world);
        return Ok(RunEnd::NotStarted);
    }
    match outcome {
        Ok(Outcome::Whole(outcome)) => {
            engine.remark(&outcome);
            Ok(RunEnd::Completed(outcome))
        }
        Ok(Outcome::Share(end)) => {
            report.share_ended(end);
            Ok(RunEnd::Share)
        }
        Err(error) if has_begun => {
            world.log.fatal(&error.to_string());
            Ok(RunEnd::Failed)
        }
        Err(error) => Err(error),
    }
}

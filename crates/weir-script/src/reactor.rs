//! A run whose connections are coroutines in the load engine's reactors.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use weir_load::{
    LoadError, LoadOutcome, OpenedSession, Session, SessionKinds, SessionSource, Tolerated,
    run_sessions,
};
use weir_lua::{Moved, ScriptError};
use weir_mysql::Exchange;

use crate::connect::Link;
use crate::host::Part;
use crate::run::{Ended, Reporters, not_started};
use crate::session::{Ready, ScriptSession};
use crate::states::with_options;
use crate::world::{Report, World};

/// States from which on their compilers are off: with many, each compiles within the measurement.
const COMPILED_STATES_MAX: u32 = 64;
/// Errors of a lost connection, see `weir_lua`.
const LOST: [u16; 4] = [2006, 2011, 2013, 2055];
/// Share of a run that turns may take that are long; above it, that is told.
const LONG_SHARE_MAX: f64 = 0.1;
/// Shorter runs than this say nothing of a script, seconds.
const LONG_RUN_S: f64 = 1.0;
/// Pause between two looks at whether the run is to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What the sessions of a run share.
#[derive(Debug)]
pub(crate) struct Engine {
    world: Arc<World>,
    /// What is printed when the first event begins.
    started: String,
    once: Once,
    stops: AtomicBool,
    is_failed: AtomicBool,
    /// Time of turns that took long, microseconds.
    long_us: AtomicU64,
    waits: AtomicU64,
}

impl Engine {
    /// The first event begins.
    pub(crate) fn started(&self) {
        self.once.call_once(|| self.world.log.report(&self.started));
    }

    /// A thread of the script has failed: the run ends.
    pub(crate) fn fail(&self, error: &ScriptError) {
        self.world.log.fatal(&error.to_string());
        self.is_failed.store(true, Ordering::Relaxed);
        self.stops.store(true, Ordering::Relaxed);
    }

    pub(crate) fn count_long_turn(&self, length: Duration) {
        let us = u64::try_from(length.as_micros()).unwrap_or(u64::MAX);
        self.long_us.fetch_add(us, Ordering::Relaxed);
    }

    pub(crate) fn count_waits(&self, waits: u64) {
        self.waits.fetch_add(waits, Ordering::Relaxed);
    }

    /// What held connections up that others drive, in a run of this length.
    fn remark(&self, outcome: &LoadOutcome) {
        let long_s = self.long_us.load(Ordering::Relaxed) as f64 / 1e6;
        let waits = self.waits.load(Ordering::Relaxed);
        let how = "--lua-threads=os gives each connection a thread";
        if long_s > LONG_SHARE_MAX * outcome.measured_s.max(LONG_RUN_S) {
            self.world.log.remark(&format!(
                "note: the script ran or waited for {long_s:.1} s without asking the server, and held other \
                 connections up; {how}"
            ));
        }
        if waits > 0 {
            self.world.log.remark(&format!(
                "note: the script waited {waits} times for a second connection, and held others up; {how}"
            ));
        }
    }
}

/// Makes the interpreter of a thread and lets it get ready.
pub(crate) fn ready(world: &Arc<World>, thread: u32) -> Result<Ready, ScriptError> {
    let part = Part::default();
    let state = with_options(world, thread, &part)?;
    if state.has_function("thread_init") {
        state.call("thread_init", thread)?;
    }
    if world.threads() > COMPILED_STATES_MAX && world.plan.luajit_command.is_none() {
        state.stop_compiling()?;
    }
    state.collect()?;
    Ok(Ready {
        state,
        part,
        thread,
    })
}

/// Why a script's events cannot be coroutines; `None`: they can.
pub(crate) fn objection(ready: &Ready) -> Option<&'static str> {
    let connections = ready.state.open_connections().len();
    match connections {
        0 => return Some("its threads open no connection before their events"),
        1 => {}
        _ => return Some("its threads have several connections"),
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
    first: Mutex<Option<Moved<Ready>>>,
}

impl Source {
    fn opened(&self, number: u32) -> Result<(Exchange, ScriptSession), ScriptError> {
        let world = &self.engine.world;
        let first = || {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.take()
        };
        let made = if number == 0 { first() } else { None };
        let mut ready = match made {
            Some(ready) => ready,
            None => Moved::new(ready(world, number)?),
        };
        let exchange = take_connection(world, ready.get())?;
        Ok((
            exchange,
            ScriptSession::new(ready, Arc::clone(&self.engine)),
        ))
    }
}

/// The connection that the engine drives: the first that is open, or one that the script does not use.
fn take_connection(world: &World, ready: &Ready) -> Result<Exchange, ScriptError> {
    let mut share = ready.part.borrow_mut();
    let number = ready.state.open_connections().into_iter().min();
    let link = number.and_then(|number| share.links.get_mut(&number));
    if let Some(exchange) = link.and_then(Link::take_exchange) {
        share.driven = number;
        return Ok(exchange);
    }
    let link = Link::open(world.next_server());
    let exchange = link.map(|mut link| link.take_exchange());
    exchange
        .map_err(|refusal| ScriptError::Body(refusal.message))?
        .ok_or_else(|| ScriptError::Body("a connection was lost before the run".to_owned()))
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
        SessionKinds::default()
    }
}

/// Runs the script's events.
pub(crate) fn run(
    world: &Arc<World>,
    first: Ready,
    report: &dyn Report,
    reporters: &Reporters,
    stop: &AtomicBool,
) -> Result<Ended, LoadError> {
    let engine = Arc::new(Engine {
        world: Arc::clone(world),
        started: report.started(),
        once: Once::new(),
        stops: AtomicBool::new(false),
        is_failed: AtomicBool::new(false),
        long_us: AtomicU64::new(0),
        waits: AtomicU64::new(0),
    });
    let source = Source {
        engine: Arc::clone(&engine),
        first: Mutex::new(Some(Moved::new(first))),
    };
    let mut plan = world.plan.load.clone();
    plan.reconnect = LOST.iter().any(|code| plan.tolerated.contains(*code));
    // Which errors end a run, the script says.
    plan.tolerated = Tolerated::All;
    let is_over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    engine.stops.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(LOOK);
            }
        });
        let gate = &world.plan.gate;
        let outcome = run_sessions(&plan, &source, gate, &engine.stops, &mut |progress| {
            engine.started();
            reporters.tell(world, report, &progress);
        });
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    let has_begun = engine.once.is_completed();
    if engine.is_failed.load(Ordering::Relaxed) {
        if has_begun {
            return Ok(Ended::Failed);
        }
        not_started(world);
        return Ok(Ended::NotStarted);
    }
    match outcome {
        Ok(outcome) => {
            engine.remark(&outcome);
            Ok(Ended::Completed(Box::new(outcome)))
        }
        Err(error) if has_begun => {
            world.log.fatal(&error.to_string());
            Ok(Ended::Failed)
        }
        Err(error) => Err(error),
    }
}

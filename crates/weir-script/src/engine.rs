//! Data that the sessions of a run share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use crate::lua::ScriptError;
use weir_load::LoadOutcome;

use crate::world::World;

/// Share of a run that turns may take that are long; above it, a remark says so.
const LONG_SHARE_MAX: f64 = 0.1;
/// Shorter runs than this say nothing of a script, seconds.
const LONG_RUN_S: f64 = 1.0;

/// Data that the sessions of a run share.
#[derive(Debug)]
pub(crate) struct Engine {
    world: Arc<World>,
    /// Text that is printed when the first event begins.
    started: String,
    once: Once,
    stops: AtomicBool,
    is_failed: AtomicBool,
    /// Time of turns that took long, microseconds.
    long_us: AtomicU64,
    waits_in_place: AtomicU64,
}

impl Engine {
    /// `started`: what is printed when the first event begins.
    pub(crate) fn new(world: Arc<World>, started: String) -> Self {
        Self {
            world,
            started,
            once: Once::new(),
            stops: AtomicBool::new(false),
            is_failed: AtomicBool::new(false),
            long_us: AtomicU64::new(0),
            waits_in_place: AtomicU64::new(0),
        }
    }

    pub(crate) fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Returns true if an event has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.once.is_completed()
    }

    /// Returns true if a thread of the script has failed.
    pub(crate) fn is_failed(&self) -> bool {
        self.is_failed.load(Ordering::Relaxed)
    }

    /// Returns the flag that ends the run when it is set.
    pub(crate) fn stops(&self) -> &AtomicBool {
        &self.stops
    }

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

    pub(crate) fn count_waits_in_place(&self, waits: u64) {
        self.waits_in_place.fetch_add(waits, Ordering::Relaxed);
    }

    /// Prints the cause that held up connections that others drive, in a run of this length.
    pub(crate) fn remark(&self, outcome: &LoadOutcome) {
        let long_s = self.long_us.load(Ordering::Relaxed) as f64 / 1e6;
        let how = "--lua-threads=os gives each connection a thread";
        if long_s > LONG_SHARE_MAX * outcome.measured_s.max(LONG_RUN_S) {
            self.world.log.remark(&format!(
                "note: the script ran or waited for {long_s:.1} s without asking the server, and held other \
                 connections up; {how}"
            ));
        }
        let in_place = self.waits_in_place.load(Ordering::Relaxed);
        if in_place > 0 {
            self.world.log.remark(&format!(
                "note: the script waited {in_place} times for the server within a function that cannot give its \
                 turn away, such as the comparison of a sort, and held others up; {how}"
            ));
        }
    }
}

//! A run that several processes share: each does a part and gives its frames away; one merges those of all.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use weir_mysql::Gate;

use super::moment::wait_until;
use super::{Beginning, ProcessRun, Progress, ReadyConnections, load, reporters, setup, tell};
use crate::LoadError;
use crate::conclusion::conclude;
use crate::meter::IntervalFrame;
use crate::plan::LoadPlan;
use crate::session::{FoundStatements, SessionKinds, SessionSource, Work};
use crate::statistics::{KindNames, LoadOutcome, Merger};

/// Counts of one reporter in one interval, on their way to a merger.
///
/// It is written and read by serde. Formats with bytes of their own, such as `MessagePack`, take a few KB for one.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Frame {
    counted: Box<IntervalFrame>,
    /// Names of statements that have turned up in its process: each has its own order.
    found: Vec<String>,
}

impl Frame {
    pub(crate) fn new(counted: Box<IntervalFrame>, found: &FoundStatements) -> Self {
        let found = found.names().map(str::to_owned).collect();
        Self { counted, found }
    }

    /// The number of its reporter among those of its process.
    pub fn reporter(&self) -> u32 {
        self.counted.reporter
    }

    /// Transactions in it, and errors.
    pub fn counts(&self) -> (u64, u64) {
        (self.counted.counts.transactions, self.counted.counts.errors)
    }

    /// Returns true if it is the last of its reporter.
    pub fn is_last(&self) -> bool {
        self.counted.end.is_some()
    }
}

/// Gives frames away, and back to their reporters.
pub(crate) fn give(
    frames: impl Iterator<Item = Box<IntervalFrame>>,
    returns: &[Sender<Box<IntervalFrame>>],
    found: &FoundStatements,
    on_frame: &mut dyn FnMut(&Frame),
) {
    for counted in frames {
        let frame = Frame::new(counted, found);
        on_frame(&frame);
        let mut counted = frame.counted;
        counted.clear();
        // A reactor that has ended needs none.
        let _ = returns[counted.reporter as usize].send(counted);
    }
}

/// A part whose connections are there.
#[derive(Debug)]
pub struct PartReady {
    /// Number of reporters, whose frames will come.
    pub reporters: u32,
    /// Notes for its user, a sentence each.
    pub warnings: Vec<String>,
}

/// Beginning of a part.
#[derive(Debug, Clone, Copy)]
pub struct PartStart {
    /// The moment, which may lie ahead.
    pub at: Instant,
    /// Reporters of the parts before this one.
    pub reporters_before: u32,
}

/// Does this process's share of a run. When all connections are ready, `start` waits for the others and says when
/// to begin; `None`: not at all. Blocks as [`run`](crate::run) does. `on_frame` gets what is counted and must not
/// wait. Returns how many idle connections were there at the end, and how late the load began.
///
/// # Errors
///
/// As [`run`](crate::run).
pub fn run_part(
    plan: &LoadPlan,
    gate: &Gate,
    stop: &AtomicBool,
    start: &mut dyn FnMut(PartReady) -> Option<PartStart>,
    on_frame: &mut dyn FnMut(&Frame),
) -> Result<PartEnd, LoadError> {
    plan.check()?;
    run_part_work(plan, &Work::of_plan(plan)?, gate, stop, start, on_frame)
}

/// [`run_part`] with the sessions of a source in place of the plan's workload.
///
/// # Errors
///
/// As [`run_sessions`](crate::run_sessions).
pub fn run_part_sessions(
    plan: &LoadPlan,
    source: &dyn SessionSource,
    gate: &Gate,
    stop: &AtomicBool,
    start: &mut dyn FnMut(PartReady) -> Option<PartStart>,
    on_frame: &mut dyn FnMut(&Frame),
) -> Result<PartEnd, LoadError> {
    plan.check()?;
    run_part_work(plan, &Work::of_source(source), gate, stop, start, on_frame)
}

fn run_part_work(
    plan: &LoadPlan,
    work: &Work<'_>,
    gate: &Gate,
    stop: &AtomicBool,
    start: &mut dyn FnMut(PartReady) -> Option<PartStart>,
    on_frame: &mut dyn FnMut(&Frame),
) -> Result<PartEnd, LoadError> {
    let found = work.kinds().found;
    let mut warnings = Vec::new();
    let connected = ReadyConnections::open(plan, work, gate, stop, &mut |warning| {
        warnings.push(warning.to_owned());
    })?;
    let ready = PartReady {
        reporters: reporters(plan, &connected) as u32,
        warnings,
    };
    let start = start(ready).ok_or(LoadError::Interrupted("waiting for the start"))?;
    let process_run = ProcessRun {
        plan,
        work,
        beginning: Beginning {
            origin: start.at,
            reporters_before: start.reporters_before,
        },
        stop,
    };
    let mut began = Instant::now();
    let idle_connections = load(process_run, connected, &mut |frames, returns| {
        wait_until(start.at);
        began = Instant::now();
        give(frames.iter(), returns, &found, on_frame);
    })?;
    Ok(PartEnd {
        idle_connections,
        began_late: began.saturating_duration_since(start.at),
    })
}

/// Ending of a part.
#[derive(Debug, Clone, Copy)]
pub struct PartEnd {
    /// Idle connections that were still there.
    pub idle_connections: u64,
    /// Time from when it was to begin to when this process noticed.
    pub began_late: Duration,
}

/// Merges the frames of all parts of a run, exactly as those of one process.
#[derive(Debug)]
pub struct PartsMerger<'a> {
    plan: &'a LoadPlan,
    merger: Merger<'a>,
    /// Reporters of the parts before each.
    before: Vec<u32>,
    began: Instant,
    measured_from: Instant,
    /// Statements that are known before the run.
    known: usize,
    /// Those that have turned up in any part.
    found: Arc<FoundStatements>,
}

impl<'a> PartsMerger<'a> {
    /// Of parts with so many reporters each, that begin at `origin` by this process's clock; `plan` is that of all.
    ///
    /// # Errors
    ///
    /// A workload without transactions.
    pub fn new(plan: &'a LoadPlan, reporters: &[u32], origin: Instant) -> Result<Self, LoadError> {
        let timeline = setup::timeline(plan);
        let kinds = if plan.workload.is_lua() {
            SessionKinds::default()
        } else {
            Work::of_plan(plan)?.kinds()
        };
        let (known, found) = (kinds.statements.len(), Arc::clone(&kinds.found));
        let mut before = vec![0];
        for count in reporters {
            before.push(before.last().copied().unwrap_or(0) + count);
        }
        let all = before.pop().unwrap_or(0);
        Ok(Self {
            plan,
            merger: Merger::new(timeline, KindNames::new(kinds), all as usize),
            before,
            began: origin,
            measured_from: origin + Duration::from_nanos(timeline.measure_ns),
            known,
            found,
        })
    }

    /// Reporters of the parts before each part.
    pub fn reporters_before(&self) -> &[u32] {
        &self.before
    }

    /// Returns the begin of the load.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Returns the begin of the measurement.
    pub fn measured_from(&self) -> Instant {
        self.measured_from
    }

    /// Takes a frame of part `part`; tells of what that completes.
    pub fn take(&mut self, part: usize, frame: Frame, on_progress: &mut dyn FnMut(Progress<'_>)) {
        let Frame {
            counted: mut frame,
            found,
        } = frame;
        if !found.is_empty() {
            let names = found.iter();
            let positions: Vec<_> = names.map(|name| self.found.position(name)).collect();
            frame.kinds.move_statements(self.known, &positions);
        }
        frame.reporter += self.before.get(part).copied().unwrap_or(0);
        tell(self.merger.take(&frame), on_progress);
    }

    /// The whole, when the last frame of each part was taken; `is_stopped`: its conductor wanted an end.
    ///
    /// # Errors
    ///
    /// Parts that did less than the plan asks for, unless they were stopped.
    pub fn finish(
        mut self,
        idle_connections: u64,
        is_stopped: bool,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<LoadOutcome, LoadError> {
        tell(self.merger.close_all(), on_progress);
        let mut outcome = self.merger.finish();
        outcome.measured_from = Some(self.measured_from);
        outcome.idle_connections = idle_connections;
        conclude(self.plan, outcome, is_stopped)
    }
}

#[cfg(test)]
mod tests;

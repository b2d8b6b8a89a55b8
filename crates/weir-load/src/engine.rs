//! A run: checks, connections, reactor threads, and the merging of what they count.

mod moment;
mod part;
pub(crate) mod setup;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use weir_mysql::{Compression, Deadline, Gate};

use crate::LoadError;
use crate::conclusion::conclude;
use crate::connect::{Servers, connect_all, open};
use crate::driver::{MysqlDriver, ReactorResources, Reconnector, Renewal, reconnecting};
use crate::idle::IdleConnections;
use crate::meter::{Arrivals, Clock, FrameSender, IntervalFrame, Meter, ReporterEnd, Timeline};
use crate::plan::LoadPlan;
use crate::preflight;
use crate::reactor::{drive as drive_reactor, use_batch_scheduling};
use crate::reactor_kind::ReactorKind;
use crate::session::{SessionSource, Work};
use crate::statistics::{ClosedPeriod, Interval, KindNames, LoadOutcome, Merger, Totals};

pub(crate) use moment::wait_until;
pub(crate) use part::give;
pub use part::{Frame, PartEnd, PartReady, PartStart, PartsMerger, run_part, run_part_sessions};

/// Empty frames that wait for each reactor at the start: one to swap in, one for a late return.
const SPARES: usize = 2;

/// Longest wait for an answer of a server that may just have come back: a run must not be held by
/// one that never answers.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Connections that a reactor has made again at the same time.
const RECONNECTING_MAX: usize = 8;

/// Progress of a run.
#[derive(Debug)]
pub enum Progress<'a> {
    /// Something about the servers' data that the run can do with, before it begins.
    Warning(&'a str),
    /// The connections are there and the load begins; its measurement begins at this moment.
    Began(Instant),
    /// An interval has ended, of the warm-up or of the measurement.
    Interval(&'a Interval),
    /// One of the plan's checkpoints has passed; the totals are those since the one before.
    Checkpoint(&'a Totals),
}

/// Loads the server as planned, as far as `gate` allows. Blocks until the measurement is over, at most about 3 s longer,
/// or until `stop` is set; `on_interval` is called as each interval ends, warm-up included.
///
/// # Errors
///
/// A server that refuses, dies or does not speak the protocol, tables or limits that are too small
/// for the plan. A load that did less than the plan asks for, unless `stop` is set. The intervals before the error have
/// been delivered.
pub fn run(
    plan: &LoadPlan,
    gate: &Gate,
    stop: &AtomicBool,
    on_interval: &mut dyn FnMut(&Interval),
) -> Result<LoadOutcome, LoadError> {
    run_observed(plan, gate, stop, &mut |progress| {
        if let Progress::Interval(interval) = progress {
            on_interval(interval);
        }
    })
}

/// [`run`], which also tells of the plan's checkpoints.
///
/// # Errors
///
/// As [`run`].
pub fn run_observed(
    plan: &LoadPlan,
    gate: &Gate,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<LoadOutcome, LoadError> {
    plan.check()?;
    run_work(plan, &Work::of_plan(plan)?, gate, stop, on_progress)
}

/// [`run_observed`] with the sessions of a source in place of the plan's workload; the plan's workload
/// and tables are not looked at.
///
/// # Errors
///
/// As [`run`], and statements of sessions that may not be sent to the server.
pub fn run_sessions(
    plan: &LoadPlan,
    source: &dyn SessionSource,
    gate: &Gate,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<LoadOutcome, LoadError> {
    plan.check()?;
    run_work(plan, &Work::of_source(source), gate, stop, on_progress)
}

fn run_work(
    plan: &LoadPlan,
    work: &Work<'_>,
    gate: &Gate,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<LoadOutcome, LoadError> {
    let connected = ReadyConnections::open(plan, work, gate, stop, &mut |warning| {
        on_progress(Progress::Warning(warning));
    })?;
    let timeline = setup::timeline(plan);
    let names = KindNames::new(work.kinds());
    let mut merger = Merger::new(timeline, names, reporters(plan, &connected));
    let beginning = Beginning {
        origin: Instant::now(),
        reporters_before: 0,
    };
    let measured_from = beginning.origin + Duration::from_nanos(timeline.measure_ns);
    on_progress(Progress::Began(measured_from));
    let process_run = ProcessRun {
        plan,
        work,
        beginning,
        stop,
    };
    let idle_connections = load(process_run, connected, &mut |frames, returns| {
        merge(frames, returns, &mut merger, on_progress);
    })?;
    let mut outcome = merger.finish();
    outcome.idle_connections = idle_connections;
    outcome.measured_from = Some(measured_from);
    conclude(plan, outcome, stop.load(Ordering::Relaxed))
}

/// Connections that are ready.
struct ReadyConnections {
    servers: Servers,
    drivers: Vec<MysqlDriver>,
    idle: IdleConnections,
}

impl ReadyConnections {
    /// Checks the servers and makes the connections of this process's share.
    fn open(
        plan: &LoadPlan,
        work: &Work<'_>,
        gate: &Gate,
        stop: &AtomicBool,
        on_warning: &mut dyn FnMut(&str),
    ) -> Result<Self, LoadError> {
        let mut servers = Servers::new(plan, gate)?;
        if work.opens_connections() {
            servers = servers.with_several_results();
        }
        let deadline = Deadline::after(plan.init_timeout);
        let checked = preflight::check(plan, &servers, work, deadline)?;
        for warning in &checked.warnings {
            on_warning(warning);
        }
        Ok(Self {
            drivers: connect_all(plan, &servers, work, checked.round_trip, stop, deadline)?,
            idle: IdleConnections::open(plan, &servers, stop)?,
            servers,
        })
    }
}

/// Returns the number of reactors, each of which reports.
fn reporters(plan: &LoadPlan, connected: &ReadyConnections) -> usize {
    (plan.reactors as usize).min(connected.drivers.len())
}

/// Beginning of the load.
#[derive(Clone, Copy)]
pub(crate) struct Beginning {
    /// Moment of the beginning, which may lie ahead.
    pub(crate) origin: Instant,
    /// Reporters of the processes before this one, if it does a part of the run.
    pub(crate) reporters_before: u32,
}

/// Consumer that takes the frames of a run and gives them back empty.
type Consume<'a> = &'a mut dyn FnMut(&Receiver<Box<IntervalFrame>>, &[Sender<Box<IntervalFrame>>]);

/// Share of a run that this process does.
#[derive(Clone, Copy)]
struct ProcessRun<'a> {
    plan: &'a LoadPlan,
    work: &'a Work<'a>,
    beginning: Beginning,
    stop: &'a AtomicBool,
}

/// Loads the server; how many idle connections were there at the end.
fn load(
    run: ProcessRun<'_>,
    connected: ReadyConnections,
    consume: Consume<'_>,
) -> Result<u64, LoadError> {
    let ReadyConnections {
        servers,
        drivers,
        idle,
    } = connected;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let keeping = scope.spawn(|| idle.keep(&is_over));
        let done = drive(run, drivers, &servers, consume);
        is_over.store(true, Ordering::Relaxed);
        let idle_connections = keeping
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.map(|()| idle_connections)
    })
}

/// Starts the reactors and hands over what they count until all have ended.
fn drive(
    run: ProcessRun<'_>,
    drivers: Vec<MysqlDriver>,
    servers: &Servers,
    consume: Consume<'_>,
) -> Result<(), LoadError> {
    let ProcessRun {
        plan,
        work,
        beginning,
        stop,
    } = run;
    let budget = plan.share().max_events.map(AtomicU64::new);
    let abort = AtomicBool::new(false);
    let timeline = setup::timeline(plan);
    let parts = deal(drivers, plan.reactors as usize);
    let (full, frames) = channel();
    std::thread::scope(|scope| {
        let (mut threads, mut returns) = (Vec::new(), Vec::new());
        for (index, part) in (0..).zip(parts) {
            let (empty, sender) = frame_sender(index, &full, plan.load.pace.rate().is_some());
            returns.push(empty);
            let reconnector = setup::renewal(plan, work.joins())
                .map(|renewal| spawn_reconnecting(scope, renewal, part.len(), servers, work))
                .transpose()?;
            let shared = ReactorResources::new(
                (servers.addresses(), servers.for_connection(0).gate()),
                plan.tolerated.clone(),
                reconnector,
                setup::half_rtt_ns(plan),
                plan.load.pace.closed_loop(),
                Compression::from_protocol(plan.load.compression),
            );
            let of_run = beginning.reporters_before + index;
            let job = ReactorJob {
                kind: plan.reactor,
                timeline,
                origin: beginning.origin,
                sender,
                arrivals: setup::arrivals(plan, of_run, part.len() as u32),
                budget: budget.as_ref(),
                counts_short: plan.short_intervals,
                stop,
                abort: &abort,
            };
            threads.push(job.spawn(scope, part, shared)?);
        }
        // The reactors' own ends are left: when the last has ended, so has the channel.
        drop(full);
        consume(&frames, &returns);
        threads.into_iter().try_for_each(join)
    })
}

/// Starts the threads that make connections again, for one reactor.
fn spawn_reconnecting<'scope>(
    scope: &'scope Scope<'scope, '_>,
    renewal: Renewal,
    connections: usize,
    servers: &'scope Servers,
    work: &'scope Work<'_>,
) -> Result<Reconnector, LoadError> {
    let (reconnector, helper) = reconnecting(renewal);
    // Lost connections come back one after the other: a server that just has is spared a rush.
    let helpers = if renewal.every > 0 || work.joins() {
        RECONNECTING_MAX
    } else {
        1
    };
    for _ in 0..helpers.min(connections) {
        let helper = helper.clone();
        std::thread::Builder::new()
            .name("weir-reconnect".to_owned())
            .spawn_scoped(scope, move || {
                helper.serve(|number| {
                    let deadline = Deadline::after(RECONNECT_TIMEOUT);
                    open(servers.for_connection(number), work.script(), deadline)
                });
            })
            .map_err(|error| LoadError::Host {
                what: "start a thread that reconnects",
                why: error.to_string().to_lowercase(),
            })?;
    }
    Ok(reconnector)
}

/// Spreads connections over reactors like cards; a reactor without any is left out.
fn deal<D>(drivers: Vec<D>, reactors: usize) -> Vec<Vec<D>> {
    let mut parts: Vec<Vec<D>> = Vec::new();
    parts.resize_with(reactors.min(drivers.len()), Vec::new);
    let count = parts.len();
    for (index, driver) in drivers.into_iter().enumerate() {
        parts[index % count].push(driver);
    }
    parts
}

/// A reporter's way to the merger, and the merger's way back.
pub(crate) fn frame_sender(
    reporter: u32,
    full: &Sender<Box<IntervalFrame>>,
    is_open: bool,
) -> (Sender<Box<IntervalFrame>>, FrameSender) {
    let (empty, empty_receiver) = channel();
    for _ in 0..SPARES {
        empty
            .send(Box::new(IntervalFrame::new(is_open)))
            .expect("invariant: the receiver of this channel is a local variable");
    }
    let sender = FrameSender {
        reporter,
        full: full.clone(),
        empty: empty_receiver,
    };
    (empty, sender)
}

/// Inputs of a reactor thread besides its connections.
struct ReactorJob<'scope> {
    kind: ReactorKind,
    timeline: Timeline<'scope>,
    origin: Instant,
    sender: FrameSender,
    arrivals: Option<Arrivals>,
    budget: Option<&'scope AtomicU64>,
    counts_short: bool,
    stop: &'scope AtomicBool,
    abort: &'scope AtomicBool,
}

type ReactorThread<'scope> = ScopedJoinHandle<'scope, Result<(), LoadError>>;

impl<'scope> ReactorJob<'scope> {
    fn spawn<'env>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        drivers: Vec<MysqlDriver>,
        mut shared: ReactorResources,
    ) -> Result<ReactorThread<'scope>, LoadError> {
        let abort = self.abort;
        std::thread::Builder::new()
            .name("weir-reactor".to_owned())
            .spawn_scoped(scope, move || {
                let report = self.run(drivers, &mut shared);
                if report.is_err() {
                    abort.store(true, Ordering::Relaxed);
                }
                report
            })
            .map_err(|error| {
                // The threads that were started must not run on for the whole plan.
                abort.store(true, Ordering::Relaxed);
                LoadError::Host {
                    what: "start a reactor thread",
                    why: error.to_string().to_lowercase(),
                }
            })
    }

    fn run(
        self,
        drivers: Vec<MysqlDriver>,
        shared: &mut ReactorResources,
    ) -> Result<(), LoadError> {
        let batch_scheduling = use_batch_scheduling();
        moment::wait_until(self.origin);
        let mut meter = Meter::new(
            self.timeline,
            Clock::Since(self.origin),
            self.sender,
            self.budget,
            self.arrivals,
        )
        .with_short_intervals(self.counts_short);
        let flags = (self.stop, self.abort);
        let (outcome, reactor) = drive_reactor(self.kind, drivers, flags, shared, &mut meter)?;
        meter.finish(ReporterEnd {
            connections: outcome.connections,
            unfinished: outcome.unfinished as u64,
            batch_scheduling,
            reactor,
            standstill_ns: outcome.standstill_ns,
        });
        Ok(())
    }
}

/// Merges the reactors' frames until all reactors have ended.
fn merge(
    frames: &Receiver<Box<IntervalFrame>>,
    returns: &[Sender<Box<IntervalFrame>>],
    merger: &mut Merger<'_>,
    on_progress: &mut dyn FnMut(Progress<'_>),
) {
    merge_frames(frames.iter(), returns, merger, on_progress);
    tell(merger.close_all(), on_progress);
}

/// Merges these frames.
pub(crate) fn merge_frames(
    frames: impl Iterator<Item = Box<IntervalFrame>>,
    returns: &[Sender<Box<IntervalFrame>>],
    merger: &mut Merger<'_>,
    on_progress: &mut dyn FnMut(Progress<'_>),
) {
    for mut frame in frames {
        tell(merger.take(&frame), on_progress);
        frame.clear();
        // A reactor that has ended needs none.
        let _ = returns[frame.reporter as usize].send(frame);
    }
}

/// Tells of what has come to its end.
pub(crate) fn tell(closed: Vec<ClosedPeriod>, on_progress: &mut dyn FnMut(Progress<'_>)) {
    for closed in closed {
        match closed {
            ClosedPeriod::Interval(interval) => on_progress(Progress::Interval(&interval)),
            ClosedPeriod::Checkpoint(totals) => on_progress(Progress::Checkpoint(&totals)),
        }
    }
}

fn join(thread: ReactorThread<'_>) -> Result<(), LoadError> {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::deal;

    #[test]
    fn connections_are_dealt_evenly() {
        assert_eq!(deal(vec![1, 2, 3, 4, 5], 2), [vec![1, 3, 5], vec![2, 4]]);
        assert_eq!(deal(vec![1], 4), [vec![1]]);
    }
}

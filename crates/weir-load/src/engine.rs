//! A run: checks, connections, reactor threads, and the merging of what they count.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use weir_mysql::{Deadline, Gate};

use crate::LoadError;
use crate::connect::{Servers, connect_all, open};
use crate::driver::{MysqlDriver, Reconnector, Renewal, Share, Shared, reconnecting};
use crate::idle::IdleConnections;
use crate::meter::{Arrivals, Clock, Lane, Meter, Tally, Timeline};
use crate::plan::LoadPlan;
use crate::preflight;
use crate::reactor::{ReactorKind, drive as drive_reactor, use_batch_scheduling};
use crate::statistics::{Interval, KindNames, LoadOutcome, Merger, Totals, fairness};
use crate::workload::Script;

/// Empty tallies that wait for each reactor at the start: one to swap in, one for a late return.
const SPARES: usize = 2;

/// Longest wait for an answer of a server that may just have come back: a run must not be held by
/// one that never answers.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Connections that a reactor has made again at the same time.
const RECONNECTING_MAX: usize = 8;

/// What one reactor thread leaves behind.
struct ReactorReport {
    shares: Vec<Share>,
    unfinished: usize,
    cpu_ns: u64,
    batch_scheduling: bool,
    kind: ReactorKind,
}

/// The coordinator's end of the exchange with one reactor.
struct Exchange {
    full: Receiver<Box<Tally>>,
    empty: Sender<Box<Tally>>,
    shares: Receiver<Vec<Share>>,
    /// The connections' parts at the last checkpoint.
    shares_before: Vec<Share>,
}

/// What is told of a run while it lasts.
#[derive(Debug)]
pub enum Progress<'a> {
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
/// for the plan. The intervals before the error have been delivered.
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
    let mut script = plan.workload.script(plan)?;
    if !plan.prepared_statements {
        script.send_as_text();
    }
    let servers = Servers::new(plan, gate)?;
    let deadline = Deadline::after(plan.init_timeout);
    preflight::check(plan, &servers, &script, deadline)?;
    let drivers = connect_all(plan, &servers, &script, stop, deadline)?;
    let idle = IdleConnections::open(plan, &servers, stop)?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let keeping = scope.spawn(|| idle.keep(&is_over));
        let outcome = drive(plan, drivers, &servers, &script, stop, on_progress);
        is_over.store(true, Ordering::Relaxed);
        let idle_connections = keeping
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut outcome = outcome?;
        outcome.idle_connections = idle_connections;
        Ok(outcome)
    })
}

fn drive(
    plan: &LoadPlan,
    drivers: Vec<MysqlDriver>,
    servers: &Servers,
    script: &Script,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<LoadOutcome, LoadError> {
    let budget = plan.max_events.map(AtomicU64::new);
    let abort = AtomicBool::new(false);
    let timeline = plan.timeline();
    let origin = Instant::now();
    let mut merger = Merger::new(timeline, KindNames::of(script));
    let mut exchanges = Vec::new();
    let reports = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, part) in (0..).zip(deal(drivers, plan.reactors as usize)) {
            let (lane, exchange) = exchange(part.len(), plan.rate.is_some());
            exchanges.push(exchange);
            let reconnector = plan
                .renewal()
                .map(|renewal| spawn_reconnecting(scope, renewal, part.len(), servers, script))
                .transpose()?;
            let shared = Shared::new(
                script.clone(),
                &plan.endpoint.address,
                plan.tolerated.clone(),
                reconnector,
                plan.half_rtt_ns(),
                plan.think,
                plan.compression,
            );
            let job = ReactorJob {
                kind: plan.reactor,
                timeline,
                origin,
                lane,
                arrivals: plan.arrivals(index, part.len() as u32),
                budget: budget.as_ref(),
                stop,
                abort: &abort,
            };
            threads.push(job.spawn(scope, part, shared)?);
        }
        merge(&mut exchanges, &mut merger, on_progress);
        threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
    })?;
    let mut outcome = merger.finish();
    outcome.client_cpu_s = reports.iter().map(|r| r.cpu_ns as f64 / 1e9).collect();
    outcome.reactors = reports.iter().map(|report| report.kind).collect();
    outcome.batch_scheduling = reports.iter().all(|report| report.batch_scheduling);
    outcome.unfinished = reports.iter().map(|report| report.unfinished as u64).sum();
    outcome.measured_from = Some(origin + Duration::from_nanos(timeline.measure_ns));
    outcome.stopped_early = stop.load(Ordering::Relaxed);
    outcome.fairness = fairness(
        reports
            .iter()
            .flat_map(|report| report.shares.iter().copied()),
    );
    if let Some(last) = &mut outcome.since_checkpoint {
        let parts = exchanges.iter_mut().zip(&reports);
        let since: Vec<_> = parts
            .flat_map(|(exchange, report)| exchange.since(report.shares.clone()))
            .collect();
        last.fairness = fairness(since.iter().copied());
    }
    Ok(outcome)
}

/// Starts the threads that make connections again, for one reactor.
fn spawn_reconnecting<'scope>(
    scope: &'scope Scope<'scope, '_>,
    renewal: Renewal,
    connections: usize,
    servers: &'scope Servers,
    script: &'scope Script,
) -> Result<Reconnector, LoadError> {
    let (reconnector, helper) = reconnecting(renewal);
    // Lost connections come back one after the other: a server that just has is spared a rush.
    let helpers = if renewal.every > 0 {
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
                    open(servers.of(number), script, deadline)
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

fn exchange(connections: usize, is_open: bool) -> (Lane, Exchange) {
    let (full_sender, full) = channel();
    let (shares_sender, shares) = channel();
    let (empty, empty_receiver) = channel();
    for _ in 0..SPARES {
        empty
            .send(Box::new(Tally::new(is_open)))
            .expect("invariant: the receiver of this channel is a local variable");
    }
    let lane = Lane {
        full: full_sender,
        empty: empty_receiver,
        shares: shares_sender,
    };
    let exchange = Exchange {
        full,
        empty,
        shares,
        shares_before: vec![Share::default(); connections],
    };
    (lane, exchange)
}

impl Exchange {
    /// What the connections have done since the last checkpoint, of which this is the next.
    fn since(&mut self, shares: Vec<Share>) -> Vec<Share> {
        let before = std::mem::replace(&mut self.shares_before, shares);
        let pairs = self.shares_before.iter().zip(before);
        pairs.map(|(now, before)| now.since(before)).collect()
    }
}

/// What a reactor thread needs besides its connections.
struct ReactorJob<'scope> {
    kind: ReactorKind,
    timeline: Timeline<'scope>,
    origin: Instant,
    lane: Lane,
    arrivals: Option<Arrivals>,
    budget: Option<&'scope AtomicU64>,
    stop: &'scope AtomicBool,
    abort: &'scope AtomicBool,
}

type ReactorThread<'scope> = ScopedJoinHandle<'scope, Result<ReactorReport, LoadError>>;

impl<'scope> ReactorJob<'scope> {
    fn spawn<'env>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        drivers: Vec<MysqlDriver>,
        mut shared: Shared,
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
        shared: &mut Shared,
    ) -> Result<ReactorReport, LoadError> {
        let batch_scheduling = use_batch_scheduling();
        let mut meter = Meter::new(
            self.timeline,
            Clock::Since(self.origin),
            self.lane,
            self.budget,
            self.arrivals,
        );
        let flags = (self.stop, self.abort);
        let (outcome, kind) = drive_reactor(self.kind, drivers, flags, shared, &mut meter)?;
        Ok(ReactorReport {
            shares: outcome.shares,
            unfinished: outcome.unfinished,
            cpu_ns: meter.finish(),
            batch_scheduling,
            kind,
        })
    }
}

/// Merges the reactors' tallies, interval by interval, until all reactors have ended.
fn merge(
    exchanges: &mut [Exchange],
    merger: &mut Merger<'_>,
    on_progress: &mut dyn FnMut(Progress<'_>),
) {
    loop {
        let mut any = false;
        for exchange in &*exchanges {
            // A reactor sends a tally at the end of every interval, also when it was idle.
            let Ok(mut tally) = exchange.full.recv() else {
                continue;
            };
            any = true;
            merger.add(&tally);
            tally.clear();
            // A reactor that has ended needs none.
            let _ = exchange.empty.send(tally);
        }
        if !any {
            return;
        }
        let is_at_checkpoint = merger.is_at_checkpoint();
        if let Some(interval) = merger.end_interval() {
            on_progress(Progress::Interval(&interval));
        }
        if is_at_checkpoint {
            // A reactor that has ended has nothing to add to what it said before.
            let since: Vec<_> = exchanges
                .iter_mut()
                .filter_map(|exchange| exchange.shares.recv().ok().map(|now| exchange.since(now)))
                .flatten()
                .collect();
            if let Some(totals) = merger.end_stretch(fairness(since.iter().copied())) {
                on_progress(Progress::Checkpoint(&totals));
            }
        }
    }
}

fn join(thread: ReactorThread<'_>) -> Result<ReactorReport, LoadError> {
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

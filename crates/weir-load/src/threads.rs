//! A run whose connections are threads of their own, for scripts that wait by blocking.
//!
//! What a thread does is the caller's; here is what threads share: that all begin at once, when the run
//! ends, and what they count. Counters lie in a few meters with a lock each, as many as there are
//! processors, since a meter is large; who holds a lock does so for some nanoseconds. One more thread ends
//! intervals in time while all others wait.

mod meter;
mod start;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, TryIter, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use meter::ThreadMeter;
use meter::{MeterState, Shard};
pub use start::Start;

use crate::LoadError;
use crate::conclusion::conclude;
use crate::engine::{
    Beginning, Frame, PartEnd, PartReady, PartStart, frame_sender, give, merge_frames, setup, tell,
    wait_until,
};
use crate::meter::{Clock, IntervalFrame, Meter, Phase, QueryKind, Timeline};
use crate::plan::LoadPlan;
use crate::statistics::{KindNames, LoadOutcome, Merger};
use crate::{FoundStatements, Progress, SessionKinds};

/// Longest pause between two looks at whether the run is to stop.
const LOOK: Duration = Duration::from_millis(20);
/// Time that threads may need for their last event before that is reported.
const PATIENCE: Duration = Duration::from_secs(3);

/// Kind of a statement, by its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    /// It returned rows.
    Read,
    /// It changed rows.
    Write,
    /// Neither.
    Other,
}

impl From<StatementKind> for QueryKind {
    fn from(kind: StatementKind) -> Self {
        match kind {
            StatementKind::Read => Self::Read,
            StatementKind::Write => Self::Write,
            StatementKind::Other => Self::Other,
        }
    }
}

/// Progress of a run.
#[derive(Debug)]
pub enum ThreadProgress<'a> {
    /// All threads are ready, and begin now.
    Started,
    /// As of any run.
    Load(Progress<'a>),
    /// So many threads are not ready although the time for that is over.
    NotReady(u32),
    /// So many threads have not ended 3 s after the end of the run.
    NotEnded(u32),
}

/// Outcome of a run.
#[derive(Debug)]
pub enum ThreadsOutcome<T> {
    /// All threads did what they were to do.
    Completed(T),
    /// A thread failed before all were ready: nothing was measured.
    NotStarted,
    /// A thread failed during the run; the others ended with the event that they were in.
    Failed,
}

/// Work of a thread: it gets ready, [waits](Start::ready) for the others, and runs events. `Err`: it failed, and has
/// said why.
pub type ThreadWork<'a> = &'a (dyn Fn(u32, Start) -> Result<(), ()> + Sync);

/// Runs as many threads as the plan has connections.
///
/// Of the plan only the load, its interval, its seed and its limits count. Ends when all threads have.
///
/// # Errors
///
/// A host that gives no more threads; threads that ended before the plan's limits, unless `stop` is set.
pub fn run_threads(
    plan: &LoadPlan,
    kinds: &SessionKinds,
    work: ThreadWork<'_>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(ThreadProgress<'_>),
) -> Result<ThreadsOutcome<Box<LoadOutcome>>, LoadError> {
    let ended = run_all(plan, work, stop, on_progress, &mut |shared, on_progress| {
        Some(measure(plan, kinds.clone(), shared, stop, on_progress))
    })?;
    Ok(match ended {
        ThreadsOutcome::Completed(outcome) => ThreadsOutcome::Completed(Box::new(outcome?)),
        ThreadsOutcome::NotStarted => ThreadsOutcome::NotStarted,
        ThreadsOutcome::Failed => ThreadsOutcome::Failed,
    })
}

/// Leader of a run of several processes, as one of them sees it.
pub struct PartLead<'a> {
    /// Says when this part begins, once its threads are ready; `None`: not at all.
    pub start: &'a mut dyn FnMut(PartReady) -> Option<PartStart>,
    /// Takes what its threads count.
    pub on_frame: &'a mut dyn FnMut(&Frame),
}

impl std::fmt::Debug for PartLead<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PartLead").finish_non_exhaustive()
    }
}

/// Runs this process's share of the plan's threads: [`run_threads`] as [`run_part`](crate::run_part). `found`: the
/// statements that the threads have met.
///
/// # Errors
///
/// As [`run_threads`].
pub fn run_threads_part(
    plan: &LoadPlan,
    found: &FoundStatements,
    work: ThreadWork<'_>,
    stop: &AtomicBool,
    lead: PartLead<'_>,
    on_progress: &mut dyn FnMut(ThreadProgress<'_>),
) -> Result<ThreadsOutcome<PartEnd>, LoadError> {
    let PartLead { start, on_frame } = lead;
    run_all(plan, work, stop, on_progress, &mut |shared, on_progress| {
        let ready = PartReady {
            reporters: shards(plan),
            warnings: Vec::new(),
        };
        let Some(start) = start(ready) else {
            shared.give_up();
            return None;
        };
        let beginning = Beginning {
            origin: start.at,
            reporters_before: start.reporters_before,
        };
        wait_until(start.at);
        let began_late = start.at.elapsed();
        drive(
            (plan, shared),
            beginning,
            stop,
            &mut |frames, returns, _| give(frames, returns, found, on_frame),
            on_progress,
        );
        Some(PartEnd {
            idle_connections: 0,
            began_late,
        })
    })
}

/// Measurement of threads that are all ready, until the last has ended; `None`: they are not to begin.
type Measure<'a, T> =
    &'a mut dyn FnMut(&Arc<MeterState>, &mut dyn FnMut(ThreadProgress<'_>)) -> Option<T>;

/// Starts the threads and measures them.
fn run_all<T>(
    plan: &LoadPlan,
    work: ThreadWork<'_>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(ThreadProgress<'_>),
    measure: Measure<'_, T>,
) -> Result<ThreadsOutcome<T>, LoadError> {
    plan.check()?;
    let numbers = plan.share().connections;
    let shared = Arc::new(MeterState::new(numbers.len() as u32));
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, number) in (0..).zip(numbers) {
            let start = Start::new(Arc::clone(&shared), index);
            let thread = std::thread::Builder::new()
                .name(format!("script-{number}"))
                .spawn_scoped(scope, move || work(number, start));
            match thread {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    shared.give_up();
                    return Err(LoadError::Host {
                        what: "start a thread of the script",
                        why: error.to_string().to_lowercase(),
                    });
                }
            }
        }
        let all_ready = shared.wait_until_ready(plan.init_timeout, stop, &mut |late| {
            on_progress(ThreadProgress::NotReady(late));
        });
        let outcome = all_ready.then(|| measure(&shared, on_progress)).flatten();
        let mut is_failed = false;
        for thread in threads {
            let done = thread.join();
            is_failed |= done
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                .is_err();
        }
        Ok(match outcome {
            None => ThreadsOutcome::NotStarted,
            Some(_) if is_failed => ThreadsOutcome::Failed,
            Some(outcome) => ThreadsOutcome::Completed(outcome),
        })
    })
}

/// Lets the threads begin, and merges what they count until all have ended.
fn measure(
    plan: &LoadPlan,
    kinds: SessionKinds,
    shared: &Arc<MeterState>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(ThreadProgress<'_>),
) -> Result<LoadOutcome, LoadError> {
    let timeline = setup::timeline(plan);
    let beginning = Beginning {
        origin: Instant::now(),
        reporters_before: 0,
    };
    let measured_from = beginning.origin + Duration::from_nanos(timeline.measure_ns);
    let mut merger = Merger::new(timeline, KindNames::new(kinds), shards(plan) as usize);
    drive(
        (plan, shared),
        beginning,
        stop,
        &mut |frames, returns, on_progress| {
            merge_frames(frames, returns, &mut merger, &mut |progress| {
                on_progress(ThreadProgress::Load(progress));
            });
        },
        on_progress,
    );
    tell(merger.close_all(), &mut |progress| {
        on_progress(ThreadProgress::Load(progress));
    });
    let mut outcome = merger.finish();
    outcome.measured_from = Some(measured_from);
    conclude(plan, outcome, stop.load(Ordering::Relaxed))
}

/// Meters of a run's threads.
fn shards(plan: &LoadPlan) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    processors.min(plan.share().count())
}

/// Consumer that takes the frames of threads and gives them back empty.
type Consume<'a> = &'a mut dyn FnMut(
    TryIter<'_, Box<IntervalFrame>>,
    &[Sender<Box<IntervalFrame>>],
    &mut dyn FnMut(ThreadProgress<'_>),
);

/// Lets the threads begin, and hands over what they count until all have ended.
fn drive(
    (plan, shared): (&LoadPlan, &Arc<MeterState>),
    beginning: Beginning,
    stop: &AtomicBool,
    consume: Consume<'_>,
    on_progress: &mut dyn FnMut(ThreadProgress<'_>),
) {
    let share = plan.share();
    let (threads, count) = (share.count(), shards(plan));
    // A host of a script lives as long as the interpreter likes; a run's few bytes stay with the process.
    let timeline = Timeline {
        checkpoints: plan.checkpoints.clone().leak(),
        ..setup::timeline(plan)
    };
    let budget: Option<&'static AtomicU64> = share
        .max_events
        .map(|most| &*Box::leak(Box::new(AtomicU64::new(most))));
    let origin = beginning.origin;
    on_progress(ThreadProgress::Started);
    let measured_from = origin + Duration::from_nanos(timeline.measure_ns);
    on_progress(ThreadProgress::Load(Progress::Began(measured_from)));
    let (full, frames) = channel();
    let (mut shards, mut returns) = (Vec::new(), Vec::new());
    for index in 0..count {
        let (empty, sender) = frame_sender(index, &full, plan.load.pace.rate().is_some());
        returns.push(empty);
        let part = (threads + count - 1 - index) / count;
        let meter = Meter::new(
            timeline,
            Clock::Since(origin),
            sender,
            budget,
            setup::arrivals(plan, beginning.reporters_before + index, part),
        );
        let meter = meter.with_short_intervals(plan.short_intervals);
        let meter = meter.of_process(index == 0);
        shards.push(Mutex::new(Shard::new(meter, part as usize)));
    }
    drop(full);
    shared.begin(shards);
    let (mut ended_at, mut is_told) = (None, false);
    let (mut looked_ns, mut standstill_ns) = (0, 0);
    loop {
        let is_over = shared.wait_until_left(LOOK);
        let now_ns = origin.elapsed().as_nanos() as u64;
        if timeline.phase_at(looked_ns) != Phase::Drain {
            standstill_ns = standstill_ns.max(now_ns - looked_ns);
        }
        looked_ns = now_ns;
        let stops = is_over || stop.load(Ordering::Relaxed) || shared.is_given_up();
        for shard in shared.shards() {
            if is_over {
                lock(shard).finish(standstill_ns);
            } else {
                lock(shard).tick(stops);
            }
        }
        consume(frames.try_iter(), &returns, on_progress);
        if is_over {
            break;
        }
        if stops || timeline.phase_at(now_ns) == Phase::Drain {
            let ended_at = *ended_at.get_or_insert_with(Instant::now);
            if ended_at.elapsed() > PATIENCE && !std::mem::replace(&mut is_told, true) {
                on_progress(ThreadProgress::NotEnded(shared.running()));
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

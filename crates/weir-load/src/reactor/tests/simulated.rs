//! Reports of a reactor against the truth, to the nanosecond: connections, schedule and statistics
//! are the real ones, time and the server are simulated.
//!
//! The server answers after delays that are known. Between its events no time passes, as on an
//! infinitely fast machine, so that whatever differs from the truth is an error of the load engine.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use weir_model::{
    ArrivalKind, ClosedLoop, LatencySummary, LoadSpec, Pace, Rate, ThinkTime, WorkloadName,
};

use super::super::Reactor;
use super::super::sockets::{Arrival, Chunk, Sockets, Wait};
use crate::driver::{Fresh, MysqlDriver, NonBlocking, ReactorResources, Transport};
use crate::engine::setup;
use crate::meter::{Clock, FrameSender, Meter, ReporterEnd, new_histogram};
use crate::own_socket::OwnSocket;
use crate::plan::LoadPlan;
use crate::reactor_kind::ReactorKind;
use crate::session::{Statements, Work};
use crate::statistics::{KindNames, LoadOutcome, Merger};
use crate::testing::nowhere;
use weir_mysql::{Channel, Gate, Stream};
use weir_workload::seeded;

/// The answer to a statement that changed nothing.
const DONE: &[u8] = &[7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
const COM_QUIT: u8 = 1;
const CONNECTIONS: u32 = 16;
const SECOND_NS: u64 = 1_000_000_000;

/// A server that answers after known delays.
struct Server {
    now_ns: Arc<AtomicU64>,
    /// Time to the answer to a request that comes at this time.
    delay_ns: Box<dyn FnMut(u64) -> u64>,
    /// Answers under way: when they come, and to which connection.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    /// All delays so far.
    delays_ns: Rc<Cell<Vec<u64>>>,
}

impl Sockets for Server {
    fn attach(&mut self, _: usize, _: Transport) -> io::Result<()> {
        Ok(())
    }

    fn send(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        if bytes[4] == COM_QUIT {
            return Ok(());
        }
        let now_ns = self.now_ns.load(Ordering::Relaxed);
        let delay_ns = (self.delay_ns)(now_ns);
        let mut delays_ns = self.delays_ns.take();
        delays_ns.push(delay_ns);
        self.delays_ns.set(delays_ns);
        self.due.push(Reverse((now_ns + delay_ns, index)));
        Ok(())
    }

    fn watch(&mut self, _: usize, _: OwnSocket) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, wait: Wait) -> io::Result<()> {
        let reply_ns = self.due.peek().map(|Reverse((at_ns, _))| *at_ns);
        let ends = [Some(wait.until_ns), wait.timer_ns, reply_ns];
        let next_ns = ends.into_iter().flatten().min();
        let now_ns = next_ns.unwrap_or(0).max(wait.now_ns);
        self.now_ns.store(now_ns, Ordering::Relaxed);
        Ok(())
    }

    fn next(&mut self) -> Option<Arrival> {
        let Reverse((at_ns, index)) = *self.due.peek()?;
        if at_ns > self.now_ns.load(Ordering::Relaxed) {
            return None;
        }
        self.due.pop();
        let length = DONE.len();
        let chunk = Ok(Chunk {
            buffer: 0,
            start: 0,
            length,
            came: None,
        });
        Some(Arrival::Chunk(index, chunk))
    }

    fn bytes(&self, chunk: &Chunk) -> &[u8] {
        &DONE[..chunk.length]
    }

    fn recycle(&mut self, _: Chunk) {}
}

fn driver(plan: &LoadPlan, work: &Work<'_>, number: u32) -> MysqlDriver {
    let (near, _) = UnixStream::pair().unwrap();
    let transport = Channel::plain(NonBlocking::try_from(Stream::Unix(near)).unwrap());
    let prepared = |wanted: &[_]| Ok::<_, ()>(vec![Some(1); wanted.len()]);
    let statements = Statements::prepare(work.script(), prepared).unwrap();
    let fresh = Fresh::new(transport, true, statements);
    let rng = seeded(plan.seed, u64::from(number));
    MysqlDriver::new(number, fresh, work, 0, rng)
}

/// Runs a load of ten seconds; what was reported, and the server's delays.
fn simulate(
    pace: impl Into<Pace>,
    delay_ns: impl FnMut(u64) -> u64 + 'static,
) -> (LoadOutcome, Vec<u64>) {
    let plan = LoadPlan {
        load: LoadSpec {
            connections: CONNECTIONS,
            pace: pace.into(),
            measure: Duration::from_secs(10).into(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(nowhere(), WorkloadName::OltpPointSelect)
    };
    let work = Work::of_script(plan.script().unwrap());
    let (now_ns, delays_ns) = (Arc::new(AtomicU64::new(0)), Rc::new(Cell::default()));
    let server = Server {
        now_ns: Arc::clone(&now_ns),
        delay_ns: Box::new(delay_ns),
        due: BinaryHeap::new(),
        delays_ns: Rc::clone(&delays_ns),
    };
    let (full, frames) = channel();
    let (_spares, empty) = channel();
    let sender = FrameSender {
        reporter: 0,
        full,
        empty,
    };
    let timeline = setup::timeline(&plan);
    let arrivals = setup::arrivals(&plan, 0, plan.load.connections);
    let mut meter = Meter::new(timeline, Clock::Told(now_ns), sender, None, arrivals);
    let drivers = (0..plan.load.connections).map(|number| driver(&plan, &work, number));
    let (tolerated, address) = (plan.tolerated.clone(), plan.endpoint.address.clone());
    let mut shared = ReactorResources::new(
        (vec![address], &Gate::own()),
        tolerated,
        None,
        0,
        plan.load.pace.closed_loop(),
        None,
    );
    let (stop, abort) = (AtomicBool::new(false), AtomicBool::new(false));
    let reactor = Reactor::new(drivers.collect(), server, &stop, &abort).unwrap();
    let outcome = reactor.run(&mut shared, &mut meter).unwrap();
    assert_eq!(outcome.unfinished, 0);
    meter.finish(ReporterEnd {
        connections: outcome.connections,
        unfinished: 0,
        batch_scheduling: true,
        reactor: ReactorKind::Epoll,
        standstill_ns: 0,
    });
    let mut merger = Merger::new(timeline, KindNames::new(work.kinds()), 1);
    for frame in frames.try_iter() {
        merger.take(&frame);
    }
    merger.close_all();
    (merger.finish(), delays_ns.take())
}

fn rate(arrivals: ArrivalKind, per_s: f64) -> Rate {
    Rate {
        per_s,
        arrivals,
        ramp: None,
    }
}

/// Reported percentiles are the true ones, but for the three digits of a histogram and the few
/// transactions that the end of the measurement leaves out.
fn assert_true(what: &str, seen: &LatencySummary, delays_ns: &[u64]) {
    let mut truth = new_histogram();
    for delay_ns in delays_ns {
        truth.saturating_record(*delay_ns);
    }
    for (quantile, seen_us) in [
        (0.5, seen.us_p50),
        (0.99, seen.us_p99),
        (0.999, seen.us_p999),
    ] {
        let true_us = truth.value_at_quantile(quantile) as f64 / 1e3;
        assert!(
            (seen_us / true_us - 1.0).abs() < 0.005,
            "{what}: {quantile}: {true_us} us, seen {seen_us} us"
        );
    }
}

#[test]
fn known_delays_are_reported_as_they_are_in_open_and_closed_loops() {
    for rate in [None, Some(rate(ArrivalKind::Poisson, 2_000.0))] {
        for is_constant in [true, false] {
            let mut rng = seeded(7, 0);
            let exponential = move |_| (-(1.0 - rng.unit()).ln() * 2e6) as u64;
            let (outcome, delays_ns) = if is_constant {
                simulate(rate, |_| 2_000_000)
            } else {
                simulate(rate, exponential)
            };
            let what = format!("{rate:?}, constant: {is_constant}");
            assert!(outcome.counts.transactions > 15_000, "{what}");
            let open_loop = outcome.open_loop.as_ref();
            if let Some(paced) = open_loop {
                // Response time is lag and service time, one by one and so in the mean.
                let sum_us = paced.service.us_mean + paced.lag.us_mean;
                let ratio = sum_us / outcome.latency.us_mean;
                assert!((ratio - 1.0).abs() < 0.002, "{what}: {ratio}");
            }
            let service = open_loop.map_or(&outcome.latency, |paced| &paced.service);
            assert_true(&what, service, &delays_ns);
        }
    }
}

#[test]
fn a_stall_counts_for_all_that_were_due_in_it() {
    let stall_ns = 4 * SECOND_NS..5 * SECOND_NS;
    let (outcome, _) = simulate(Some(rate(ArrivalKind::Constant, 1_000.0)), move |now_ns| {
        if stall_ns.contains(&now_ns) {
            stall_ns.end - now_ns
        } else {
            1_000
        }
    });
    // Transactions whose latency is at least so long.
    let steps: Vec<_> = (0..100_000).collect();
    let late = |ms: u32| {
        let is_shorter =
            |step: &u32| outcome.latency_us(f64::from(*step) / 1e3) < f64::from(ms) * 1e3;
        let shorter = steps.partition_point(is_shorter);
        (1.0 - shorter as f64 / 1e5) * outcome.counts.transactions as f64
    };
    // 1,000 were due within the stall, evenly: half of them were late by half of it or more.
    for (ms, expected) in [(1, 999.0), (250, 750.0), (500, 500.0), (900, 100.0)] {
        assert!((late(ms) - expected).abs() <= 3.0, "{ms} ms: {}", late(ms));
    }
    let longest_s = outcome.latency.us_max / 1e6;
    assert!((longest_s - 1.0).abs() < 0.002, "{longest_s}");
    // Of the requests, only as many as there are connections took long.
    let paced = outcome.open_loop.as_ref().unwrap();
    assert!(paced.service.us_p99 < 2.0, "{paced:?}");
    assert!((983..=1_000).contains(&paced.waited), "{paced:?}");
}

const MS_NS: u64 = 1_000_000;

/// A closed loop with this pacing and think time.
fn paced(pacing_ms: u64, think_ms: u64) -> Pace {
    let ms = |ms| Duration::from_millis(ms).into();
    Pace::Closed(ClosedLoop {
        think: ThinkTime {
            mean: ms(think_ms),
            ..ThinkTime::default()
        },
        pacing: ms(pacing_ms),
    })
}

/// So many transactions of each connection, but for the one at the end of the measurement.
fn assert_of_each(outcome: &LoadOutcome, expected: u64) {
    let all = outcome.counts.transactions;
    let each = all as f64 / f64::from(CONNECTIONS) - expected as f64;
    assert!(each.abs() <= 1.0, "{all}, of each {expected}");
}

#[test]
fn paced_transactions_begin_at_equal_times_however_long_they_take() {
    let off = Rc::new(Cell::new(0));
    let counted = Rc::clone(&off);
    let mut rng = seeded(7, 0);
    let (outcome, delays_ns) = simulate(paced(10, 0), move |now_ns| {
        counted.set(counted.get() + u64::from(now_ns % (10 * MS_NS) != 0));
        (rng.unit() * 10e6) as u64
    });
    assert_eq!(off.get(), 0);
    assert_of_each(&outcome, 1_000);
    // What is waited for is in no latency.
    assert_true("paced", &outcome.latency, &delays_ns);
}

#[test]
fn what_takes_longer_than_the_pacing_delays_the_next_and_no_others() {
    // Pacing, think time and the server's delay, milliseconds; transactions of a connection in ten seconds.
    for (pacing_ms, think_ms, delay_ms, expected) in [
        (10, 0, 2, 1_000),
        (10, 0, 20, 500),
        (10, 5, 2, 1_000),
        (10, 18, 2, 500),
    ] {
        let (outcome, _) = simulate(paced(pacing_ms, think_ms), move |_| delay_ms * MS_NS);
        assert_of_each(&outcome, expected);
    }
    // After a stall nothing is caught up with.
    let stall_ns = 4 * SECOND_NS..5 * SECOND_NS;
    let (outcome, _) = simulate(paced(10, 0), move |now_ns| {
        if stall_ns.contains(&now_ns) {
            stall_ns.end - now_ns
        } else {
            MS_NS
        }
    });
    assert_of_each(&outcome, 900);
}

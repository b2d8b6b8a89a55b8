//! The reactor over null drivers: timers, phases and the exchange of frames, without a server.

mod arrivals;
mod simulated;

use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::time::Instant;

use super::Phase::{Drain, Measure, Warmup};
use super::*;
use crate::driver::NullDriver;
use crate::meter::{Clock, Counts, FrameSender, IntervalFrame, ReporterEnd, Timeline};
use crate::reactor_kind::ReactorKind;

const MS: u64 = 1_000_000;

fn run(
    drivers: usize,
    delay_ns: u64,
    timeline: Timeline<'_>,
    budget: Option<&AtomicU64>,
    stop: &AtomicBool,
) -> (Outcome, Vec<IntervalFrame>) {
    let (full, frames) = channel();
    let (_spares, empty) = channel();
    let abort = AtomicBool::new(false);
    let sender = FrameSender {
        reporter: 0,
        full,
        empty,
    };
    let mut meter = Meter::new(timeline, Clock::Since(Instant::now()), sender, budget, None);
    let drivers: Vec<_> = (0..drivers).map(|_| NullDriver::new(delay_ns)).collect();
    let sockets = EpollSockets::new(drivers.len()).unwrap();
    let reactor = Reactor::new(drivers, sockets, stop, &abort).unwrap();
    let outcome = reactor.run(&mut Vec::new(), &mut meter).unwrap();
    let connections = outcome.connections.clone();
    meter.finish(ReporterEnd {
        connections,
        unfinished: outcome.unfinished as u64,
        batch_scheduling: true,
        reactor: ReactorKind::Epoll,
        standstill_ns: outcome.standstill_ns,
    });
    (outcome, frames.try_iter().map(|frame| *frame).collect())
}

#[test]
fn every_transaction_is_in_exactly_one_interval() {
    let timeline = Timeline {
        measure_ns: 50 * MS,
        end_ns: 200 * MS,
        interval_ns: 50 * MS,
        checkpoints: &[],
    };
    let stop = AtomicBool::new(false);
    let (outcome, frames) = run(8, 2 * MS, timeline, None, &stop);
    assert_eq!(outcome.unfinished, 0);
    let phases: Vec<_> = frames.iter().map(|frame| frame.phase).collect();
    assert_eq!(phases, [Warmup, Measure, Measure, Measure, Drain]);
    for pair in frames.windows(2) {
        assert_eq!(pair[0].to_ns, pair[1].from_ns);
    }
    let mut measured = Counts::default();
    for frame in frames.iter().filter(|frame| frame.phase == Measure) {
        assert_eq!(frame.latency_ns.len(), frame.counts.transactions);
        measured.add(&frame.counts);
    }
    let shares: u64 = outcome
        .connections
        .iter()
        .map(|share| share.transactions)
        .sum();
    assert_eq!(shares, measured.transactions);
    assert!(measured.transactions > 0);
}

#[test]
fn a_budget_ends_the_run() {
    let budget = AtomicU64::new(25);
    let endless = Timeline {
        measure_ns: 0,
        end_ns: u64::MAX,
        interval_ns: 10_000 * MS,
        checkpoints: &[],
    };
    let stop = AtomicBool::new(false);
    let (_, frames) = run(4, MS, endless, Some(&budget), &stop);
    let total: u64 = frames.iter().map(|frame| frame.counts.transactions).sum();
    assert_eq!(total, 25);
}

#[test]
fn a_stop_ends_the_run_after_the_transactions_under_way() {
    let endless = Timeline {
        measure_ns: 0,
        end_ns: u64::MAX,
        interval_ns: 10_000 * MS,
        checkpoints: &[],
    };
    let stop = AtomicBool::new(true);
    let (outcome, frames) = run(4, MS, endless, None, &stop);
    assert_eq!(outcome.unfinished, 0);
    assert_eq!(frames.last().unwrap().phase, Phase::Drain);
}

#[test]
fn drivers_that_do_not_finish_are_given_up() {
    let timeline = Timeline {
        measure_ns: 0,
        end_ns: 10 * MS,
        interval_ns: 10 * MS,
        checkpoints: &[],
    };
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let (outcome, _) = run(3, 3_600_000 * MS, timeline, None, &stop);
    assert_eq!(outcome.unfinished, 3);
    assert!(began.elapsed().as_secs() < 6);
}

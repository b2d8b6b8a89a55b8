//! The reactor over null drivers: timers, phases and the exchange of tallies, without a server.

mod arrivals;
mod simulated;

use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::time::Instant;

use super::Phase::{Drain, Measure, Warmup};
use super::*;
use crate::driver::NullDriver;
use crate::meter::{Clock, Counts, Lane, Tally, Timeline};

const MS: u64 = 1_000_000;

fn run(
    drivers: usize,
    delay_ns: u64,
    timeline: Timeline<'_>,
    budget: Option<&AtomicU64>,
    stop: &AtomicBool,
) -> (Outcome, Vec<Tally>) {
    let (full, tallies) = channel();
    let (_spares, empty) = channel();
    let abort = AtomicBool::new(false);
    let (shares, _) = channel();
    let lane = Lane {
        full,
        empty,
        shares,
    };
    let mut meter = Meter::new(timeline, Clock::Since(Instant::now()), lane, budget, None);
    let drivers: Vec<_> = (0..drivers).map(|_| NullDriver::new(delay_ns)).collect();
    let sockets = EpollSockets::new(drivers.len()).unwrap();
    let reactor = Reactor::new(drivers, sockets, stop, &abort).unwrap();
    let outcome = reactor.run(&mut Vec::new(), &mut meter).unwrap();
    meter.finish();
    (outcome, tallies.try_iter().map(|tally| *tally).collect())
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
    let (outcome, tallies) = run(8, 2 * MS, timeline, None, &stop);
    assert_eq!(outcome.unfinished, 0);
    let phases: Vec<_> = tallies.iter().map(|tally| tally.phase).collect();
    assert_eq!(phases, [Warmup, Measure, Measure, Measure, Drain]);
    for pair in tallies.windows(2) {
        assert_eq!(pair[0].to_ns, pair[1].from_ns);
    }
    let mut measured = Counts::default();
    for tally in tallies.iter().filter(|tally| tally.phase == Measure) {
        assert_eq!(tally.latency.len(), tally.counts.transactions);
        measured.add(&tally.counts);
    }
    let shares: u64 = outcome.shares.iter().map(|share| share.transactions).sum();
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
    let (_, tallies) = run(4, MS, endless, Some(&budget), &stop);
    let total: u64 = tallies.iter().map(|tally| tally.counts.transactions).sum();
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
    let (outcome, tallies) = run(4, MS, endless, None, &stop);
    assert_eq!(outcome.unfinished, 0);
    assert_eq!(tallies.last().unwrap().phase, Phase::Drain);
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

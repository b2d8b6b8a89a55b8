//! Counting against a coordinator that is looked at directly.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use weir_model::ArrivalKind;

use super::*;
use crate::reactor_kind::ReactorKind;
use weir_workload::seeded;

fn meter<'a>(
    timeline: Timeline<'a>,
    budget: Option<&'a AtomicU64>,
) -> (
    Meter<'a>,
    Receiver<Box<IntervalFrame>>,
    Sender<Box<IntervalFrame>>,
) {
    let (full, frames) = channel();
    let (spares, empty) = channel();
    let sender = FrameSender {
        reporter: 0,
        full,
        empty,
    };
    let meter = Meter::new(timeline, Clock::Since(Instant::now()), sender, budget, None);
    (meter, frames, spares)
}

fn end() -> ReporterEnd {
    ReporterEnd {
        connections: Vec::new(),
        unfinished: 0,
        batch_scheduling: true,
        reactor: ReactorKind::Epoll,
        standstill_ns: 0,
    }
}

const LONG: Timeline<'_> = Timeline {
    measure_ns: 0,
    end_ns: u64::MAX,
    interval_ns: 3_600_000_000_000,
    checkpoints: &[],
};

#[test]
fn a_cut_measurement_delivers_what_was_counted_and_then_the_drain() {
    let (mut meter, frames, _spares) = meter(LONG, None);
    meter.query(QueryKind::Read);
    meter.query(QueryKind::Write);
    let due_ns = meter.claim().unwrap();
    let timing = meter.begin(due_ns, false);
    std::thread::sleep(Duration::from_millis(1));
    let latency_ns = meter.reply_received(None) - due_ns;
    meter.transactions(1, timing);
    meter.cut();
    assert!(!meter.may_begin(false));
    meter.query(QueryKind::Other);
    meter.finish(end());
    let measured = frames.recv().unwrap();
    assert_eq!(measured.phase, Phase::Measure);
    assert_eq!((measured.counts.reads, measured.counts.writes), (1, 1));
    assert!(latency_ns >= 1_000_000);
    assert_eq!(measured.latency_ns.len(), 1);
    assert_eq!(measured.latency_ns_sum, latency_ns);
    let drained = frames.recv().unwrap();
    assert_eq!(drained.phase, Phase::Drain);
    assert_eq!(drained.counts.others, 1);
    assert_eq!(drained.from_ns, measured.to_ns);
    assert!(frames.recv().is_err(), "nothing else was delivered");
}

#[test]
fn a_late_look_at_the_clock_delivers_every_interval_in_between() {
    let timeline = Timeline {
        measure_ns: 1_000_000,
        end_ns: 3_000_000,
        interval_ns: 1_000_000,
        checkpoints: &[],
    };
    let (mut meter, frames, _spares) = meter(timeline, None);
    std::thread::sleep(Duration::from_millis(4));
    meter.now();
    let phases: Vec<_> = frames
        .try_iter()
        .map(|frame| (frame.phase, frame.to_ns))
        .collect();
    let expected = [
        (Phase::Warmup, 1_000_000),
        (Phase::Measure, 2_000_000),
        (Phase::Measure, 3_000_000),
    ];
    assert_eq!(phases, expected);
    assert_eq!(meter.phase(), Phase::Drain);
}

#[test]
fn a_returned_frame_is_used_again() {
    let (mut meter, frames, spares) = meter(LONG, None);
    let mut spare = Box::new(IntervalFrame::new(false));
    spare.clear();
    let address: *const IntervalFrame = &raw const *spare;
    spares.send(spare).unwrap();
    meter.cut();
    meter.finish(end());
    frames.recv().unwrap();
    assert!(std::ptr::eq(&raw const *frames.recv().unwrap(), address));
}

#[test]
fn the_budget_is_spent_once_per_transaction_and_not_by_retries() {
    let budget = AtomicU64::new(2);
    let (meter, _frames, _spares) = meter(LONG, Some(&budget));
    assert!(meter.may_begin(false));
    assert!(meter.may_begin(true));
    assert!(meter.may_begin(false));
    assert!(!meter.may_begin(false));
    assert!(meter.may_begin(true));
}

#[test]
fn permissions_beyond_the_first_come_from_the_budget_and_go_back_to_it() {
    let budget = AtomicU64::new(100);
    let (meter, _frames, _spares) = meter(LONG, Some(&budget));
    assert!(meter.may_begin(false));
    assert_eq!(meter.permit_more(60), 60);
    assert_eq!(meter.permit_more(60), 39);
    meter.return_permits(10);
    assert_eq!(meter.permit_more(60), 10);
    assert!(!meter.may_begin(false));
}

#[test]
fn without_a_budget_everything_is_permitted() {
    let (meter, _frames, _spares) = meter(LONG, None);
    assert_eq!(meter.permit_more(60), 60);
    meter.return_permits(10);
    assert!(meter.may_begin(false));
}

#[test]
fn an_open_loop_counts_from_when_a_transaction_was_due() {
    let (full, frames) = channel();
    let (_spares, empty) = channel();
    let arrivals = Arrivals::new(
        ArrivalKind::Constant,
        Curve::steady(1_000.0, 0.0),
        seeded(1, 1),
    );
    let sender = FrameSender {
        reporter: 0,
        full,
        empty,
    };
    let mut meter = Meter::new(
        LONG,
        Clock::Since(Instant::now()),
        sender,
        None,
        Some(arrivals),
    );
    std::thread::sleep(Duration::from_millis(20));
    let begun_ns = meter.now();
    let due_ns = meter.claim().unwrap();
    assert_eq!(due_ns, 0, "the first is due at once");
    let timing = meter.begin(due_ns, true);
    assert_eq!(
        meter.retry(timing, false).intended_start_ns,
        0,
        "a retry is the same transaction"
    );
    let received_ns = meter.reply_received(None);
    meter.transactions(1, timing);
    meter.cut();
    let frame = frames.recv().unwrap();
    assert_eq!(frame.latency_ns_sum, received_ns);
    let tally = frame.open_loop.as_ref().unwrap();
    assert_eq!(tally.waited, 1);
    assert!(tally.service_ns.max() <= received_ns - begun_ns + received_ns / 1_000);
    assert!(tally.lag_ns.max() >= 20_000_000);
    // One a millisecond; the first was taken.
    assert_eq!(tally.due, frame.to_ns / 1_000_000 + 1);
    assert_eq!(tally.queue_length, tally.due - 1);
}

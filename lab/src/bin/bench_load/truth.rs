//! Latencies as the load engine reports them beside what the null server's own clock recorded.

mod floor;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;
use weir_load::{
    DelayKind, Fault, LoadOutcome, LoadPlan, NullServer, NullServerBehavior, ReactorKind, run,
};
use weir_model::{ArrivalKind, LatencySummary, LoadSpec, Rate, WorkloadName};
use weir_mysql::Gate;

use crate::processors::{ANSWERING, ASKING, on};

const DELAY: Duration = Duration::from_millis(2);
const CONNECTIONS: u32 = 256;
const STALL: Duration = Duration::from_secs(1);
const STALL_RATE_PER_S: f64 = 1_000.0;

/// All that was measured.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Truths {
    /// Before the runs and after each kind of reactor.
    floors: Vec<floor::Floor>,
    runs: Vec<Truth>,
    stalls: Vec<Stall>,
}

/// Way from the load engine to the null server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    /// Over a Unix socket, which doesn't tell when a reply came.
    Unix,
    /// Over loopback, whose kernel notes it.
    Tcp,
}

/// One run against a null server.
#[derive(Debug, Serialize)]
struct Truth {
    way: Way,
    reactor: ReactorKind,
    delays: &'static str,
    rate_per_s: f64,
    /// Share of its core that the load engine used.
    utilization: f64,
    /// Time by the server's clock.
    truth: LatencySummary,
    /// Time from request to reply, by the load engine.
    seen: LatencySummary,
}

/// A stall of a second under an open loop.
#[derive(Debug, Serialize)]
struct Stall {
    way: Way,
    reactor: ReactorKind,
    latency_us_max: f64,
    /// Transactions that took longer than half of the stall, in proportion to those that were due
    /// within its first half.
    late_ratio: f64,
}

/// Measures and prints. Server and load engine have a processor each, kept awake.
pub(crate) fn measure(time: Duration) -> anyhow::Result<Truths> {
    // What is measured is the load generator, not how fast this machine wakes up.
    let _awake = weir_drive::keep_processors_awake();
    let mut truths = Truths::default();
    println!(
        "latency truth          delays        1000/s  of a core  p50 us: truth  seen   p99: truth  seen   p99.9: truth  seen"
    );
    truths.floors.push(floor::measure(time)?);
    for way in [Way::Tcp, Way::Unix] {
        for reactor in [ReactorKind::Epoll, ReactorKind::IoUring] {
            for delays in [DelayKind::Constant, DelayKind::Exponential] {
                for per_s in [1_000.0, 10_000.0, 30_000.0] {
                    truths.runs.push(truth(way, reactor, delays, per_s, time)?);
                }
            }
            truths.stalls.push(stall(way, reactor)?);
            truths.floors.push(floor::measure(time)?);
        }
    }
    Ok(truths)
}

fn truth(
    way: Way,
    reactor: ReactorKind,
    delays: DelayKind,
    per_s: f64,
    time: Duration,
) -> anyhow::Result<Truth> {
    let behavior = NullServerBehavior {
        delay: DELAY,
        delays,
        is_wakeful: true,
        ..NullServerBehavior::default()
    };
    let label = match delays {
        DelayKind::Constant => "constant",
        DelayKind::Exponential => "exponential",
    };
    let (outcome, truth) = one(way, behavior, reactor, per_s, ArrivalKind::Poisson, time)?;
    let utilization = outcome.client_utilization();
    let paced = outcome.open_loop.context("an open loop was asked for")?;
    let seen = paced.service;
    println!(
        "  {:<20} {label:<12} {:>7.0} {utilization:>10.2} {:>14.1} {:>6.1} {:>11.1} {:>6.1} {:>13.1} {:>6.1}",
        format!("{way:?}, {reactor:?}"),
        per_s / 1e3,
        truth.us_p50,
        seen.us_p50,
        truth.us_p99,
        seen.us_p99,
        truth.us_p999,
        seen.us_p999
    );
    Ok(Truth {
        way,
        reactor,
        delays: label,
        rate_per_s: per_s,
        utilization,
        truth,
        seen,
    })
}

fn stall(way: Way, reactor: ReactorKind) -> anyhow::Result<Stall> {
    let behavior = NullServerBehavior {
        delay: DELAY,
        is_wakeful: true,
        fault: Some(Fault::StallAfter(1_000, STALL)),
        ..NullServerBehavior::default()
    };
    let time = Duration::from_secs(3);
    let (outcome, _) = one(
        way,
        behavior,
        reactor,
        STALL_RATE_PER_S,
        ArrivalKind::Constant,
        time,
    )?;
    let half_us = STALL.as_micros() as f64 / 2.0;
    let steps = 10_000;
    let late = (0..=steps)
        .filter(|step| outcome.latency_us(f64::from(*step) * 100.0 / f64::from(steps)) >= half_us)
        .count() as f64
        / f64::from(steps)
        * outcome.counts.transactions as f64;
    let stall = Stall {
        way,
        reactor,
        latency_us_max: outcome.latency.us_max,
        late_ratio: late / (STALL_RATE_PER_S * half_us / 1e6),
    };
    println!(
        "  {:<20} stall of 1 s: max {:.1} ms, late transactions {:.3} of those due",
        format!("{way:?}, {reactor:?}"),
        stall.latency_us_max / 1e3,
        stall.late_ratio
    );
    Ok(stall)
}

fn one(
    way: Way,
    behavior: NullServerBehavior,
    reactor: ReactorKind,
    per_s: f64,
    arrivals: ArrivalKind,
    time: Duration,
) -> anyhow::Result<(LoadOutcome, LatencySummary)> {
    let directory = tempfile::tempdir()?;
    let socket: &Path = &directory.path().join("s");
    let server = on(ANSWERING, || {
        Ok(match way {
            Way::Unix => NullServer::start(socket, behavior)?,
            Way::Tcp => NullServer::start_tcp(0, behavior)?,
        })
    })?;
    let plan = LoadPlan {
        reactor,
        load: LoadSpec {
            connections: CONNECTIONS,
            pace: Some(Rate {
                per_s,
                arrivals,
                ramp: None,
            })
            .into(),
            measure: time.into(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(server.endpoint(), WorkloadName::OltpPointSelect)
    };
    let outcome = on(ASKING, || {
        Ok(run(
            &plan,
            &Gate::own(),
            &AtomicBool::new(false),
            &mut |_| {},
        )?)
    })?;
    let truth = server.service();
    Ok((outcome, truth))
}

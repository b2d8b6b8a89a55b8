//! A replay of its own capture, captured again: statements in flight by tenths of a second, and the times between
//! statements, of both captures.
//!
//! The server takes the same time for each statement, so that both captures differ by the replay and the proxy alone.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use weir_capture::{CaptureReader, Happening};
use weir_load::{NullServer, NullServerBehavior};
use weir_replay::ReplayOptions;
use weir_workload::seeded;

use crate::proxy::ProxyThread;
use crate::written::{Event, capture, send};

const SESSIONS: u64 = 100;
const SECONDS: u64 = 20;
/// What a statement takes.
const SERVICE: Duration = Duration::from_millis(5);
/// Statements of a session in a second, mean, while it is busy.
const PER_SESSION_S: f64 = 10.0;
/// Statements in flight are averaged over this.
const SLICE_US: u64 = 100_000;

pub(crate) fn measure(folder: &Path) -> Value {
    let behavior = NullServerBehavior {
        delay: SERVICE,
        ..NullServerBehavior::default()
    };
    let server = NullServer::start_tcp(0, behavior).unwrap();
    let log = capture(folder, "profile", events());
    let recaptured = |from: &Path, name: &str, speed: f64| {
        let to = folder.join(name);
        let proxy = ProxyThread::start(&server.endpoint(), &to);
        let options = ReplayOptions {
            speed,
            ..ReplayOptions::default()
        };
        send(proxy.endpoint.clone(), from, &options);
        proxy.finish();
        to
    };
    let own = recaptured(&log, "own.weircap", 1.0);
    let compared = [1.0, 2.0].map(|speed| {
        let again = recaptured(&own, &format!("again-{speed}.weircap"), speed);
        compared(&own, &again, speed)
    });
    compared.into_iter().collect()
}

/// Poisson's arrivals of each session, in seconds that are busy and seconds that are not.
fn events() -> Vec<(u64, u64, Event)> {
    let mut events = Vec::new();
    for session in 0..SESSIONS {
        let mut rng = seeded(1, session);
        events.push((session * 1_000, session, Event::Joins));
        let mut at_us = 500_000;
        loop {
            let is_busy = at_us / 2_000_000 % 2 == 0;
            let per_s = PER_SESSION_S * if is_busy { 1.0 } else { 0.3 };
            at_us += (-(1.0 - rng.unit()).ln() * 1e6 / per_s) as u64;
            if at_us >= SECONDS * 1_000_000 {
                break;
            }
            events.push((at_us, session, Event::Asks));
        }
        events.push((SECONDS * 1_000_000 + session, session, Event::Leaves));
    }
    events
}

/// The load of a capture.
struct Profile {
    /// When statements began, microseconds after the first, in order.
    starts: Vec<u64>,
    /// Between statements of one session, of all sessions.
    gaps_within: Vec<f64>,
    /// Statements in flight, mean of each slice.
    in_flight: Vec<f64>,
}

fn profile(path: &Path, slice_us: u64) -> Profile {
    let mut open: HashMap<u32, u64> = HashMap::new();
    let mut last: HashMap<u32, u64> = HashMap::new();
    let mut spans = Vec::new();
    let mut gaps_within = Vec::new();
    for record in CaptureReader::open(path).unwrap() {
        let record = record.unwrap();
        let (session, at_us) = (record.session, record.at_us);
        match record.happening {
            // The load engine's own statements are none of the log's.
            Happening::Started(started) if started.text().starts_with(b"SELECT c ") => {
                open.insert(session, at_us);
                let before = last.insert(session, at_us);
                gaps_within.extend(before.map(|before| (at_us - before) as f64));
            }
            Happening::Ended(_) => {
                spans.extend(open.remove(&session).map(|began_us| (began_us, at_us)));
            }
            _ => {}
        }
    }
    let first = spans.iter().map(|span| span.0).min().unwrap();
    let mut starts: Vec<_> = spans.iter().map(|span| span.0 - first).collect();
    starts.sort_unstable();
    let slices = starts.last().unwrap() / slice_us + 1;
    let mut in_flight = vec![0.0; slices as usize];
    for (from, to) in spans.iter().map(|span| (span.0 - first, span.1 - first)) {
        for slice in from / slice_us..=(to / slice_us).min(slices - 1) {
            let (begins, ends) = (slice * slice_us, (slice + 1) * slice_us);
            let within = to.min(ends).saturating_sub(from.max(begins));
            in_flight[slice as usize] += within as f64 / slice_us as f64;
        }
    }
    Profile {
        starts,
        gaps_within,
        in_flight,
    }
}

fn compared(own: &Path, again: &Path, speed: f64) -> Value {
    let slice_us = (SLICE_US as f64 / speed) as u64;
    let (own, again) = (profile(own, SLICE_US), profile(again, slice_us));
    let gaps = |starts: &[u64]| -> Vec<f64> {
        starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect()
    };
    let scaled = |gaps: &[f64]| -> Vec<f64> { gaps.iter().map(|gap| gap / speed).collect() };
    let in_total = distance(scaled(&gaps(&own.starts)), gaps(&again.starts));
    let within = distance(scaled(&own.gaps_within), again.gaps_within);
    // At another speed a statement takes as long as before: there are more at a time.
    let pairs = own.in_flight.iter().zip(&again.in_flight);
    let apart: f64 = pairs.map(|(a, b)| (a * speed - b).abs()).sum();
    let apart = apart / (own.in_flight.iter().sum::<f64>() * speed);
    println!(
        "profile at speed {speed}: {} statements, in flight off by {:.1} % of the mean, times between statements apart by \
         {in_total:.4} in total, {within:.4} within sessions",
        own.starts.len(),
        apart * 100.0
    );
    json!({
        "speed": speed,
        "statements": own.starts.len(),
        "in_flight_mean": own.in_flight.iter().sum::<f64>() / own.in_flight.len() as f64,
        "in_flight_error_of_mean": apart,
        "gaps_in_total_ks": in_total,
        "gaps_within_sessions_ks": within,
    })
}

/// Kolmogorov and Smirnov's distance of two samples.
fn distance(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let up_to = |sample: &[f64], value: f64| {
        sample.partition_point(|other| *other <= value) as f64 / sample.len() as f64
    };
    let values = a.iter().chain(&b);
    let apart = values.map(|value| (up_to(&a, *value) - up_to(&b, *value)).abs());
    apart.fold(0.0, f64::max)
}

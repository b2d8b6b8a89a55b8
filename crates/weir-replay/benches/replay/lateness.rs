//! Many sessions that come and go: how late their statements are, and what the replay takes of memory and files.

use std::path::Path;

use serde_json::{Value, json};
use weir_load::{NullServer, NullServerBehavior};
use weir_replay::ReplayOptions;

use crate::own_process::{forget_memory_peak, memory_peak, open_files};
use crate::written::{Event, capture, send};

/// How long a session stays before another takes its place, microseconds.
const STAY_US: u64 = 30_000_000;

pub(crate) fn measure(folder: &Path, sessions: u64, per_s: u64, seconds: u64) -> Value {
    let events = events(sessions, per_s, seconds);
    let captured_sessions = events
        .iter()
        .filter(|event| event.2 == Event::Joins)
        .count();
    let path = capture(folder, &format!("{sessions}-{per_s}"), events);
    let socket = folder.join(format!("{sessions}.sock"));
    let files_before = open_files();
    forget_memory_peak();
    let server = NullServer::start(&socket, NullServerBehavior::default()).unwrap();
    let told = send(server.endpoint(), &path, &ReplayOptions::default());
    let told = told.record.fidelity;
    drop(server);
    let files_left = open_files().saturating_sub(files_before);
    std::fs::remove_file(path).unwrap();
    println!(
        "{sessions} sessions at a time, {captured_sessions} in all, {per_s}/s: {} of {} sent, late p50 {} us, p99 {} us, \
         max {} us, {} busy; {} MiB at most, {files_left} files left open",
        told.sent,
        told.captured,
        told.late_us.p50,
        told.late_us.p99,
        told.late_us.max,
        told.busy,
        memory_peak() >> 20
    );
    json!({
        "sessions_at_a_time": sessions,
        "statements_per_s": per_s,
        "seconds": seconds,
        "fidelity": told,
        "memory_peak_bytes": memory_peak(),
        "files_left_open": files_left,
    })
}

/// Places of sessions fill within the first tenth. Each session then asks at a pace of its own, and after its stay the
/// next one has its place.
fn events(sessions: u64, per_s: u64, seconds: u64) -> Vec<(u64, u64, Event)> {
    let length_us = seconds * 1_000_000;
    let join_us = length_us / 10;
    let joins_us = |place: u64| place * join_us / sessions;
    let turn_of = |place: u64, at_us: u64| (at_us - joins_us(place)) / STAY_US;
    let mut events = Vec::new();
    for place in 0..sessions {
        let last = turn_of(place, length_us);
        for turn in 0..=last {
            let (id, from_us) = (turn * sessions + place, joins_us(place) + turn * STAY_US);
            // A moment between two sessions of a place.
            let to_us = from_us + STAY_US - 1_000;
            let to_us = if turn == last {
                length_us + place
            } else {
                to_us
            };
            events.push((from_us, id, Event::Joins));
            events.push((to_us, id, Event::Leaves));
        }
    }
    for number in 0..per_s * seconds * 9 / 10 {
        let at_us = join_us + number * 1_000_000 / per_s;
        let place = number % sessions;
        let into_us = (at_us - joins_us(place)) % STAY_US;
        // Not while the place changes hands.
        if (10_000..STAY_US - 10_000).contains(&into_us) {
            events.push((at_us, turn_of(place, at_us) * sessions + place, Event::Asks));
        }
    }
    events
}

//! Rules on events of a run.

use weir_model::{EventDetail, EventEnding, EventRecord, ServerRestart, TemporaryFiles};

use super::*;

/// Gives the first run an event.
fn with_event(result: &mut StudyResult, ending: EventEnding, detail: EventDetail) {
    result.runs[0].events = vec![EventRecord {
        name: "add index".to_owned(),
        kind: "ddl".to_owned(),
        began_s: 5.0,
        ended_s: 6.0,
        tries: 1,
        lock_wait_s: 0.0,
        ending,
        session: BTreeMap::new(),
        detail,
    }];
}

#[test]
fn r20_a_refused_event_makes_its_comparisons_invalid() {
    let refused = EventEnding::Refused {
        code: Some(1846),
        message: "ALGORITHM=INSTANT is not supported".to_owned(),
    };
    let (rules, verdict) = spoiled(|result| with_event(result, refused, EventDetail::default()));
    let error = ("R20".to_owned(), Severity::Error);
    assert_eq!(
        (rules, verdict),
        (vec![error.clone(), error], Verdict::Invalid)
    );
    let done = spoiled(|result| with_event(result, EventEnding::Done, EventDetail::default()));
    assert_eq!(done, (vec![], Verdict::Effect));
}

#[test]
fn r20_files_off_the_drive_are_another_devices_time() {
    let elsewhere = |bytes| {
        spoiled(|result| {
            let detail = EventDetail {
                temporary: Some(TemporaryFiles {
                    peak_bytes: 0,
                    off_drive_peak_bytes: Some(bytes),
                    off_drive: vec!["/var/tmp".to_owned()],
                }),
                ..EventDetail::default()
            };
            with_event(result, EventEnding::Done, detail);
        })
    };
    assert_eq!(elsewhere(2 << 20), warned("R20"));
    assert_eq!(elsewhere(1 << 19), (vec![], Verdict::Effect));
}

#[test]
fn r22_a_run_that_is_not_back_at_its_old_speed_is_too_short() {
    let after = |transactions: u64| {
        spoiled(|result| {
            let detail = EventDetail {
                restart: Some(ServerRestart {
                    stop_s: 0.1,
                    start_s: Some(1.0),
                }),
                ..EventDetail::default()
            };
            with_event(result, EventEnding::Done, detail);
            let first = &mut result.runs[0];
            first.intervals = (1..=20)
                .map(|second| IntervalRecord {
                    time_s: f64::from(second),
                    length_s: 1.0,
                    queries: 1_000,
                    transactions: if second <= 5 { 100 } else { transactions },
                    latency_us_p99: 10.0,
                    ..IntervalRecord::default()
                })
                .collect();
        })
    };
    assert_eq!(after(60), warned("R22"));
    assert_eq!(after(98), (vec![], Verdict::Effect));
}

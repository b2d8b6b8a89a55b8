//! Studies that end once levels are surely equal, or surely differ by more.

use weir_model::{FingerprintRecord, ReplayRecord};

use super::*;
use crate::RunKinds;

const UNTIL_EQUAL: &str = "until = \"equal +-5 %\"";

/// Drive b is a fifth faster, c is as fast as a: both are done after few blocks, with a verdict each.
#[test]
fn equal_levels_and_different_ones_end_the_repetitions() {
    let mut plan = plan(&format!("{TWO_DRIVES}{UNTIL_EQUAL}"));
    let mut noise = noise(7);
    let records = run(&mut plan, |cell| {
        let is_faster = cell.spec.drive_name().as_deref() == Some("b");
        let rate = if is_faster { 120.0 } else { 100.0 };
        (rate * noise(0.01), 1.0)
    });
    let runs = |cell| records.iter().filter(|record| record.cell == cell).count();
    assert_eq!(runs(1), 3);
    assert!((3..=6).contains(&runs(2)), "{}", runs(2));
    let judged = crate::evaluate(result(plan, &records)).unwrap();
    let verdicts: Vec<_> = judged.comparisons.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Effect, Verdict::Equal]);
    let is_widened = |one: &weir_model::Comparison| one.method == Method::PairedTAtVerdict;
    assert!(judged.comparisons.iter().all(is_widened));
    let open = judged
        .findings
        .iter()
        .filter(|found| found.message.contains("it is open"));
    assert_eq!(open.count(), 0);
}

/// A sure difference of 2 % is within the margin: the study asked for that, so equality is its answer.
#[test]
fn a_small_difference_is_equal_where_that_was_the_question() {
    let verdict = |until: &str| {
        let mut plan = plan(&format!(
            "[factors]\ndrive = [\"a\", \"b\"]\n[repeat]\nseed = 3\n{until}"
        ));
        let mut noise = noise(9);
        let records = run(&mut plan, |cell| {
            let is_faster = cell.spec.drive_name().as_deref() == Some("b");
            (if is_faster { 102.0 } else { 100.0 } * noise(0.001), 1.0)
        });
        let judged = crate::evaluate(result(plan, &records)).unwrap();
        assert!(judged.comparisons[0].equality.unwrap().is_shown());
        judged.comparisons[0].verdict
    };
    assert_eq!(verdict(UNTIL_EQUAL), Verdict::Equal);
    assert_eq!(verdict("runs = 5"), Verdict::Effect);
}

/// Noise of 20 % answers nothing in ten blocks, and the report says so.
#[test]
fn what_stays_open_is_told() {
    let mut plan = plan(&format!("{TWO_DRIVES}{UNTIL_EQUAL}"));
    let mut noise = noise(8);
    let records = run(&mut plan, |_| (100.0 * noise(0.2), 1.0));
    assert_eq!(records.len(), 30);
    let judged = crate::evaluate(result(plan, &records)).unwrap();
    assert!(
        judged
            .comparisons
            .iter()
            .all(|one| one.verdict == Verdict::Inconclusive)
    );
    assert!(
        judged.comparisons[0]
            .equality
            .unwrap()
            .repetitions_needed
            .unwrap()
            > 10
    );
    let mut said = judged
        .findings
        .iter()
        .map(|finding| finding.message.as_str());
    assert!(
        said.any(|said| said.starts_with("after 10 repetitions it is open for 2 effects")),
        "{:?}",
        judged.findings
    );
}

/// Runs of a replay: of three kinds one takes a fifth longer on the level, one the same, and one has noise of `noisy`.
fn replayed(noisy: f64) -> Vec<RunRecord> {
    let plan = plan(&format!(
        "[factors]\ndrive = [\"a\", \"b\"]\n[repeat]\nseed = 3\n{UNTIL_EQUAL}"
    ));
    let mut noise = noise(10);
    let (mut records, mut kinds) = (Vec::new(), Vec::new());
    while let Next::Run(planned) = next(&plan, &records, &kinds, &[]).unwrap() {
        let serves = MadeUpRun {
            queries_per_s: 100.0 * noise(0.001),
            latency_us_p99: 1.0,
            server_cpu_us_per_query: 40.0,
        };
        let record = record(planned.cell, planned.repetition, serves);
        let slower = if planned.cell == 1 { 1.2 } else { 1.0 };
        let times = [slower * noise(0.005), noise(0.005), noise(noisy)];
        let fingerprints = times.iter().zip(["slower", "equal", "noisy"]);
        let fingerprints = fingerprints.map(|(time, name)| FingerprintRecord {
            fingerprint: name.to_owned(),
            sent: 100,
            latency: Some(LatencySummary {
                us_mean: 1_000.0 * time,
                ..LatencySummary::default()
            }),
            ..FingerprintRecord::default()
        });
        let replay = ReplayRecord {
            fingerprints: fingerprints.collect(),
            ..ReplayRecord::default()
        };
        kinds.push(RunKinds::new(&record, &replay));
        records.push(record);
    }
    records
}

/// The rate of a replay is that of its capture, so a replay goes on until its statements have an answer.
#[test]
fn a_replay_repeats_until_its_statements_have_an_answer() {
    let quiet = replayed(0.005).len();
    let noisy = replayed(0.3).len();
    assert!(quiet <= 10, "{quiet} runs");
    assert_eq!(noisy, 20);
}

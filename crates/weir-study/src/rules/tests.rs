//! Every rule has a result that breaks it and one that does not.

use std::collections::BTreeMap;

use weir_model::{
    Analysis, Cell, DataPlan, DistributionName, DriveProfile, DriveStatistics, Duration, Flavor,
    IntervalRecord, LatencySummary, Limiter, LoadSettings, Plan, PlannedRun, Provenance, RunRecord,
    RunResult, Scale, ServerSettings, Severity, StudyResult, Utilization, Verdict, WorkloadName,
};

use crate::evaluate;

const DRIVE: &str = r#"
    title = "D"
    capacity = "1G"
    read = { latency_us = 90, iops_max = 1000, bandwidth_mb_per_s = 100 }
    flush = { latency_us = 20 }
    atomicity = { unit = "ATOMIC" }
    [write]
    latency_us = 20
    iops_max = 1000
    bandwidth_mb_per_s = 100
    buffer = "1M"
    amplification_random = 2
    cache = "power-protected"
"#;

fn cell(doublewrite: &str) -> Cell {
    let factor = BTreeMap::from([("innodb_doublewrite".to_owned(), doublewrite.to_owned())]);
    Cell {
        levels: factor.clone(),
        drive: Some("d".into()),
        variables: factor,
        threads: 4,
        ..Cell::default()
    }
}

fn run(cell: usize, repetition: u32, queries_per_s: f64) -> RunResult {
    let interval = |time_s| IntervalRecord {
        time_s,
        length_s: 1.0,
        queries: queries_per_s as u64,
        ..IntervalRecord::default()
    };
    let doublewrite = ["ON", "OFF"][cell];
    RunResult {
        record: RunRecord {
            cell,
            repetition,
            started_at: String::new(),
            measured_s: 300.0,
            queries_per_s,
            transactions_per_s: queries_per_s / 6.0,
            latency: LatencySummary::default(),
            errors: 0,
            unfinished: 0,
            utilization: Utilization::default(),
            limiter: Limiter::DriveWrite,
            approach: weir_model::Approach::default(),
        },
        intervals: (1..=10).map(f64::from).map(interval).collect(),
        samples: vec![],
        variables: [
            ("innodb_doublewrite", doublewrite),
            ("innodb_page_size", "16384"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        variables_changed: BTreeMap::new(),
        drive: Some(DriveStatistics::default()),
        commands: vec![],
        histogram: vec![],
    }
}

/// Three pairs, 1.5x, on a drive that does not tear pages: no rule has anything to say.
fn fair() -> StudyResult {
    let cells = vec![cell("ON"), cell("OFF")];
    let runs = (1..=3).flat_map(|repetition| {
        let drift = 1.0 + 0.01 * f64::from(repetition);
        [
            run(0, repetition, 1000.0 * drift),
            run(1, repetition, 1500.0 * drift * drift),
        ]
    });
    StudyResult {
        plan: Plan {
            title: String::new(),
            question: String::new(),
            seed: 1,
            server: ServerSettings {
                flavor: Flavor::Mysql,
                version: None,
                binary: None,
                variables: BTreeMap::new(),
            },
            data: DataPlan {
                workload: WorkloadName::OltpWriteOnly,
                tables: 1,
                rows: 1,
                data_scale: Scale::FULL,
                drive_scale: Scale::FULL,
            },
            load: LoadSettings {
                warmup: Duration::from_secs(10),
                measure: Duration::from_secs(300),
                distribution: DistributionName::Uniform,
                ..LoadSettings::default()
            },
            factors: Vec::new(),
            repeat: weir_model::Repetition::default(),
            search: None,
            cells,
            runs: vec![PlannedRun {
                cell: 0,
                repetition: 1,
            }],
            claims: vec![],
            negative_controls: vec![],
            prices: BTreeMap::new(),
        },
        started_at: String::new(),
        weir_version: String::new(),
        flavor: Flavor::Mysql,
        server_version: "9.7.4".parse().unwrap(),
        host: BTreeMap::new(),
        drives: vec![DriveProfile::parse("d", &DRIVE.replace("ATOMIC", "16K")).unwrap()],
        data_bytes: 0,
        runs: runs.collect(),
        comparisons: vec![],
        analysis: Analysis::default(),
        findings: vec![],
        searches: vec![],
        provenance: Provenance::default(),
    }
}

/// The rules that speak on a fair result after `spoil`, with the comparison's verdict.
fn spoiled(spoil: impl FnOnce(&mut StudyResult)) -> (Vec<(String, Severity)>, Verdict) {
    let mut result = fair();
    spoil(&mut result);
    let result = evaluate(result).unwrap();
    let [comparison] = result.comparisons.as_slice() else {
        panic!("one comparison expected")
    };
    let findings = comparison.findings.iter().chain(&result.findings);
    let rules = findings
        .map(|finding| (finding.rule.clone(), finding.severity))
        .collect();
    (rules, comparison.verdict)
}

fn warned(rule: &str) -> (Vec<(String, Severity)>, Verdict) {
    (vec![(rule.to_owned(), Severity::Warning)], Verdict::Effect)
}

fn invalid(rule: &str) -> (Vec<(String, Severity)>, Verdict) {
    (vec![(rule.to_owned(), Severity::Error)], Verdict::Invalid)
}

#[test]
fn a_fair_comparison_stands() {
    let result = evaluate(fair()).unwrap();
    let comparison = &result.comparisons[0];
    assert_eq!(comparison.findings, []);
    assert_eq!(result.findings, []);
    assert_eq!(comparison.verdict, Verdict::Effect);
    assert_eq!(
        (comparison.baseline.as_str(), comparison.level.as_str()),
        ("ON", "OFF")
    );
    assert!(
        (1.52..1.54).contains(&comparison.ratio),
        "{}",
        comparison.ratio
    );
}

#[test]
fn an_interval_that_holds_one_is_inconclusive() {
    let (_, verdict) = spoiled(|result| {
        for (run, queries_per_s) in result
            .runs
            .iter_mut()
            .zip([10.0, 9.0, 10.0, 11.0, 10.0, 15.0])
        {
            run.record.queries_per_s = queries_per_s;
        }
    });
    assert_eq!(verdict, Verdict::Inconclusive);
}

#[test]
fn r1_an_undeclared_difference_is_an_error_and_a_socket_is_none() {
    let set = |name: &'static str| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                run.variables
                    .insert(name.into(), run.record.cell.to_string());
            }
        }
    };
    assert_eq!(spoiled(set("innodb_io_capacity")), invalid("R1"));
    assert_eq!(spoiled(set("socket")), (vec![], Verdict::Effect));
}

#[test]
fn r3_doublewrite_off_on_a_drive_that_tears_pages_is_unsafe() {
    let torn = |result: &mut StudyResult| {
        result.drives = vec![DriveProfile::parse("d", &DRIVE.replace("ATOMIC", "512")).unwrap()];
    };
    assert_eq!(spoiled(torn), warned("R3"));
    let unknown = |result: &mut StudyResult| {
        result
            .plan
            .cells
            .iter_mut()
            .for_each(|cell| cell.drive = None);
    };
    assert_eq!(spoiled(unknown), warned("R3"));
}

#[test]
fn r4_two_pairs_are_too_few_and_a_small_effect_wants_five() {
    let (rules, verdict) = spoiled(|result| result.runs.truncate(4));
    assert_eq!((rules, verdict), invalid("R4"));
    let design = |repetition| -> Vec<String> {
        let mut plan = fair().plan;
        plan.runs = vec![PlannedRun {
            cell: 0,
            repetition,
        }];
        super::findings_of_design(&plan)
            .iter()
            .map(|finding| finding.rule.clone())
            .collect()
    };
    assert_eq!(design(2), ["R4".to_owned()].to_vec());
    assert_eq!(design(3), Vec::<String>::new());
    let small = |result: &mut StudyResult| {
        for run in &mut result.runs {
            run.record.queries_per_s = if run.record.cell == 0 { 1000.0 } else { 1100.0 }
                + f64::from(run.record.repetition % 2);
        }
    };
    assert_eq!(spoiled(small), warned("R4"));
}

#[test]
fn r6_short_or_unsteady_runs_are_named() {
    let short = |result: &mut StudyResult| result.plan.load.measure = Duration::from_secs(10);
    assert_eq!(spoiled(short), warned("R6"));
    let ramp = |result: &mut StudyResult| {
        for (second, interval) in result.runs[0].intervals.iter_mut().enumerate() {
            interval.queries = 700 + 60 * second as u64;
        }
    };
    assert_eq!(spoiled(ramp), warned("R6"));
}

#[test]
fn r4_a_trend_over_the_order_of_runs_is_named() {
    let drifting = |result: &mut StudyResult| {
        for (position, run) in result.runs.iter_mut().enumerate() {
            let level = if run.record.cell == 0 { 1000.0 } else { 1500.0 };
            run.record.queries_per_s = level * 0.98_f64.powf(position as f64);
        }
    };
    let (rules, _) = spoiled(drifting);
    assert_eq!(rules, [("R4".to_owned(), Severity::Warning)]);
}

#[test]
fn r7_stalls_behind_a_mean_are_named() {
    let stalled = |result: &mut StudyResult| {
        for run in &mut result.runs {
            run.intervals[4].queries = 10;
        }
    };
    let (rules, _) = spoiled(stalled);
    assert!(
        rules.contains(&("R7".to_owned(), Severity::Warning)),
        "{rules:?}"
    );
}

#[test]
fn r14_a_busy_client_is_named_and_a_saturated_one_forbids() {
    let busy = |result: &mut StudyResult| result.runs[0].record.utilization.client_cpu = 0.8;
    assert_eq!(spoiled(busy), warned("R14"));
    let saturated = |result: &mut StudyResult| result.runs[0].record.limiter = Limiter::Client;
    assert_eq!(spoiled(saturated), invalid("R14"));
}

#[test]
fn r16_many_failed_transactions_forbid() {
    let failing = |result: &mut StudyResult| result.runs[0].record.errors = 10_000;
    assert_eq!(spoiled(failing), invalid("R16"));
    let stalled = |result: &mut StudyResult| result.runs[0].record.unfinished = 1;
    assert_eq!(spoiled(stalled), warned("R16"));
    let few = |result: &mut StudyResult| result.runs[0].record.errors = 10;
    assert_eq!(spoiled(few), (vec![], Verdict::Effect));
}

#[test]
fn a_late_drive_is_named() {
    let late = |result: &mut StudyResult| {
        let drive = result.runs[0].drive.as_mut().unwrap();
        drive.late_share = 0.2;
    };
    assert_eq!(spoiled(late), warned("drive"));
}

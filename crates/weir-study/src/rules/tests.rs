//! Every rule has a design or a result that breaks it and one that does not.
//!
//! Designs are study files in `fixtures/rules`, each named after the rule that it breaks; results
//! are made here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use weir_model::{
    Analysis, Cell, Claim, CrashTest, DataPlan, DistributionName, DriveProfile,
    Duration, FileKind, FileKindStatistics, Flavor, IntervalRecord, LatencySummary, Limiter,
    LoadSettings, NegativeControl, Plan, PlannedRun, Provenance, RunRecord, RunResult, Scale,
    ServerSettings, Severity, StudyResult, Utilization, Verdict, WorkloadName,
};

use super::{RULES, findings_of_design, rules_as_markdown};
use crate::{Overrides, StudyFile, evaluate, resolve};

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
        series: vec![],
        gaps: vec![],
        variables: Arc::new(
            [
                ("innodb_doublewrite", doublewrite),
                ("innodb_page_size", "16384"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ),
        variables_changed: BTreeMap::new(),
        drive: Some(Arc::default()),
        commands: vec![],
        server_log: String::new(),
        histogram: vec![1],
    }
}

/// Another throughput of the same transactions.
fn set_throughput(run: &mut RunResult, queries_per_s: f64) {
    run.record.queries_per_s = queries_per_s;
    run.record.transactions_per_s = queries_per_s / 6.0;
}

/// Three pairs, 1.5x, on a drive that does not tear pages: no rule has anything to say.
pub(crate) fn fair() -> StudyResult {
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
                given: None,
                deployment: weir_model::Deployment::default(),
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
                measure: Duration::from_secs(1800),
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
            crash_tests: vec![CrashTest {
                drive: "d".into(),
                states: 1000,
                lost: 0,
                source: "made up".into(),
            }],
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
        provenance: Provenance {
            study_file: "[study]".into(),
            weir_commit: "abc".into(),
            command: vec![],
        },
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
            set_throughput(run, queries_per_s);
        }
    });
    assert_eq!(verdict, Verdict::Inconclusive);
}

#[test]
fn r1_an_undeclared_difference_is_an_error_and_a_socket_is_none() {
    let set = |name: &'static str| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                let cell = run.record.cell.to_string();
                Arc::make_mut(&mut run.variables).insert(name.into(), cell);
            }
        }
    };
    assert_eq!(spoiled(set("innodb_io_capacity")), invalid("R1"));
    assert_eq!(spoiled(set("socket")), (vec![], Verdict::Effect));
}

#[test]
fn r1_two_programs_have_their_own_names_for_the_redo_log() {
    let of_mariadb = |file_size: &'static str| {
        move |result: &mut StudyResult| {
            let set = &mut result.plan.server.variables;
            set.insert("innodb_redo_log_capacity".into(), "64M".into());
            let mut server = result.plan.server_of(&result.plan.cells[1]);
            server.flavor = Flavor::Mariadb;
            result.plan.cells[1].server = Some(server);
            for run in &mut result.runs {
                let (name, size) = match run.record.cell {
                    0 => ("innodb_redo_log_capacity", "67108864"),
                    _ => ("innodb_log_file_size", file_size),
                };
                Arc::make_mut(&mut run.variables).insert(name.into(), size.into());
            }
        }
    };
    assert_eq!(spoiled(of_mariadb("67108864")), (vec![], Verdict::Effect));
    assert_eq!(spoiled(of_mariadb("33554432")), invalid("R1"));
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
    let small = |result: &mut StudyResult| {
        for run in &mut result.runs {
            set_throughput(
                run,
                if run.record.cell == 0 { 1000.0 } else { 1100.0 }
                    + f64::from(run.record.repetition % 2),
            );
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
fn r6_a_redo_log_or_a_pool_that_did_not_turn_is_named() {
    let counting = |written: f64, pages: f64| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                for (name, size) in [
                    ("redo_log_capacity", "1000"),
                    ("buffer_pool_size", "163840"),
                ] {
                    let name = format!("innodb_{name}");
                    Arc::make_mut(&mut run.variables).insert(name, size.to_owned());
                }
                let counters = [("redo_written_bytes", written), ("pool_reads", pages)];
                let series = counters.map(|(name, value)| weir_model::Series {
                    metric: format!("status.{name}"),
                    times_s: vec![-10.0, 1800.0],
                    values: vec![7.0, 7.0 + value],
                    ..weir_model::Series::default()
                });
                run.series = series.to_vec();
            }
        }
    };
    assert_eq!(spoiled(counting(2000.0, 30.0)), (vec![], Verdict::Effect));
    assert_eq!(spoiled(counting(900.0, 30.0)), warned("R6"));
    assert_eq!(spoiled(counting(2000.0, 29.0)), warned("R6"));
    // Read only, and cached.
    assert_eq!(spoiled(counting(0.0, 0.0)), (vec![], Verdict::Effect));
}

#[test]
fn r4_a_trend_over_the_order_of_runs_is_named() {
    let drifting = |result: &mut StudyResult| {
        for (position, run) in result.runs.iter_mut().enumerate() {
            let level = if run.record.cell == 0 { 1000.0 } else { 1500.0 };
            set_throughput(run, level * 0.98_f64.powf(position as f64));
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
    let saturated = |result: &mut StudyResult| result.runs[0].record.limiter = Limiter::ClientCpu;
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
fn a_late_drive_is_named_and_a_slower_one_forbids() {
    let late = |result: &mut StudyResult| {
        let drive = Arc::make_mut(result.runs[0].drive.as_mut().unwrap());
        drive.late_share = 0.2;
    };
    assert_eq!(spoiled(late), warned("drive"));
    let early = |result: &mut StudyResult| {
        Arc::make_mut(result.runs[0].drive.as_mut().unwrap()).early_share = 0.2;
    };
    assert_eq!(spoiled(early), warned("drive"));
    let slower = |result: &mut StudyResult| {
        let drive = Arc::make_mut(result.runs[0].drive.as_mut().unwrap());
        let modelled_s = 10.0;
        drive.by_kind = [(
            FileKind::Data,
            FileKindStatistics {
                read_latency_s: modelled_s,
                ..FileKindStatistics::default()
            },
        )]
        .into();
        drive.lateness_s = 0.11 * modelled_s;
    };
    assert_eq!(spoiled(slower), invalid("drive"));
}

/// The rules that speak on the study file at `path`, before it runs.
pub(super) fn of_design(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let file = StudyFile::parse("study.toml", &text).unwrap();
    let plan = resolve("study.toml", &file, &Overrides::default(), &|_| {
        Ok(Flavor::Mysql)
    });
    let findings = findings_of_design(&plan.unwrap());
    findings.into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn study_files_break_the_rule_that_they_are_named_after_and_fair_ones_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rules");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (wanted, _) = name.split_once('-').unwrap_or((name, ""));
        let rules = of_design(&path);
        if wanted == "fair" {
            assert_eq!(rules, Vec::<String>::new(), "{name}");
        } else {
            assert!(rules.iter().any(|rule| rule == wanted), "{name}: {rules:?}");
        }
        seen += 1;
    }
    assert!(seen > 12, "{seen}");
}

#[test]
fn r1_levels_that_move_several_settings_together_are_told() {
    let mut plan = fair().plan;
    plan.cells[1].threads = 99;
    let findings = findings_of_design(&plan);
    let told = |rule: &str| findings.iter().find(|finding| finding.rule == rule);
    let message = &told("R1").unwrap().message;
    assert!(message.contains("innodb_doublewrite, threads"), "{message}");
}

#[test]
fn r2_durability_that_changed_under_a_run_forbids_its_verdict() {
    let changed = |name: &'static str| {
        move |result: &mut StudyResult| {
            let changed = &mut result.runs[1].variables_changed;
            changed.insert(name.to_owned(), "2".to_owned());
        }
    };
    let (rules, verdict) = spoiled(changed("innodb_flush_log_at_trx_commit"));
    assert!(
        rules.contains(&("R2".to_owned(), Severity::Error)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Invalid);
    let (rules, _) = spoiled(changed("innodb_io_capacity"));
    assert!(!rules.iter().any(|(rule, _)| rule == "R2"), "{rules:?}");
}

#[test]
fn r2_unequal_durability_forbids_a_ranking_but_its_price_may_be_asked() {
    let lazy = |result: &mut StudyResult| {
        for run in &mut result.runs {
            let value = if run.record.cell == 0 { "1" } else { "2" };
            let name = "innodb_flush_log_at_trx_commit".to_owned();
            Arc::make_mut(&mut run.variables).insert(name, value.to_owned());
        }
    };
    // What differs and is not declared also breaks R1.
    let (rules, verdict) = spoiled(lazy);
    assert!(
        rules.contains(&("R2".to_owned(), Severity::Warning)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Invalid);
    let ranked = |result: &mut StudyResult| {
        lazy(result);
        // The factor is a number of connections, and durability differs beside it.
        for (index, cell) in result.plan.cells.iter_mut().enumerate() {
            cell.variables.clear();
            cell.threads = 4 + index as u32;
        }
    };
    let (rules, _) = spoiled(ranked);
    assert!(
        rules.contains(&("R2".to_owned(), Severity::Error)),
        "{rules:?}"
    );
}

#[test]
fn r3_a_promise_without_a_power_cut_is_told_once() {
    let untested = |result: &mut StudyResult| result.plan.crash_tests.clear();
    assert_eq!(spoiled(untested), warned("R3"));
    let lost = |result: &mut StudyResult| result.plan.crash_tests[0].lost = 1;
    assert_eq!(spoiled(lost), warned("R3"));
}

#[test]
fn r5_an_effect_inside_the_noise_is_inconclusive() {
    // Pairs agree to a per mille, but the pairs themselves are 20 % apart.
    let noisy = |result: &mut StudyResult| {
        for run in &mut result.runs {
            let drift = [1.0, 0.8, 1.2, 1.0][run.record.repetition as usize];
            let level = if run.record.cell == 0 { 1000.0 } else { 1080.0 };
            let unlike = 1.0 + 0.001 * f64::from(run.record.repetition) * run.record.cell as f64;
            set_throughput(run, level * drift * unlike);
        }
    };
    let (rules, verdict) = spoiled(noisy);
    assert!(
        rules.contains(&("R5".to_owned(), Severity::Warning)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Inconclusive);
}

/// The study at a second number of connections, where the throughput of doublewrite OFF is
/// `other` times that of ON.
fn with_another_context(result: &mut StudyResult, other: f64) {
    for index in 0..2 {
        let mut cell = result.plan.cells[index].clone();
        result.plan.cells[index]
            .levels
            .insert("threads".into(), "4".into());
        cell.levels.insert("threads".into(), "8".into());
        cell.threads = 8;
        result.plan.cells.push(cell);
    }
    for mut run in result.runs.clone() {
        if run.record.cell == 1 {
            let queries_per_s = run.record.queries_per_s * other / 1.5;
            set_throughput(&mut run, queries_per_s);
        }
        run.record.cell += 2;
        result.runs.push(run);
    }
}

#[test]
fn r5_an_effect_must_be_larger_than_its_negative_control() {
    let verdicts = |control: bool| {
        let mut result = fair();
        with_another_context(&mut result, 1.8);
        if control {
            result.plan.negative_controls = vec![NegativeControl {
                factor: "innodb_doublewrite".into(),
                at: BTreeMap::from([("threads".to_owned(), "8".to_owned())]),
            }];
        }
        let result = evaluate(result).unwrap();
        let of_factor = |comparison: &&weir_model::Comparison| {
            comparison.factor == "innodb_doublewrite" && !comparison.negative_control
        };
        let comparisons = result.comparisons.iter().filter(of_factor);
        comparisons.map(|found| found.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(false), [Verdict::Effect, Verdict::Effect]);
    assert_eq!(verdicts(true), [Verdict::Inconclusive]);
}

#[test]
fn r8_a_latency_that_contradicts_throughput_is_named() {
    let contradicting = |factor: f64| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                let fair_us = 4.0 / run.record.transactions_per_s * 1e6;
                run.record.latency.us_mean = fair_us * factor;
            }
        }
    };
    assert_eq!(spoiled(contradicting(0.8)), warned("R8"));
    assert_eq!(spoiled(contradicting(1.02)), (vec![], Verdict::Effect));
}

#[test]
fn r9_other_queries_have_no_ratio() {
    let fewer = |result: &mut StudyResult| {
        for run in result.runs.iter_mut().filter(|run| run.record.cell == 1) {
            run.record.transactions_per_s /= 2.0;
        }
    };
    assert_eq!(spoiled(fewer), invalid("R9"));
    // Half of the 300,000 queries belong to transactions that were under way at the ends.
    let under_way = |result: &mut StudyResult| {
        fewer(result);
        for cell in &mut result.plan.cells {
            cell.threads = 40_000;
        }
    };
    assert_eq!(spoiled(under_way), (vec![], Verdict::Effect));
}

#[test]
fn r10_data_of_another_size_than_their_rows_are_named() {
    let sized = |bytes_per_row: u64| {
        move |result: &mut StudyResult| {
            result.plan.data.rows = 10_000_000;
            result.data_bytes = result.plan.data.rows * bytes_per_row;
        }
    };
    assert_eq!(spoiled(sized(25)), warned("R10"));
    assert_eq!(spoiled(sized(230)), (vec![], Verdict::Effect));
    let with_text = |result: &mut StudyResult| {
        sized(450)(result);
        result.plan.data.workload = WorkloadName::OltpTextReadWrite;
    };
    assert_eq!(spoiled(with_text), (vec![], Verdict::Effect));
}

#[test]
fn r13_a_claim_about_two_changes_needs_each_alone() {
    let together = |result: &mut StudyResult| {
        result.plan.cells[1].threads = 8;
        result.plan.claims = vec![Claim {
            says: "innodb_doublewrite OFF with more connections".into(),
            value: 1.93,
            ..Claim::default()
        }];
    };
    assert_eq!(spoiled(together).1, Verdict::Invalid);
    let rules = spoiled(together).0;
    assert!(
        rules.contains(&("R13".to_owned(), Severity::Error)),
        "{rules:?}"
    );
    let unclaimed = |result: &mut StudyResult| {
        together(result);
        result.plan.claims.clear();
    };
    assert_eq!(spoiled(unclaimed), (vec![], Verdict::Effect));
}

#[test]
fn r16_a_run_that_completed_nothing_forbids() {
    let nothing = |result: &mut StudyResult| result.runs[1].record.queries_per_s = 0.0;
    let (rules, verdict) = spoiled(nothing);
    assert!(
        rules.contains(&("R16".to_owned(), Severity::Error)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Invalid);
}

#[test]
fn r18_a_result_without_seconds_cannot_be_checked() {
    let means_only = |result: &mut StudyResult| result.runs[0].intervals.clear();
    assert_eq!(spoiled(means_only), warned("R18"));
}

#[test]
fn the_document_is_what_the_rules_say() {
    const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md");
    if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
        std::fs::write(DOCUMENT, rules_as_markdown()).unwrap();
    }
    let kept = std::fs::read_to_string(DOCUMENT).unwrap_or_default();
    assert!(
        kept == rules_as_markdown(),
        "docs/rules.md is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo test -p weir-study`"
    );
}

#[test]
fn every_rule_says_why_and_what_to_do_in_order() {
    let ids: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
    let numbered: Vec<_> = (1..=19).map(|number| format!("R{number}")).collect();
    assert_eq!(ids[..19], numbered);
    for rule in RULES {
        for text in [
            rule.title,
            rule.checked,
            rule.reason,
            rule.remedy,
            rule.reference,
        ] {
            assert!(
                text.len() > 10 && !text.contains("  "),
                "{}: {text}",
                rule.id
            );
        }
    }
}

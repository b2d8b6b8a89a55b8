//! Every rule has a design or a result that breaks it and one that does not.
//!
//! Designs are study files in `fixtures/rules`, each named after the rule that it breaks; results
//! are made here.

mod asked;
mod events;
mod fairness;
mod hosts;
mod measurement;
mod spellings;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use weir_model::{
    Bottleneck, Bytes, Cell, Claim, CrashTest, DataSource, Distribution, DriveProfile, DriveSpec,
    DriveStatistics, Duration, FileKind, FileKindStatistics, Finding, Flavor, IntervalRecord,
    LoadSpec, Mix, NegativeControl, OtherProcess, Plan, PlannedRun, Provenance, RuleId, RunRecord,
    RunResult, RunSpec, Severity, StudyResult, SysbenchWorkload, Utilization, Verdict, Warmup,
    WorkloadName, WorkloadSpec,
};

use super::{RULES, Rule, findings_of_design, rules_as_markdown};
use weir_study::{drive_profiles, plan_from_text};

use crate::{SettingsPreview, evaluate};

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

/// Returns the findings on a plan of which no server was asked.
fn findings_before(plan: &Plan) -> Vec<Finding> {
    findings_of_design(plan, &drive_profiles(plan), &SettingsPreview::NOTHING)
}

fn cell(doublewrite: &str) -> Cell {
    let factor = BTreeMap::from([("innodb_doublewrite".to_owned(), doublewrite.to_owned())]);
    let mut spec = RunSpec {
        workload: WorkloadSpec::Sysbench(SysbenchWorkload {
            shares: WorkloadName::OltpWriteOnly.into(),
            mix: Mix::default(),
            distribution: Distribution::Uniform,
            text_file: None,
        }),
        load: LoadSpec {
            connections: 4,
            warmup: Warmup::Fixed {
                length: Duration::from_secs(10),
            },
            measure: Duration::from_secs(1800),
            ..LoadSpec::default()
        },
        seed: 1,
        ..RunSpec::default()
    };
    spec.data.source = DataSource::Sysbench { tables: 1, rows: 1 };
    let primary = spec.primary_mut();
    primary.variables = factor.clone();
    primary.drive = Some(DriveSpec {
        profile: "d".into(),
        settings: BTreeMap::new(),
    });
    Cell {
        levels: factor,
        spec: Arc::new(spec),
        probe: None,
        screened: None,
    }
}

/// Changes the runs of all cells.
pub(crate) fn change_all(result: &mut StudyResult, change: impl Fn(&mut RunSpec)) {
    for cell in &mut result.plan.cells {
        change(cell.spec_mut());
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
            measured_s: 300.0,
            queries_per_s,
            transactions_per_s: queries_per_s / 6.0,
            bottleneck: Bottleneck::DriveWrite,
            ..RunRecord::default()
        },
        intervals: (1..=10).map(f64::from).map(interval).collect(),
        variables: Arc::new(
            [
                ("innodb_doublewrite", doublewrite),
                ("innodb_page_size", "16384"),
                ("version", "9.7.4"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ),
        drive: Some(Arc::default()),
        histogram: vec![1],
        ..RunResult::default()
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
    let plan = Plan {
        seed: 1,
        cells,
        runs: vec![PlannedRun {
            cell: 0,
            repetition: 1,
        }],
        crash_tests: vec![CrashTest {
            drive: "d".into(),
            server: Some("mysql 9.7.4".into()),
            page: Some(Bytes(16_384)),
            flush_method: Some("O_DIRECT".into()),
            atomic: Some(Bytes(16_384)),
            states: 1000,
            lost: 0,
            source: "made up".into(),
        }],
        ..Plan::default()
    };
    StudyResult {
        drives: vec![DriveProfile::parse("d", &DRIVE.replace("ATOMIC", "16K")).unwrap()],
        runs: runs.collect(),
        provenance: Provenance {
            study_file: "[study]".into(),
            weir_commit: "abc".into(),
            command: vec![],
        },
        ..StudyResult::new(plan, Flavor::Mysql, "9.7.4".parse().unwrap())
    }
}

/// Returns true for the findings on every study without doublewrite, also a fair one: its drive was an emulated one.
fn is_said_of_emulations(finding: &Finding) -> bool {
    finding.rule == RuleId::R3
        && finding
            .message
            .starts_with("the crash test cut an emulated drive")
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
        .filter(|finding| !is_said_of_emulations(finding))
        .map(|finding| (finding.rule.to_string(), finding.severity))
        .collect();
    (rules, comparison.verdict)
}

fn warned(rule: &str) -> (Vec<(String, Severity)>, Verdict) {
    (vec![(rule.to_owned(), Severity::Warning)], Verdict::Effect)
}

fn noted(rule: &str) -> (Vec<(String, Severity)>, Verdict) {
    (vec![(rule.to_owned(), Severity::Note)], Verdict::Effect)
}

fn invalid(rule: &str) -> (Vec<(String, Severity)>, Verdict) {
    (vec![(rule.to_owned(), Severity::Error)], Verdict::Invalid)
}

#[test]
fn a_fair_comparison_stands() {
    let result = evaluate(fair()).unwrap();
    let comparison = &result.comparisons[0];
    assert_eq!(comparison.findings, []);
    assert!(result.findings.iter().all(is_said_of_emulations));
    assert_eq!(result.findings.len(), 1);
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

/// The rules that speak on the study file at `path`, before it runs.
pub(super) fn of_design(path: &Path) -> Vec<String> {
    of_text(&std::fs::read_to_string(path).unwrap())
}

/// The rules that speak on a study, before it runs.
fn of_text(text: &str) -> Vec<String> {
    let findings = findings_before(&plan(text));
    findings
        .into_iter()
        .map(|finding| finding.rule.to_string())
        .collect()
}

fn plan(text: &str) -> Plan {
    plan_from_text(text, Flavor::Mysql).unwrap()
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
    plan.cells[1].spec_mut().load.connections = 99;
    let findings = findings_before(&plan);
    let told = |rule: &str| {
        findings
            .iter()
            .find(|finding| finding.rule.to_string() == rule)
    };
    let message = &told("R1").unwrap().message;
    assert!(message.contains("innodb_doublewrite, threads"), "{message}");
}

#[test]
fn r1_a_server_of_another_flavor_and_version_is_told_and_of_another_version_is_not() {
    let message = |flavor, version: &str| {
        let mut plan = fair().plan;
        let unchanged = plan.cells[0].clone();
        *plan.cells[1].spec_mut() = (*unchanged.spec).clone();
        let server = &mut plan.cells[1].spec_mut().primary_mut().server;
        (server.flavor, server.version) = (flavor, Some(version.to_owned()));
        let findings = findings_before(&plan);
        let mut of_r1 = findings
            .into_iter()
            .filter(|finding| finding.rule == RuleId::R1);
        of_r1.next().map(|finding| finding.message)
    };
    let both = message(Flavor::Mariadb, "10.11").unwrap();
    assert!(
        both.contains("2 settings together (server flavor, server version)"),
        "{both}"
    );
    assert_eq!(message(Flavor::Mysql, "8.4"), None);
}

#[test]
fn every_finding_has_a_severity_that_its_rule_names() {
    // `Rule::finding` asserts it where tests run; here it is that R5 says what it does.
    assert_eq!(Rule::by_id(RuleId::R5).severity_words(), "inconclusive");
    assert_eq!(Rule::by_id(RuleId::R19).severity_words(), "error");
    assert_eq!(Rule::by_id(RuleId::R4).severity_words(), "warning or error");
    let words = Rule::by_id(RuleId::Drive).severity_words();
    assert_eq!(words, "note, warning or error");
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
        "docs/rules.md is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo test -p weir-judge`"
    );
}

#[test]
fn every_rule_says_why_and_what_to_do_in_order() {
    assert_eq!(RULES.map(|rule| rule.id), RuleId::ALL);
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

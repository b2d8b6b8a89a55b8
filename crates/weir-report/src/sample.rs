//! A made-up result for tests: plausible in shape, not measured.

mod sweep;
mod texts;

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_model::{
    Agreement, Analysis, Bottleneck, Bytes, Cell, Claim, ClaimVerdict, Comparison, DataSource,
    DataSpec, Distribution, DriveProfile, DriveSpec, DriveStatistics, Duration, FileKind,
    FileKindStatistics, Finding, Flavor, Gap, IntervalRecord, JudgedResult, LatencySummary,
    LoadSpec, Method, Metric, MetricKind, Mix, OverallEffect, Plan, PlannedRun, Provenance, Ratio,
    RuleId, RunRecord, RunResult, RunSpec, Series, ServerVersion, Severity, StackProfile,
    StudyResult, SysbenchWorkload, Utilization, Verdict, Warmup, WorkloadName, WorkloadSpec,
    metrics,
};
use weir_stats::paired_log_ratio;

pub(crate) use self::sweep::{predicted, sweep};
use self::texts::{SERVER_LOG, commands, variables};

const WARMUP_S: u32 = 20;
const MEASURE_S: u32 = 40;
const SEED: u64 = 20_260_314;
const DRIVES: [(&str, &str); 2] = [
    ("intel-p4610", "Intel SSD DC P4610 3.2 TB"),
    ("scaleflux-csd2000", "ScaleFlux CSD 2000 4 TB"),
];
/// Queries per second of the four combinations of drive and doublewrite.
const QUERIES_PER_S: [f64; 4] = [4480.0, 5890.0, 6010.0, 6120.0];

/// A study of `cells` x `repetitions`: two drives x doublewrite ON and OFF, then more connections.
pub(crate) fn study(cells: usize, repetitions: u32) -> JudgedResult {
    build(cells, repetitions, MEASURE_S)
}

/// The same with 600 server variables in each run and `measure_s` seconds of measurement.
pub(crate) fn large(cells: usize, repetitions: u32, measure_s: u32) -> JudgedResult {
    let mut result = build(cells, repetitions, measure_s);
    for run in &mut result.evidence.runs {
        let variables = (0..600).map(|n| (format!("innodb_variable_{n}"), format!("value {n}")));
        Arc::make_mut(&mut run.variables).extend(variables);
    }
    result
}

fn build(cells: usize, repetitions: u32, measure_s: u32) -> JudgedResult {
    let plan = plan(cells, repetitions, measure_s);
    let mut noise = Noise(SEED);
    let planned = plan.runs.iter();
    let runs: Vec<_> = planned
        .map(|planned| run(&plan, *planned, measure_s, &mut noise))
        .collect();
    JudgedResult {
        comparisons: comparisons(&plan, &runs),
        analysis: analysis(),
        findings: vec![Finding {
            rule: RuleId::R6,
            severity: Severity::Warning,
            message:
                "the measurement lasted 40 s (1800 s are needed to see a full turnover of the \
                      buffer pool); lengthen `measure` before quoting a number"
                    .to_owned(),
        }],
        searches: Vec::new(),
        evidence: StudyResult {
            plan,
            started_at: "2026-03-14T09:26:53Z".to_owned(),
            weir_version: "0.1.0".to_owned(),
            flavor: Flavor::Mysql,
            server_version: ServerVersion {
                major: 9,
                minor: 7,
                patch: 0,
            },
            host: strings(&[
                ("processor", "Example CPU, 2.6 GHz"),
                ("cores", "2"),
                ("memory", "7.7 GiB"),
                ("kernel", "6.1.0"),
            ]),
            drives: DRIVES
                .map(|(name, title)| drive_profile(name, title))
                .into(),
            data_bytes: 1_073_741_824,
            runs,
            provenance: Provenance::default(),
        },
    }
}

/// Returns insights that a study of two drives could have besides its comparisons.
fn analysis() -> Analysis {
    let ratio = |ratio: f64| Ratio {
        ratio,
        low: Some(ratio * 0.95),
        high: Some(ratio * 1.05),
    };
    let verdict = |drive: &str, measured: f64, agreement, why: &str| ClaimVerdict {
        claim: 0,
        context: strings(&[("drive", drive)]),
        measured: Some(ratio(measured)),
        agreement,
        why: why.to_owned(),
    };
    Analysis {
        screen: None,
        noise: Some(weir_model::Noise {
            log_deviation: 0.02,
            degrees_of_freedom: 8.0,
            identical_cells: 0,
            repetitions: 3,
            floor_ratio: 1.04,
        }),
        overall: vec![OverallEffect {
            factor: "innodb_doublewrite".to_owned(),
            baseline: "ON".to_owned(),
            level: "OFF".to_owned(),
            contexts: 2,
            invalid: 0,
            geometric_mean: 1.16,
            ratio_min: 1.02,
            ratio_max: 1.31,
        }],
        claims: vec![
            verdict(
                DRIVES[0].0,
                1.31,
                Agreement::Disagrees,
                "the effect is smaller than published",
            ),
            verdict(
                DRIVES[1].0,
                1.02,
                Agreement::CannotSay,
                "the interval holds the published number and also no effect at all",
            ),
        ],
        ..Analysis::default()
    }
}

fn strings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(own).collect()
}

fn plan(cells: usize, repetitions: u32, measure_s: u32) -> Plan {
    let planned = |repetition: u32| {
        // A fixed order that is not the order of the cells.
        (0..cells).map(move |n| PlannedRun {
            cell: (n + repetition as usize) % cells,
            repetition,
        })
    };
    Plan {
        title: "Doublewrite on two drives (synthetic example)".to_owned(),
        question: "What does innodb_doublewrite = OFF gain, on each drive?".to_owned(),
        seed: SEED,
        cells: (0..cells).map(|index| cell(index, measure_s)).collect(),
        runs: (1..=repetitions).flat_map(planned).collect(),
        claims: vec![Claim {
            source: "Alibaba Cloud, RDS MySQL write optimisation".to_owned(),
            says: "innodb_doublewrite OFF / ON in queries per second".to_owned(),
            value: 1.48,
            ..Claim::default()
        }],
        ..Plan::default()
    }
}

fn cell(index: usize, measure_s: u32) -> Cell {
    let (drive, _) = DRIVES[index / 2 % 2];
    let doublewrite = ["ON", "OFF"][index % 2];
    let threads = 32 << (index / 4).min(6);
    let mut levels = strings(&[("drive", drive), ("innodb_doublewrite", doublewrite)]);
    if index >= 4 {
        levels.insert("threads".to_owned(), threads.to_string());
    }
    let mut spec = spec(drive, threads);
    spec.load.measure = Duration::from_secs(measure_s.into());
    let variables = &mut spec.primary_mut().variables;
    variables.extend(strings(&[
        ("innodb_buffer_pool_size", "128M"),
        ("innodb_doublewrite", doublewrite),
    ]));
    Cell {
        levels,
        spec: Arc::new(spec),
        probe: None,
        screened: None,
    }
}

/// Returns the description that the cells of all samples have in common.
fn spec(drive: &str, connections: u32) -> RunSpec {
    let mut spec = RunSpec {
        workload: WorkloadSpec::Sysbench(SysbenchWorkload {
            shares: WorkloadName::OltpWriteOnly.into(),
            mix: Mix::default(),
            distribution: Distribution::Uniform,
            text_file: None,
        }),
        data: DataSpec {
            source: DataSource::Sysbench {
                tables: 10,
                rows: 400_000,
            },
            data_scale: "1/500".parse().unwrap(),
            drive_scale: "1/40".parse().unwrap(),
            table_options: String::new(),
            before: Vec::new(),
        },
        load: LoadSpec {
            connections,
            warmup: Warmup::Fixed {
                length: Duration::from_secs(WARMUP_S.into()),
            },
            measure: Duration::from_secs(MEASURE_S.into()),
            ..LoadSpec::default()
        },
        seed: SEED,
        ..RunSpec::default()
    };
    let primary = spec.primary_mut();
    primary.drive = Some(DriveSpec {
        profile: drive.to_owned(),
        settings: BTreeMap::new(),
    });
    primary.variables = strings(&[
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_redo_log_capacity", "256M"),
    ]);
    spec
}

/// A small linear congruential generator (Knuth's constants): the fixture must never change by itself.
struct Noise(u64);

impl Noise {
    /// A number in -1 to 1, denser around 0.
    fn next(&mut self) -> f64 {
        let mut draw = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        f64::midpoint(draw(), draw())
    }
}

fn run(plan: &Plan, planned: PlannedRun, measure_s: u32, noise: &mut Noise) -> RunResult {
    let kind = planned.cell % 4;
    let rate = QUERIES_PER_S[kind] * (1.0 + 0.02 * noise.next());
    let intervals: Vec<_> = (1..=WARMUP_S + measure_s)
        .map(|second| interval(second, rate, noise))
        .collect();
    let measured = intervals.iter().filter(|interval| interval.time_s > 0.0);
    let queries: u64 = measured.map(|interval| interval.queries).sum();
    let rate = queries as f64 / f64::from(measure_s);
    let position = plan.runs.iter().position(|run| *run == planned);
    let minute = position.expect("invariant: the run is of the plan");
    RunResult {
        record: record(planned, minute, rate, measure_s),
        intervals,
        series: series(rate, measure_s),
        gaps: Vec::from_iter((kind == 1 && planned.repetition == 2).then(|| Gap {
            source: "server status".to_owned(),
            from_s: 12.0,
            to_s: 15.0,
            reason: "the sample took 1.3 s, longer than the 1s between two".to_owned(),
        })),
        variables: Arc::new(variables(&plan.cells[planned.cell])),
        variables_changed: strings(&[("gtid_executed", "after the load")]),
        drive: Some(Arc::new(drive_statistics(kind, rate, f64::from(measure_s)))),
        commands: commands(&plan.cells[planned.cell]),
        server_log: SERVER_LOG.to_owned(),
        profile: Some(profile(kind)),
        ..RunResult::default()
    }
}

/// Stacks of a server that writes pages twice in every second combination.
fn profile(kind: usize) -> StackProfile {
    let twice = if kind.is_multiple_of(2) { 200 } else { 4 };
    let samples = 700 + twice;
    StackProfile {
        frequency_hz: 49,
        samples,
        cut: 40,
        has_kernel: true,
        folded: format!(
            "mysqld;start_thread;do_command;dispatch_command 660\nmysqld;__send 40\n\
             mysqld;start_thread;buf_flush_page_cleaner;dblwr::write {twice}\n"
        ),
        ..StackProfile::default()
    }
}

fn record(planned: PlannedRun, minute: usize, rate: f64, measure_s: u32) -> RunRecord {
    let kind = planned.cell % 4;
    let latency_us = 32.0 * 6.0 / rate * 1e6;
    RunRecord {
        cell: planned.cell,
        repetition: planned.repetition,
        started_at: format!("2026-03-14T{:02}:{:02}:00Z", 9 + minute / 60, minute % 60),
        measured_s: f64::from(measure_s),
        queries_per_s: rate,
        transactions_per_s: rate / 6.0,
        latency: LatencySummary {
            us_min: latency_us * 0.2,
            us_mean: latency_us,
            us_p50: latency_us * 0.9,
            us_p95: latency_us * 1.8,
            us_p99: latency_us * 2.6,
            us_p999: latency_us * 4.5,
            us_max: latency_us * 9.0,
        },
        errors: (rate / 900.0) as u64,
        unfinished: 0,
        utilization: Utilization {
            host_cpu: rate / 6600.0,
            server_cores: rate / 5600.0,
            client_cpu: rate / 40_000.0,
            drive_cores: 0.21,
            drive_read: [0.31, 0.40, 0.35, 0.37][kind],
            drive_write: [0.98, 0.97, 0.55, 0.31][kind],
            steal: 0.004,
            iowait: [0.27, 0.08, 0.05, 0.04][kind],
            ..Utilization::default()
        },
        bottleneck: [
            Bottleneck::DriveWrite,
            Bottleneck::DriveWrite,
            Bottleneck::ServerCpu,
            Bottleneck::ServerCpu,
        ][kind],
        approach: weir_model::Approach::default(),
    }
}

fn interval(second: u32, rate: f64, noise: &mut Noise) -> IntervalRecord {
    let warm = (f64::from(second) / f64::from(WARMUP_S)).min(1.0);
    let rate = rate * (0.55 + 0.45 * warm) * (1.0 + 0.07 * noise.next());
    let latency_us = 32.0 * 6.0 / rate * 1e6;
    let transactions = (rate / 6.0).round() as u64;
    IntervalRecord {
        time_s: f64::from(second) - f64::from(WARMUP_S),
        length_s: 1.0,
        transactions,
        queries: transactions * 6,
        reads: 0,
        writes: transactions * 4,
        errors: 0,
        latency_us_p50: latency_us * 0.9,
        latency_us_p95: latency_us * 1.8,
        latency_us_p99: latency_us * (2.6 + 0.8 * noise.next()),
        latency_us_max: latency_us * 7.0,
    }
}

/// Every metric each second: counters that grow evenly, gauges that stand still.
fn series(rate: f64, measure_s: u32) -> Vec<Series> {
    let of = |metric: &Metric| {
        let per_s = match metric.name {
            "status.pool_read_requests" => rate * 22.0,
            "status.pool_reads" => rate * 0.4,
            _ if metric.unit == "bytes" => rate * 5_000.0,
            _ if metric.unit == "s" => rate / 9_000.0,
            _ => rate / 3.0,
        };
        let instance = if metric.per.is_empty() { "" } else { "data" };
        let mut series = Series::new(*metric, instance);
        for second in 0..=WARMUP_S + measure_s {
            let value = match metric.kind {
                MetricKind::Counter => per_s * f64::from(second),
                MetricKind::Gauge => per_s,
            };
            series.push(f64::from(second) - f64::from(WARMUP_S), value);
        }
        series
    };
    metrics::ALL.iter().map(of).collect()
}

fn drive_statistics(kind: usize, rate: f64, measure_s: f64) -> DriveStatistics {
    let traffic = |reads: f64, writes: f64, flushes: f64, bytes: f64| {
        let count = |per_query: f64| (per_query * rate * measure_s) as u64;
        FileKindStatistics {
            reads: count(reads),
            read_bytes: (count(reads) as f64 * bytes) as u64,
            read_latency_s: count(reads) as f64 * 92e-6,
            writes: count(writes),
            write_bytes: (count(writes) as f64 * bytes) as u64,
            write_latency_s: count(writes) as f64 * 210e-6,
            flushes: count(flushes),
            flush_latency_s: count(flushes) as f64 * 24e-6,
            ..FileKindStatistics::default()
        }
    };
    let mut by_kind = BTreeMap::from([
        (FileKind::Redo, traffic(0.0, 0.11, 0.10, 2600.0)),
        (FileKind::Data, traffic(0.40, 0.33, 0.004, 16_384.0)),
        (FileKind::Undo, traffic(0.01, 0.03, 0.001, 16_384.0)),
        (FileKind::Binlog, traffic(0.0, 0.05, 0.05, 900.0)),
    ]);
    if kind.is_multiple_of(2) {
        by_kind.insert(FileKind::Doublewrite, traffic(0.0, 0.02, 0.004, 262_144.0));
    }
    let written: u64 = by_kind.values().map(|kind| kind.write_bytes).sum();
    let compressed = if kind < 2 { 1.0 } else { 0.44 };
    DriveStatistics {
        uptime_s: measure_s,
        by_kind,
        queue_depth: 3,
        read_busy_s: measure_s * 0.35,
        write_busy_s: measure_s * 0.9,
        media_written_bytes: (written as f64 * compressed * 1.3) as u64,
        compressed_fraction: compressed,
        used_bytes: 1_300_000_000,
        lateness_us_p50: 6.0,
        lateness_us_p99: [41.0, 48.0, 96.0, 180.0][kind],
        late_share: [0.004, 0.006, 0.021, 0.083][kind],
        ..DriveStatistics::default()
    }
}

fn drive_profile(name: &str, title: &str) -> DriveProfile {
    let text = format!(
        r#"
        title = "{title}"
        capacity = "3T"
        compression = "{}"
        [read]
        latency_us = 90
        iops_max = 640_000
        bandwidth_mb_per_s = 3_200
        [write]
        latency_us = 18
        iops_max = 200_000
        bandwidth_mb_per_s = 3_000
        buffer = "64M"
        amplification_random = 2.5
        cache = "power-protected"
        [flush]
        latency_us = 20
        [sources]
        "read.latency_us" = "made up for tests"
        "everything else" = "made up for tests too"
        "#,
        if name.starts_with("scaleflux") {
            "zlib4k"
        } else {
            "none"
        }
    );
    let profile = DriveProfile::parse(name, &text).unwrap();
    assert!(profile.capacity > Bytes(1));
    profile
}

/// Doublewrite OFF against ON on each drive, and the drives against each other.
fn comparisons(plan: &Plan, runs: &[RunResult]) -> Vec<Comparison> {
    let pairs = [
        ("innodb_doublewrite", 0, 1),
        ("innodb_doublewrite", 2, 3),
        ("drive", 0, 2),
        ("drive", 1, 3),
    ];
    let blocks = (0..plan.cells.len()).step_by(4);
    blocks
        .flat_map(|block| pairs.map(|(factor, base, level)| (factor, block + base, block + level)))
        .filter(|(_, _, level)| *level < plan.cells.len())
        .map(|(factor, base, level)| comparison(plan, runs, factor, base, level))
        .collect()
}

fn comparison(
    plan: &Plan,
    runs: &[RunResult],
    factor: &str,
    baseline_cell: usize,
    level_cell: usize,
) -> Comparison {
    let rates = |cell: usize| {
        let mut records: Vec<_> = runs.iter().map(|run| &run.record).collect();
        records.retain(|record| record.cell == cell);
        records.sort_by_key(|record| record.repetition);
        records.into_iter().map(|record| record.queries_per_s)
    };
    let pairs: Vec<_> = rates(level_cell).zip(rates(baseline_cell)).collect();
    let estimate = paired_log_ratio(&pairs).unwrap();
    let ends = estimate.interval;
    let mut context = plan.cells[level_cell].levels.clone();
    let level = context.remove(factor).unwrap();
    // Without a doublewrite buffer the first drive tears pages and the second does not.
    let unequal = factor == "drive" && level_cell % 4 == 3;
    let verdict = match ends {
        _ if unequal => Verdict::Invalid,
        Some((low, high)) if low > 1.0 || high < 1.0 => Verdict::Effect,
        _ => Verdict::Inconclusive,
    };
    let finding = Finding {
        rule: RuleId::R2,
        severity: Severity::Error,
        message: "pages can be torn on `intel-p4610` (largest atomic write 512 bytes) but not on \
                  the other drive; compare with innodb_doublewrite ON, or give evidence of \
                  atomic 16 KiB writes"
            .to_owned(),
    };
    Comparison {
        factor: factor.to_owned(),
        baseline: plan.cells[baseline_cell].levels[factor].clone(),
        level,
        context,
        metric: "queries_per_s".to_owned(),
        baseline_cell,
        level_cell,
        ratio: estimate.ratio,
        ratio_low: ends.map(|(low, _)| low),
        ratio_high: ends.map(|(_, high)| high),
        pairs: pairs.len(),
        method: Method::PairedT,
        p_value: None,
        p_value_adjusted: None,
        second_opinion: None,
        others: Vec::new(),
        costs: Vec::new(),
        replay: None,
        negative_control: false,
        equality: None,
        verdict,
        findings: if unequal { vec![finding] } else { Vec::new() },
    }
}

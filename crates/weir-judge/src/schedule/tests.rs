//! Whole studies and searches on made-up servers: what is run, how often, and what comes out.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::{
    Approach, Cell, Flavor, LatencySummary, Method, Plan, RunRecord, RunResult, StudyResult,
    Utilization, Verdict,
};

use super::{Next, answers, next};
use weir_study::{plan_from_text, probe_cell};

const STUDY: &str = r#"
    [study]
    title = "T"
    question = "Q?"
    [server]
    [data]
    workload = "oltp_read_only"
    rows = 1_000
    [load]
    threads = 8
    warmup = "5s"
    measure = "10s"
"#;

fn plan(rest: &str) -> Plan {
    plan_from_text(&format!("{STUDY}{rest}"), Flavor::Mysql).unwrap()
}

/// A run of a made-up server.
#[derive(Debug, Clone, Copy)]
struct MadeUpRun {
    queries_per_s: f64,
    latency_us_p99: f64,
    server_cpu_us_per_query: f64,
}

fn record(cell: usize, repetition: u32, measured: MadeUpRun) -> RunRecord {
    let MadeUpRun {
        queries_per_s,
        latency_us_p99,
        server_cpu_us_per_query,
    } = measured;
    RunRecord {
        cell,
        repetition,
        measured_s: 10.0,
        queries_per_s,
        transactions_per_s: queries_per_s,
        latency: LatencySummary {
            us_p99: latency_us_p99,
            ..LatencySummary::default()
        },
        utilization: Utilization {
            server_cores: server_cpu_us_per_query * queries_per_s / 1e6,
            ..Utilization::default()
        },
        approach: Approach {
            warmup_s: 5.0,
            ..Approach::default()
        },
        ..RunRecord::default()
    }
}

/// Runs `plan` to its end on a server whose throughput and p99 are `serve`'s.
fn run(plan: &mut Plan, mut serve: impl FnMut(&Cell) -> (f64, f64)) -> Vec<RunRecord> {
    run_measured(plan, |cell| {
        let (queries_per_s, latency_us_p99) = serve(cell);
        MadeUpRun {
            queries_per_s,
            latency_us_p99,
            server_cpu_us_per_query: 40.0,
        }
    })
}

/// Runs `plan` to its end on a made-up server.
fn run_measured(plan: &mut Plan, mut serve: impl FnMut(&Cell) -> MadeUpRun) -> Vec<RunRecord> {
    let mut records = Vec::new();
    loop {
        assert!(records.len() < 1_000, "endless");
        let (cell, repetition) = match next(plan, &records, &[], &[]).unwrap() {
            Next::Done => return records,
            Next::Run(planned) => (planned.cell, planned.repetition),
            Next::Probe(probe) => {
                let cell = probe_cell(plan, plan.search.as_ref().unwrap(), probe);
                plan.cells.push(cell);
                (plan.cells.len() - 1, 1)
            }
            Next::Confirm(winners) => {
                crate::confirm(plan, winners);
                continue;
            }
        };
        let measured = serve(&plan.cells[cell]);
        records.push(record(cell, repetition, measured));
    }
}

/// Noise of up to `size` to either side.
fn noise(seed: u64) -> impl FnMut(f64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    move |size| 1.0 + size * (2.0 * random.random::<f64>() - 1.0)
}

mod equality;
mod screens;

const TWO_DRIVES: &str = "[factors]\ndrive = [\"a\", \"b\", \"c\"]\n[repeat]\nseed = 3\n";

#[test]
fn a_study_without_a_goal_runs_its_blocks() {
    let mut plan = plan(&format!("{TWO_DRIVES}runs = 4"));
    let records = run(&mut plan, |_| (100.0, 1.0));
    assert_eq!(records.len(), 12);
    assert!(answers(&plan, &records).unwrap().is_empty());
}

/// Drive b is loud: the time goes to it and its baseline, c is done after eight blocks.
#[test]
fn time_goes_where_the_interval_is_wide() {
    let mut plan = plan(&format!("{TWO_DRIVES}until = \"effect +-3 %\""));
    let mut noise = noise(5);
    let records = run(&mut plan, |cell| {
        let size = if cell.spec.drive_name().as_deref() == Some("b") {
            0.10
        } else {
            0.005
        };
        (100.0 * noise(size), 1.0)
    });
    let runs = |cell| records.iter().filter(|record| record.cell == cell).count();
    assert_eq!(runs(2), 8);
    assert!(runs(1) > 8 && runs(0) == runs(1), "{} {}", runs(0), runs(1));
    let found = wide_intervals(plan, &records);
    assert!(found.is_empty(), "{found:?}");
}

/// Drive b is a fifth faster and is done after three blocks; c is as fast as a.
#[test]
fn a_verdict_ends_the_repetitions_of_its_effect() {
    let mut plan = plan(&format!("{TWO_DRIVES}until = \"verdict\""));
    let mut noise = noise(7);
    let records = run(&mut plan, |cell| {
        let is_faster = cell.spec.drive_name().as_deref() == Some("b");
        let rate = if is_faster { 120.0 } else { 100.0 };
        (rate * noise(0.01), 1.0)
    });
    let runs = |cell| records.iter().filter(|record| record.cell == cell).count();
    assert_eq!((runs(0), runs(1), runs(2)), (10, 3, 10));
    let judged = crate::evaluate(result(plan, &records)).unwrap();
    let comparisons = &judged.comparisons;
    assert!(
        comparisons
            .iter()
            .all(|one| one.method == Method::PairedTAtVerdict)
    );
    assert_eq!(comparisons[0].verdict, Verdict::Effect);
    // Ten pairs with little noise also show equality, although nobody asked.
    assert_eq!(comparisons[1].verdict, Verdict::Equal);
    let said: Vec<_> = judged
        .findings
        .iter()
        .map(|finding| &finding.message)
        .collect();
    assert!(
        said.iter()
            .any(|said| said.starts_with("1 effects have no verdict after 10 repetitions")),
        "{said:?}"
    );
}

/// A drive limits both levels alike; one takes 3 % more of the processor for each query. The study asks for that.
#[test]
fn a_cost_of_a_query_has_a_verdict_where_throughput_has_none() {
    let text = "[factors]\nbinlog_checksum = [\"NONE\", \"CRC32\"]\n[repeat]\nseed = 3\nuntil = \"verdict\"\n\
                metric = \"server_cpu_us_per_query\"";
    let mut plan = plan(text);
    let mut noise = noise(11);
    let records = run_measured(&mut plan, |cell| {
        let is_dearer = cell.spec.variable("binlog_checksum") == Some("CRC32");
        let cpu_us = if is_dearer { 41.2 } else { 40.0 };
        MadeUpRun {
            queries_per_s: 1_000.0 * noise(0.01),
            latency_us_p99: 9_000.0 * noise(0.05),
            server_cpu_us_per_query: cpu_us * noise(0.006),
        }
    });
    assert!(records.len() <= 12, "{} runs", records.len());
    let judged = crate::evaluate(result(plan.clone(), &records)).unwrap();
    let [found] = judged.comparisons.as_slice() else {
        panic!("{:?}", judged.comparisons);
    };
    assert_eq!(found.metric, "server_cpu_us_per_query");
    assert_eq!(found.verdict, Verdict::Effect, "{found:?}");
    assert!(found.improvement().ratio < 1.0);
    assert_eq!(found.costs[0].verdict, Verdict::Effect);
    plan.repeat.metric = None;
    let judged = crate::evaluate(result(plan, &records)).unwrap();
    assert_eq!(judged.comparisons[0].verdict, Verdict::Equal);
    assert_eq!(judged.comparisons[0].costs[0].verdict, Verdict::Effect);
}

#[test]
fn a_metric_that_needs_samples_cannot_end_a_study() {
    let text = format!("{STUDY}[repeat]\nmetric = \"status.pool_reads\"");
    let error = plan_from_text(&text, Flavor::Mysql).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("repeat.metric") && said.contains("server_cpu_us_per_query"),
        "{said}"
    );
}

#[test]
fn a_budget_ends_the_repetitions_and_it_is_said() {
    // A run takes 18 s, a block of three 54 s: nine blocks fit.
    let goal = "until = \"effect +-1 %\"\nbudget = \"500s\"";
    let mut plan = plan(&format!("{TWO_DRIVES}{goal}"));
    let mut noise = noise(6);
    let records = run(&mut plan, |_| (100.0 * noise(0.3), 1.0));
    assert_eq!(records.len(), 27);
    let found = wide_intervals(plan, &records);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("+-1 %"), "{found:?}");
}

/// The findings about effects whose intervals are wider than the study asks for.
fn wide_intervals(plan: Plan, records: &[RunRecord]) -> Vec<String> {
    let findings = crate::evaluate(result(plan, records)).unwrap().findings;
    let messages = findings.into_iter().map(|finding| finding.message);
    messages
        .filter(|said| said.contains("of repeat.until"))
        .collect()
}

fn result(plan: Plan, records: &[RunRecord]) -> StudyResult {
    let run = |record: &RunRecord| RunResult {
        record: record.clone(),
        ..RunResult::default()
    };
    StudyResult {
        runs: records.iter().map(run).collect(),
        ..StudyResult::new(plan, Flavor::Mysql, "9.7.0".parse().unwrap())
    }
}

/// An open loop on a server of 8,000 transactions per second on drive a and 4,000 on drive b:
/// 2 ms / (1 - load) is 10 ms at 80 % of it.
#[test]
fn the_highest_rate_is_found_on_each_drive_and_measured_again() {
    let mut plan = plan(
        "[factors]\ndrive = [\"a\", \"b\"]\n[search]\nfind = \"rate\"\nobjective = \"p99 <= 10ms\"\n\
         range = \"100..20000\"\ntolerance = \"3 %\"",
    );
    let records = run(&mut plan, |cell| {
        let rate = cell.spec.load.pace.rate_per_s().unwrap();
        let most = if cell.spec.drive_name().as_deref() == Some("a") {
            8_000.0
        } else {
            4_000.0
        };
        let free = 1.0 - rate / most;
        let latency_us = if free > 0.0 { 2_000.0 / free } else { 1e6 };
        (rate.min(most), latency_us)
    });
    let answers = answers(&plan, &records).unwrap();
    for (answer, truth) in answers.iter().zip([6_400.0, 3_200.0]) {
        let found = answer.found[0].place.unwrap() as f64;
        assert!(found <= truth && found > truth * 0.97, "{found} {truth}");
        let again = answer.confirmation.as_ref().unwrap();
        assert_eq!((again.runs, again.objective_kept), (3, Some(3)));
        assert_eq!(Some(again.place), answer.found[0].place);
    }
    // Both are searched side by side: no drive gets all of its runs first.
    let first_half = &records[..records.len() / 2];
    let of_b = first_half
        .iter()
        .filter(|r| plan.cells[r.cell].spec.drive_name().as_deref() == Some("b"));
    assert!(of_b.count() >= first_half.len() / 3);
}

/// A closed loop on a server with 4 ms per transaction and 8 cores: beyond 8 connections each waits for the others, so that
/// 20 ms is reached by 40 connections on drive a, and by 20 on drive b, which takes twice the time.
#[test]
fn the_most_connections_that_keep_a_latency_are_found_on_each_drive() {
    let mut plan = plan(
        "[factors]\ndrive = [\"a\", \"b\"]\n[search]\nfind = \"threads\"\nobjective = \"p99 <= 20ms\"\n\
         range = \"1..512\"\ntolerance = \"3 %\"\nruns = 3",
    );
    let mut noise = noise(4);
    let records = run(&mut plan, |cell| {
        let threads = f64::from(cell.spec.load.connections);
        let is_b = cell.spec.drive_name().as_deref() == Some("b");
        let alone_us = if is_b { 8_000.0 } else { 4_000.0 };
        let latency_us = alone_us * (threads / 8.0).max(1.0);
        (threads / latency_us * 1e6, latency_us * noise(0.005))
    });
    let answers = answers(&plan, &records).unwrap();
    for (answer, truth) in answers.iter().zip([40_u64, 20]) {
        let found = answer.found[0].place.unwrap();
        assert!(found.abs_diff(truth) <= 1, "{found} {truth}");
        assert_eq!(answer.confirmation.as_ref().unwrap().runs, 3);
        assert_eq!(answer.found[0].meaning, "most connections with p99 <= 20ms");
    }
}

#[test]
fn the_knee_and_the_peak_of_noisy_curves_are_found() {
    let mut knee = plan(
        "[search]\nfind = \"knee\"\nrange = \"1G..64G\"\nruns = 3\nshares = [0.9]\n\
         tolerance = \"10 %\"",
    );
    let mut noise = noise(8);
    let records = run(&mut knee, |cell| {
        let size = cell.spec.variable("innodb_buffer_pool_size").unwrap();
        let size: f64 = size.parse().unwrap();
        (
            1e3 * (size / f64::from(1 << 30) / 20.0).min(1.0) * noise(0.01),
            1.0,
        )
    });
    let place = answers(&knee, &records).unwrap()[0].found[0].place.unwrap();
    let size_g = place as f64 / f64::from(1 << 30);
    assert!((16.5..20.0).contains(&size_g), "{size_g}");

    let mut peak =
        plan("[search]\nfind = \"peak\"\nrange = \"1..256\"\nruns = 3\ntolerance = \"10 %\"");
    let records = run(&mut peak, |cell| {
        let threads = f64::from(cell.spec.load.connections);
        (
            threads / (1.0 + 0.05 * threads + 0.002 * threads * threads) * noise(0.01),
            1.0,
        )
    });
    let answer = &answers(&peak, &records).unwrap()[0];
    let best = answer.found[0].place.unwrap();
    assert!((16..=32).contains(&best), "{best}");
    assert!(answer.found[1].place.unwrap() <= best);
}

/// A search that was killed after any run goes on as if it had not been.
#[test]
fn a_search_resumes_anywhere() {
    let text = "[search]\nfind = \"peak\"\nrange = \"1..64\"\nconfirm = 2";
    let serve = |cell: &Cell| {
        (
            100.0 - (f64::from(cell.spec.load.connections) - 20.0).abs(),
            1.0,
        )
    };
    let mut whole = plan(text);
    let records = run(&mut whole, serve);
    for count in 1..records.len() {
        // The store holds the cells of the runs that are complete.
        let kept = &records[..count];
        let mut resumed = whole.clone();
        resumed
            .cells
            .truncate(1 + kept.iter().map(|record| record.cell).max().unwrap());
        let expected = next(&whole, kept, &[], &[]).unwrap();
        match next(&resumed, kept, &[], &[]).unwrap() {
            Next::Probe(probe) => {
                let Next::Run(planned) = expected else {
                    panic!("{expected:?}");
                };
                assert_eq!(whole.cells[planned.cell].probe, Some(probe));
            }
            same => assert_eq!(same, expected),
        }
    }
}

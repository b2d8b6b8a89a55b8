//! Whole studies on servers that answer at once and store nothing: what is run, what is kept, and what is
//! left running.

mod null_targets;

use std::rc::Rc;

use tempfile::TempDir;
use weir_model::Provenance;
use weir_mysql::ClientConfig;
use weir_study::plan_from_text;

use self::null_targets::{Ledger, NullTargets, Trouble};
use super::*;
use crate::UserPermissions;

const STUDY: &str = r#"
    [study]
    title = "T"
    question = "Q?"
    [server]
    [data]
    workload = "oltp_point_select"
    rows = 1_000
    [load]
    threads = [1, 2]
    warmup = "0s"
    measure = "50ms"
    [repeat]
"#;

fn plan(repeat: &str) -> Plan {
    plan_from_text(&format!("{STUDY}{repeat}"), weir_model::Flavor::Mysql).unwrap()
}

/// A folder for a result, and what was begun for it.
struct Bench {
    folder: TempDir,
    ledger: Rc<Ledger>,
    delays_ms: Vec<u64>,
    fast_with: Option<&'static str>,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
            ledger: Rc::default(),
            delays_ms: vec![0],
            fast_with: None,
        }
    }

    fn run(
        &self,
        plan: &Plan,
        trouble: Option<Trouble>,
        resume: bool,
        mut on_event: impl FnMut(&Event<'_>, &AtomicBool),
    ) -> Result<RunOutcome, RunError> {
        let options = RunOptions {
            out: self.folder.path().to_owned(),
            resume,
            work: None,
            weir: PathBuf::new(),
            below_floor: false,
            allowed: UserPermissions::default(),
            client: ClientConfig::default(),
            provenance: Provenance::default(),
        };
        let targets = NullTargets {
            sockets: self.folder.path(),
            ledger: Rc::clone(&self.ledger),
            trouble,
            delays_ms: &self.delays_ms,
            fast_with: self.fast_with,
        };
        let stop = AtomicBool::new(false);
        let mut on_event = |event: &Event<'_>| on_event(event, &stop);
        let control = Control::new(&stop, &mut on_event);
        run_on(|| Ok(targets), plan, &options, control)
    }

    /// A study without trouble.
    fn finish(&self, plan: &Plan, resume: bool) -> RunOutcome {
        self.run(plan, None, resume, |_, _| {}).unwrap()
    }

    /// `(cell, repetition)` of the runs that are kept, in their order.
    fn kept(&self) -> Vec<(usize, u32)> {
        let store = Store::open(&self.folder.path().join(RESULT_FILE));
        store.unwrap().completed().unwrap()
    }
}

/// The screen is stopped among its rows and again while its winner is measured anew; it goes on where it was.
#[test]
fn a_screen_measures_its_winner_anew_also_when_it_was_stopped() {
    let text = STUDY
        .replace("threads = [1, 2]", "threads = 2")
        .replace("[repeat]", "");
    let screen = "[design]\nkind = \"screen\"\n[factors]\na1 = [0, 1]\na2 = [0, 1]\na3 = [0, 1]\na4 = [0, 1]\n\
                  [repeat]\nseed = 5\nmetric = \"queries_per_s\"";
    let plan = plan_from_text(&format!("{text}{screen}"), weir_model::Flavor::Mysql).unwrap();
    let mut bench = Bench::new();
    (bench.delays_ms, bench.fast_with) = (vec![1], Some("a2"));
    let is_finished = |event: &Event<'_>| matches!(event, Event::RunFinished { .. });
    for (nth, resume) in [(10, false), (22, true)] {
        let stopped = bench
            .run(&plan, None, resume, stop_at(nth, is_finished))
            .unwrap();
        assert!(stopped.stopped);
    }
    assert_eq!(bench.kept().len(), 32);
    let outcome = bench.finish(&plan, true);
    let result = &outcome.result;
    let stored = &result.evidence.plan;
    assert_eq!(stored.as_designed(), plan);
    let screen = stored.screen.as_ref().unwrap();
    let factor = |winner: &weir_model::Winner| screen.candidates[winner.candidate].factor.as_str();
    assert!(screen.winners.iter().map(factor).any(|name| name == "a2"));
    let mut comparisons = result.comparisons.iter();
    let of_winner = comparisons.find(|found| found.factor == "a2").unwrap();
    assert!(
        of_winner.ratio > 2.0 && of_winner.pairs >= 3,
        "{of_winner:?}"
    );
    assert!(bench.ledger.is_balanced());
}

fn planned(plan: &Plan) -> Vec<(usize, u32)> {
    let runs = plan.runs.iter();
    runs.map(|run| (run.cell, run.repetition)).collect()
}

/// Sets `stop` when an event of the kind that `is_it` tells came for the `nth` time.
fn stop_at(nth: usize, is_it: fn(&Event<'_>) -> bool) -> impl FnMut(&Event<'_>, &AtomicBool) {
    let mut seen = 0;
    move |event, stop| {
        seen += usize::from(is_it(event));
        if seen == nth {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

#[test]
fn a_study_makes_each_run_on_a_target_of_its_own_in_the_order_of_its_plan() {
    let (bench, plan) = (Bench::new(), plan("runs = 3"));
    let outcome = bench.finish(&plan, false);
    assert!(!outcome.stopped);
    assert_eq!(bench.kept(), planned(&plan));
    let labels: Vec<_> = plan
        .runs
        .iter()
        .map(|run| plan.cells[run.cell].label())
        .collect();
    assert_eq!(*bench.ledger.begun.borrow(), labels);
    assert!(bench.ledger.is_balanced());
    let runs = &outcome.result.evidence.runs;
    assert!(runs.iter().any(|run| run.record.transactions_per_s > 0.0));
    assert!(
        runs.iter()
            .all(|run| run.server_log == "ready for connections")
    );
    assert_eq!(outcome.result.comparisons.len(), 1);
    assert_eq!(outcome.remarks.len(), 1);
}

#[test]
fn a_study_that_is_stopped_in_a_run_keeps_complete_runs_only_and_goes_on_where_it_was() {
    let (bench, plan) = (Bench::new(), plan("runs = 3"));
    let in_third = stop_at(3, |event| matches!(event, Event::RunStarted { .. }));
    let outcome = bench.run(&plan, None, false, in_third).unwrap();
    assert!(outcome.stopped);
    assert_eq!(bench.kept(), planned(&plan)[..2]);
    assert!(bench.ledger.is_balanced());

    // The second time while the load runs.
    let while_loaded = stop_at(2, |event| matches!(event, Event::Interval(_)));
    assert!(bench.run(&plan, None, true, while_loaded).unwrap().stopped);
    assert_eq!(bench.kept(), planned(&plan)[..3]);
    assert!(bench.ledger.is_balanced());

    assert!(!bench.finish(&plan, true).stopped);
    assert_eq!(bench.kept(), planned(&plan));
    assert!(bench.ledger.is_balanced());
}

#[test]
fn a_study_that_is_stopped_before_its_first_run_leaves_no_result() {
    let (bench, plan) = (Bench::new(), plan("runs = 3"));
    let at_once = stop_at(1, |event| matches!(event, Event::RunStarted { .. }));
    let stopped = bench.run(&plan, None, false, at_once);
    assert!(matches!(stopped, Err(RunError::Interrupted)), "{stopped:?}");
    assert!(!bench.folder.path().join(RESULT_FILE).exists());
    assert!(bench.ledger.is_balanced());
}

#[test]
fn a_resumed_study_that_is_stopped_while_its_data_are_made_still_has_its_runs() {
    let (bench, plan) = (Bench::new(), plan("runs = 3"));
    let in_second = stop_at(2, |event| matches!(event, Event::RunStarted { .. }));
    bench.run(&plan, None, false, in_second).unwrap();
    let stopped = bench.run(&plan, Some(Trouble::StoppedEarly), true, |_, _| {});
    let outcome = stopped.unwrap();
    assert!(outcome.stopped);
    assert_eq!(outcome.result.evidence.runs.len(), 1);
}

#[test]
fn a_target_that_does_not_start_ends_the_study_and_what_is_complete_is_kept() {
    let (bench, plan) = (Bench::new(), plan("runs = 3"));
    let failed = bench.run(&plan, Some(Trouble::NoStart(2)), false, |_, _| {});
    assert!(
        matches!(failed, Err(RunError::SnapshotRemoved { .. })),
        "{failed:?}"
    );
    assert_eq!(bench.kept(), planned(&plan)[..2]);
    assert!(bench.ledger.is_balanced());
    bench.finish(&plan, true);
    assert_eq!(bench.kept(), planned(&plan));
}

#[test]
fn a_server_that_dies_in_a_run_is_named_with_its_reason_and_its_run_is_not_kept() {
    let (bench, plan) = (Bench::new(), plan("runs = 3"));
    let failed = bench.run(&plan, Some(Trouble::Dies(1)), false, |_, _| {});
    let said = failed.unwrap_err().to_string();
    let second = &plan.runs[1];
    let run = format!(
        "run of {}, repetition {}: ",
        plan.cells[second.cell].label(),
        second.repetition
    );
    assert!(said.starts_with(&run), "{said}");
    assert!(
        said.ends_with("the server has ended: it closed its connections"),
        "{said}"
    );
    assert_eq!(bench.kept(), planned(&plan)[..1]);
    assert!(bench.ledger.is_balanced());
}

#[test]
fn a_budget_ends_the_repetitions_after_whole_blocks() {
    // One server in two is a hundred times as slow, so no interval becomes narrow. A run counts 3 s and
    // what it measures, so a block of two takes 6.1 s.
    let bench = Bench {
        delays_ms: vec![0, 10, 10, 0],
        ..Bench::new()
    };
    let plan = plan("runs = 6\nat_most = 30\nuntil = \"effect +-1 %\"\nbudget = \"50s\"");
    let outcome = bench.finish(&plan, false);
    assert!(!outcome.stopped);
    let kept = bench.kept();
    assert_eq!(kept.len(), 16, "{kept:?}");
    let in_block = |number| {
        kept.iter()
            .filter(|(_, repetition)| *repetition == number)
            .count()
    };
    assert!((1..=8).all(|number| in_block(number) == 2), "{kept:?}");
    let findings = outcome.result.findings.iter();
    let mut of_r4 = findings.filter(|finding| finding.rule == weir_model::RuleId::R4);
    assert!(of_r4.any(|finding| finding.message.contains("repeat.budget")));
    // Nothing is left to do, also when it is asked again.
    bench.finish(&plan, true);
    assert_eq!(bench.kept(), kept);
}

#[test]
fn runs_that_differ_in_the_load_alone_share_a_target_where_the_study_says_so() {
    let (bench, plan) = (
        Bench::new(),
        plan("runs = 3\nwithin_server = [\"threads\"]"),
    );
    let outcome = bench.finish(&plan, false);
    let runs = &outcome.result.evidence.runs;
    let before: Vec<_> = runs
        .iter()
        .map(|run| run.record.approach.runs_before)
        .collect();
    assert_eq!(before, [0, 1, 0, 1, 0, 1]);
    assert_eq!(bench.ledger.begun.borrow().len(), 3);
    assert!(bench.ledger.is_balanced());
}

#[test]
fn a_result_of_another_study_is_refused_before_a_target_is_asked() {
    let bench = Bench::new();
    bench.finish(&plan("runs = 3"), false);
    let prepared = bench.ledger.prepared.get();
    let refused = bench.run(&plan("runs = 4"), None, true, |_, _| {});
    assert!(
        matches!(refused, Err(RunError::OtherPlan { .. })),
        "{refused:?}"
    );
    let refused = bench.run(&plan("runs = 3"), None, false, |_, _| {});
    assert!(matches!(refused, Err(RunError::Store(_))), "{refused:?}");
    assert_eq!(bench.ledger.prepared.get(), prepared);
}

#[test]
fn a_result_of_an_earlier_schema_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(RESULT_FILE);
    let earlier = "../weir-store/fixtures/schema-4.sqlite";
    let earlier = Path::new(env!("CARGO_MANIFEST_DIR")).join(earlier);
    fs::copy(earlier, &file).unwrap();
    let plan = Store::open(&file).unwrap().read().unwrap().plan;
    let refused = stored_result(&plan, &file, true).unwrap_err().to_string();
    assert!(refused.contains("can be read only"), "{refused}");
}

//! Flashback beside what a real server held: random histories, of which the server itself keeps every moment.
//!
//! A history is some tables of random definitions and some twenty steps. At its moments all tables are read
//! (`truth.rs`). Then Weir is asked for each of them; each difference is a finding, for which the history is made smaller
//! and printed as a script. `WEIR_FLASHBACK_SEED` and `WEIR_FLASHBACK_SECONDS` say which histories and how long
//! (`make test-flashback`); `WEIR_TEST_SERVER` names another server than the newest of this machine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![allow(
    clippy::print_stdout,
    reason = "its figures are what a long run is for"
)]

mod changes;
mod checks;
mod dialect;
mod forms;
mod history;
mod kinds;
mod statements;
mod subject;
mod tables;
mod truth;
mod undo;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_testing::{Random, shrink};

use checks::{Outcome, check};
use forms::Form;
use history::{History, Step};
use subject::Subject;

weir_testing::on_both_flavors! { the_past_is_what_the_server_held }

/// Findings after which a run ends: more of them are mostly of the same kind.
const FINDINGS_MAX: usize = 8;
/// The least share of questions that has to be answered: an oracle that is only refused has seen nothing.
const ANSWERED_MIN: f64 = 0.5;

/// The figures of a run.
#[derive(Debug, Default)]
struct Tally {
    histories: usize,
    steps: usize,
    tables: usize,
    moments: usize,
    rows: usize,
    answers: BTreeMap<&'static str, usize>,
    refusals: BTreeMap<String, usize>,
    moved: usize,
    untold: usize,
    findings: Vec<String>,
}

fn the_past_is_what_the_server_held(flavor: Flavor) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds = number("WEIR_FLASHBACK_SECONDS").unwrap_or(12);
    let seed = number("WEIR_FLASHBACK_SEED").unwrap_or_else(|| {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        if std::env::var_os("WEIR_FLASHBACK_SECONDS").is_some() {
            since.as_secs()
        } else {
            1
        }
    });
    println!("{flavor:?}: WEIR_FLASHBACK_SEED={seed}, {seconds} s");
    let mut subject = Subject::start(flavor, Form::new(flavor, Form::number_of(seed)));
    let mut tally = Tally::default();
    let end = Instant::now() + Duration::from_secs(seconds);
    for seed in seed.. {
        if Instant::now() > end || tally.findings.len() >= FINDINGS_MAX {
            break;
        }
        if subject.form.number != Form::number_of(seed) {
            drop(subject);
            subject = Subject::start(flavor, Form::new(flavor, Form::number_of(seed)));
        }
        try_history(&subject, seed, &mut tally);
    }
    println!("{}", tally.report(flavor));
    let findings = &tally.findings;
    assert!(
        findings.is_empty(),
        "{} findings, printed above",
        findings.len()
    );
    assert!(tally.moved > 0, "nothing has changed since any moment");
    let answered: usize = tally.answers.values().sum();
    let refused: usize = tally.refusals.values().sum();
    let share = answered as f64 / (answered + refused) as f64;
    assert!(
        share > ANSWERED_MIN,
        "only {answered} answers and {refused} refusals"
    );
}

/// Each history has a seed of its own.
fn ask(subject: &Subject, history: &History, seed: u64) -> (Outcome, usize, usize) {
    let lived = subject.live(history);
    let outcome = check(subject, history, &lived, &mut Random::new(seed));
    let worlds = lived.moments.iter().map(|moment| &moment.world);
    let rows = worlds.flat_map(|world| world.values().map(|truth| truth.rows.len()));
    (outcome, lived.moments.len(), rows.sum())
}

fn try_history(subject: &Subject, seed: u64, tally: &mut Tally) {
    let history = History::random(subject.dialect, &mut Random::new(seed));
    let (outcome, moments, rows) = ask(subject, &history, seed);
    tally.histories += 1;
    tally.steps += history.steps.len();
    tally.tables += history.tables.len();
    tally.moments += moments;
    tally.rows += rows;
    tally.moved += outcome.moved;
    tally.untold += outcome.untold;
    for (what, count) in outcome.answers {
        *tally.answers.entry(what).or_default() += count;
    }
    for (why, count) in outcome.refusals {
        *tally.refusals.entry(why).or_default() += count;
    }
    let Some((what, text)) = outcome.findings.into_iter().next() else {
        return;
    };
    println!("seed {seed}: {what}: {text:.400}");
    if std::env::var_os("WEIR_FLASHBACK_SHOW").is_some() {
        println!("{}", history.script());
    }
    let steps = shrink(history.steps.clone(), &mut |steps: &[Step]| {
        let smaller = History {
            steps: steps.to_vec(),
            ..history.clone()
        };
        let (outcome, ..) = ask(subject, &smaller, seed);
        outcome.findings.iter().any(|(known, _)| *known == what)
    });
    let smaller = History { steps, ..history };
    let (again, ..) = ask(subject, &smaller, seed);
    let text = again
        .findings
        .into_iter()
        .next()
        .map_or(text, |(_, text)| text);
    let finding = format!("seed {seed}: {what}: {text}\n{}", smaller.script());
    println!("{finding}");
    tally.findings.push(finding);
}

impl Tally {
    fn report(&self, flavor: Flavor) -> String {
        format!(
            "{flavor:?}: {} histories, {} steps, {} tables, {} moments, {} rows kept; answers {:?}, {} of tables that have changed since; values not in the log {}; \
             refusals {:#?}; findings {}",
            self.histories,
            self.steps,
            self.tables,
            self.moments,
            self.rows,
            self.answers,
            self.moved,
            self.untold,
            self.refusals,
            self.findings.len()
        )
    }
}

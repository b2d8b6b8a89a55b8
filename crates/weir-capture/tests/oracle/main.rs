//! Logs that real servers write, beside what the test itself sent: random sessions whose strings look like a log's
//! lines, and logs that are renamed, emptied, copied and opened anew meanwhile.
//!
//! Each history is logged by the slow log and the general log at once, as files or as tables, and each kind is imported
//! from all of its files in no order. A difference is a finding, for which the history is made smaller and printed.
//! `WEIR_LOGS_SEED` and `WEIR_LOGS_SECONDS` say which histories and how long; `WEIR_TEST_SERVER` names another server, `WEIR_LOGS_SHOW`
//! a folder for the logs of the last finding.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![allow(
    clippy::print_stdout,
    reason = "its figures are what a long run is for"
)]

mod compare;
mod history;
mod reading;
mod subject;
mod texts;
mod truth;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weir_capture::{Literals, import_logs};
use weir_model::Flavor;
use weir_testing::{Random, shrink};

use compare::{Knowledge, differences};
use history::{History, Step};
use subject::{HistoryRecord, KINDS, Subject};

weir_testing::on_both_flavors! { a_log_is_what_was_sent }

/// Findings after which a run ends.
const FINDINGS_MAX: usize = 5;

fn a_log_is_what_was_sent(flavor: Flavor) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds = number("WEIR_LOGS_SECONDS");
    let seed = number("WEIR_LOGS_SEED").unwrap_or_else(|| {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        seconds.map_or(1, |_| since.as_secs())
    });
    println!("{flavor:?}: WEIR_LOGS_SEED={seed}");
    let mut run = Run {
        subject: Subject::start(flavor),
        histories: 0,
        statements: 0,
        sources: BTreeMap::new(),
        findings: Vec::new(),
    };
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // MariaDB's log has seconds, for which its histories wait.
    let few = if flavor == Flavor::Mysql { 12 } else { 3 };
    for seed in seed.. {
        let is_enough = match end {
            Some(end) => Instant::now() > end,
            None => run.histories >= few,
        };
        if is_enough || run.findings.len() >= FINDINGS_MAX {
            break;
        }
        run.try_history(seed);
    }
    println!(
        "{flavor:?}: {} histories, {} statements, sources {:?}, {} findings",
        run.histories,
        run.statements,
        run.sources,
        run.findings.len()
    );
    assert!(
        run.findings.is_empty(),
        "{} findings, printed above",
        run.findings.len()
    );
    assert!(run.statements > 50, "only {} statements", run.statements);
}

/// A run and its figures.
struct Run {
    subject: Subject,
    histories: usize,
    statements: usize,
    sources: BTreeMap<&'static str, usize>,
    findings: Vec<String>,
}

impl Run {
    fn try_history(&mut self, seed: u64) {
        let history = History::random(self.subject.flavor, &mut Random::new(seed));
        let Some(first) = self.ask(&history) else {
            return;
        };
        println!("seed {seed}: {first:.600}");
        let kind = |finding: &str| finding.split([':', ';', ',']).next().map(str::to_owned);
        let steps = shrink(history.steps.clone(), &mut |steps: &[Step]| {
            let smaller = History {
                steps: steps.to_vec(),
                ..history.clone()
            };
            self.ask(&smaller)
                .is_some_and(|found| kind(&found) == kind(&first))
        });
        let smaller = History { steps, ..history };
        let found = self.ask(&smaller).unwrap_or(first);
        let finding = format!("seed {seed}: {found:.3000}\n{}", smaller.script());
        println!("{finding}");
        self.findings.push(finding);
    }

    /// Lets a history happen; the first difference.
    fn ask(&mut self, history: &History) -> Option<String> {
        self.histories += 1;
        let lived = self.subject.live(history, self.histories);
        self.statements += lived
            .sessions
            .iter()
            .map(|session| session.sent.len())
            .sum::<usize>();
        (0..KINDS.len()).find_map(|kind| self.look(history, &lived, kind))
    }

    /// Imports the logs of a kind and compares.
    fn look(&mut self, history: &History, lived: &HistoryRecord, kind: usize) -> Option<String> {
        let logs: &[PathBuf] = &lived.logs[kind];
        let to = logs[0].with_extension("weircap");
        let imported = match import_logs(logs, None, &to, Literals::Keep) {
            Ok(imported) => imported,
            // Nobody has sent anything.
            Err(_) if lived.sessions.iter().all(|session| session.sent.is_empty()) => return None,
            Err(error) => return Some(format!("{}: {error}", KINDS[kind].0)),
        };
        let source = imported.head.source;
        *self.sources.entry(source.name()).or_default() += 1;
        let knowledge = Knowledge::new(source, self.subject.flavor, history.is_table);
        let captured = reading::sessions(&to);
        let found = differences(&knowledge, &lived.sessions, &captured, &imported);
        let first = found.into_iter().next()?;
        if let Some(folder) = std::env::var_os("WEIR_LOGS_SHOW") {
            for log in logs {
                std::fs::copy(log, Path::new(&folder).join(log.file_name().unwrap())).unwrap();
            }
        }
        Some(format!("{first} [{}]", KINDS[kind].0))
    }
}

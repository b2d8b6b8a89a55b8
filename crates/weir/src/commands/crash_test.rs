//! `weir crash-test`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use weir_crash::{
    CrashError, CrashTest, Cut, DataStorage, DeviceRules, Progress, Setting, Shape, StateResult,
    TestOptions, TornPage, Verdict, cuts_in_words, replay_state, shows_rules,
};
use weir_drive::powercut::PowercutVerdict;
use weir_model::variables::FLUSH_METHOD;
use weir_model::{Atomicity, Doublewrite, PAGE_SIZE_DEFAULT, ServerVariables};

use crate::cli::{CrashReplayArguments, CrashTestArguments, CrashTestCommand};
use crate::commands::study_file::clock_seed;
use crate::{Outcome, interrupt, output};

/// Default directory of tests: memory, so that recoveries take seconds.
const MEMORY: &str = "/dev/shm";
const TABLES: u32 = 4;

pub(crate) fn execute(command: &CrashTestCommand) -> anyhow::Result<Outcome> {
    match command {
        CrashTestCommand::Run(arguments) => run(arguments),
        CrashTestCommand::Replay(arguments) => replay(arguments),
        CrashTestCommand::Inspect(arguments) => inspect(&arguments.path, arguments.json),
    }
}

fn run(arguments: &CrashTestArguments) -> anyhow::Result<Outcome> {
    let options = options(arguments)?;
    let cuts = arguments
        .powercut
        .as_deref()
        .map(PowercutVerdict::read)
        .transpose()?;
    let stop = interrupt::stop_flag()?;
    eprintln!(
        "crash test of {} {} on {}, doublewrite {}, seed {}",
        options.server.flavor,
        options.server.version,
        options.drive.name,
        options.doublewrite,
        options.seed
    );
    let mut view = View::new();
    let test = weir_crash::test(&options, stop, &mut |progress| view.show(&progress));
    drop(view);
    if test.is_err() && options.has_recording() {
        eprintln!(
            "the recording is kept in {}; the same command with --out and --seed {} goes on from it",
            options.out.display(),
            options.seed
        );
    }
    let test = match test {
        Err(CrashError::Stopped) if stop.load(Ordering::SeqCst) => {
            eprintln!("stopped: no verdict");
            return Ok(Outcome::Stopped);
        }
        test => test?,
    };
    if arguments.json {
        output::line(serde_json::to_string_pretty(&test)?)?;
    } else {
        print(&test, &options.out)?;
        if let Some(cuts) = &cuts {
            output::line(on_real_storage(&test, cuts))?;
        }
        for_a_study(&test, &options)?;
    }
    Ok(match test.verdict {
        Verdict::Held { .. } => Outcome::Done,
        Verdict::Failed { .. } => Outcome::Failed,
        Verdict::Blind => Outcome::Invalid,
    })
}

fn options(arguments: &CrashTestArguments) -> anyhow::Result<TestOptions> {
    let servers = weir_server::find(None)?;
    let server = match arguments.server.parse() {
        Ok(flavor) => weir_server::choose(&servers, flavor)?.clone(),
        Err(_) => weir_server::ServerBinary::at(Path::new(&arguments.server))?,
    };
    let drive = weir_drive::profiles::load(&arguments.drive, None)?;
    let seed = arguments.seed.unwrap_or_else(clock_seed);
    let mut rules = DeviceRules::for_profile(&drive);
    if let Some(cache) = arguments.cache {
        rules.cache = cache.into();
    }
    if let Some(unit) = arguments.atomic {
        rules.atomicity = Atomicity {
            unit,
            ..Atomicity::default()
        };
    }
    let variables = arguments.set.iter().map(|pair| setting(pair));
    let out = arguments.out.clone().unwrap_or_else(default_folder);
    Ok(TestOptions {
        server,
        drive,
        cut: arguments.cut.into(),
        rules,
        doublewrite: arguments.doublewrite.to_ascii_uppercase(),
        flush_log_at_trx_commit: arguments.flush_log_at_trx_commit,
        variables: variables.collect::<anyhow::Result<_>>()?,
        shape: Shape {
            tables: TABLES,
            rows: arguments.rows,
            clients: arguments.clients,
            warehouses: arguments.order_entry.unwrap_or(0),
        },
        states: arguments.states,
        seed,
        duration: Duration::from_secs(arguments.seconds),
        recording_limit: arguments.recording_limit,
        all: arguments.all,
        out: std::path::absolute(&out)
            .with_context(|| format!("no such place: {}", out.display()))?,
        work: work(arguments.work.as_deref()),
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
    })
}

fn work(asked: Option<&Path>) -> PathBuf {
    asked.unwrap_or(Path::new(MEMORY)).to_owned()
}

/// `NAME=VALUE`.
fn setting(pair: &str) -> anyhow::Result<(String, String)> {
    match pair.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => bail!("--set {pair}: no value; write --set NAME=VALUE"),
    }
}

fn default_folder() -> PathBuf {
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S");
    Path::new("results").join(format!("crash-test-{now}"))
}

fn inspect(path: &Path, json: bool) -> anyhow::Result<Outcome> {
    let ground = DataStorage::below(path, None)?;
    if json {
        output::line(serde_json::to_string_pretty(&ground)?)?;
    } else {
        output::line(format_args!("storage of {}", path.display()))?;
        for line in ground.lines(PAGE_SIZE_DEFAULT) {
            output::line(format_args!("  {line}"))?;
        }
    }
    Ok(Outcome::Done)
}

fn replay(arguments: &CrashReplayArguments) -> anyhow::Result<Outcome> {
    let (folder, number) = (&arguments.test, arguments.state);
    let which = if arguments.control {
        "control"
    } else {
        "state"
    };
    let target = folder.join(format!("{which}-{number}"));
    if target.exists() {
        bail!(
            "{} exists already; remove it to make the state again",
            target.display()
        );
    }
    let stop = interrupt::stop_flag()?;
    let which = (arguments.control, number);
    let replayed = replay_state(
        folder,
        which,
        &work(arguments.work.as_deref()),
        &target,
        stop,
    );
    if let Err(CrashError::Stopped) = replayed {
        return Ok(Outcome::Stopped);
    }
    let (again, before) = replayed?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&again)?)?;
        return Ok(Outcome::Done);
    }
    describe(&again)?;
    output::line(match before {
        Some(before) if before.digest == again.digest => {
            format!("the same bytes as in the test: {:08x}", again.digest)
        }
        Some(before) => format!(
            "NOT the bytes of the test: {:08x}, then {:08x}",
            again.digest, before.digest
        ),
        None => format!("the test had ended before this state: {:08x}", again.digest),
    })?;
    output::line(format_args!(
        "the state before its recovery: {}",
        target.display()
    ))?;
    Ok(Outcome::Done)
}

fn print(test: &CrashTest, folder: &Path) -> anyhow::Result<()> {
    let tally = &test.tally;
    let judged = tally.damaged.of;
    output::line(format_args!(
        "{} commits acknowledged, {} events recorded, {judged} crash states judged, {} with torn pages",
        test.commits, test.events, tally.torn
    ))?;
    if test.order_entry_transactions > 0 {
        output::line(format_args!(
            "{} transactions of order entry recorded; its twelve conditions were checked in each state that recovered",
            test.order_entry_transactions
        ))?;
    }
    for (moment, (states, damaged)) in &tally.by_moment {
        output::line(format_args!(
            "  {:34} {states:5} states, {damaged} damaged",
            moment.name()
        ))?;
    }
    output::line(format_args!(
        "{} points of the recording; of {} of them every possible outcome; {:.0} states a minute",
        tally.places,
        tally.places_exhausted,
        f64::from(judged) * 60.0 / test.judging_s
    ))?;
    let recoveries = tally.recovery.iter();
    let recoveries: Vec<_> = recoveries
        .map(|(outcome, states)| format!("{outcome} {states}"))
        .collect();
    output::line(format_args!("recovery: {}", recoveries.join(", ")))?;
    output::line(match &test.control {
        Some(control) => format!(
            "positive control (no atomicity, doublewrite OFF): {} of {} states damaged",
            control.damaged.states, control.damaged.of
        ),
        None => "positive control: this test is its own".to_owned(),
    })?;
    if let Some(first) = test.setting.own_complaints.first() {
        output::line(format_args!(
            "without any cut CHECK TABLE has {} complaints of this database, which are not held against a state: {first}",
            test.setting.own_complaints.len()
        ))?;
    }
    if tally.with_garbage > 0 {
        output::line(format_args!(
            "{} of {judged} states have records that are marked as deleted and were never removed: garbage, which no query \
             sees and MariaDB warns of",
            tally.with_garbage
        ))?;
    }
    if tally.commits_lost.states > 0 {
        output::line(format_args!(
            "{} of {judged} states lost acknowledged commits",
            tally.commits_lost.states
        ))?;
    }
    verdict(test, folder)
}

/// Prints the lines that a study quotes of a test that shows pages whole without doublewrite (rules
/// R2 and R3).
fn for_a_study(test: &CrashTest, options: &TestOptions) -> anyhow::Result<()> {
    let setting = &test.setting;
    let said = ServerVariables::said(setting.flavor, &setting.said);
    let Verdict::Held { states, .. } = test.verdict else {
        return Ok(());
    };
    let counts = test.tally.commits_lost.states == 0
        && said.doublewrite() == Some(Doublewrite::Off)
        && options.rules == DeviceRules::for_profile(&options.drive)
        && options.cut == Cut::Power;
    if !counts {
        return Ok(());
    }
    output::line(format_args!(
        "for a study that relies on it:\n[[crash_tests]]\ndrive = \"{}\"\nserver = \"{} {}\"\npage = \"{}\"\n\
         flush_method = \"{}\"\natomic = \"{}\"\nstates = {states}\nlost = 0\nsource = \"{}\"",
        options.drive.name,
        setting.flavor,
        setting.version,
        said.page_size(),
        said.get(FLUSH_METHOD).unwrap_or_default(),
        setting.rules.atomicity.unit,
        options.out.join("crash-test.json").display()
    ))
}

fn verdict(test: &CrashTest, folder: &Path) -> anyhow::Result<()> {
    told(test, folder)?;
    if let Verdict::Held { .. } = test.verdict {
        let Setting { drive, rules, .. } = &test.setting;
        output::line(format_args!(
            "proves: this server with these settings, on storage that keeps the rules of the emulated \
             {drive} (writes of {} untorn, {}). Of a real drive of that name it says nothing",
            rules.atomicity.unit,
            rules.cache.words()
        ))?;
    }
    Ok(())
}

/// Returns the sentence on a device that was cut: if its cuts show the rules that the test assumed.
fn on_real_storage(test: &CrashTest, cuts: &PowercutVerdict) -> String {
    let page = ServerVariables::said(test.setting.flavor, &test.setting.said).page_size();
    let against = shows_rules(cuts, &test.setting.rules, page);
    let said = cuts_in_words(cuts, page);
    if against.is_empty() {
        return format!(
            "on real storage: {said}. They show the rules of this test, on that device and file system"
        );
    }
    format!(
        "on real storage: {said}. They do not show the rules of this test ({})",
        against.join("; ")
    )
}

fn told(test: &CrashTest, folder: &Path) -> anyhow::Result<()> {
    match test.verdict {
        Verdict::Held { states, at_most } if test.tally.commits_lost.states > 0 => {
            output::line(format_args!(
                "verdict: held. 0 of {states} crash states are damaged: with 95 % confidence fewer than {:.2} % are; lost \
                 commits, which this innodb_flush_log_at_trx_commit allows, are not held against it",
                at_most * 100.0
            ))
        }
        Verdict::Held { states, at_most } => output::line(format_args!(
            "verdict: held. 0 of {states} crash states lost anything: with 95 % confidence fewer than {:.2} % do",
            at_most * 100.0
        )),
        Verdict::Failed {
            state,
            failed: count,
        } => {
            let failed = test.states.iter().find(|found| found.state == state);
            output::line(format_args!(
                "verdict: FAILED. {count} of {} crash states are damaged; the first:",
                test.tally.damaged.of
            ))?;
            if let Some(failed) = failed {
                describe(failed)?;
            }
            output::line(format_args!(
                "replay it: weir crash-test replay {} --state {state}",
                folder.display()
            ))
        }
        Verdict::Blind => output::line(
            "verdict: inconclusive. The positive control found no damage, so this test could not have found any; let it run longer (--seconds) or judge more states (--states)",
        ),
    }
}

/// One state in words.
fn describe(result: &StateResult) -> anyhow::Result<()> {
    let (truth, judgement) = (&result.truth, &result.judgement);
    output::line(format_args!(
        "state {}, {} (event {}): {} undecided writes, {} pages torn, {} stale, {} lost",
        result.state,
        result.moment.name(),
        result.position,
        truth.undecided,
        truth.torn_pages.len(),
        truth.stale_pages,
        truth.lost_pages
    ))?;
    let listed = truth.torn_pages.iter().flat_map(describe_torn);
    let recovery = match &judgement.recovery {
        weir_crash::Recovery::Clean => "recovery: clean".to_owned(),
        weir_crash::Recovery::Refused(words) => format!("recovery: refused: {words}"),
        weir_crash::Recovery::Crashed(words) => format!("recovery: crashed: {words}"),
        weir_crash::Recovery::Hung(words) => format!("recovery: hung: {words}"),
    };
    let lost = judgement.ledger.commits_lost;
    let lines = listed
        .chain([recovery])
        .chain(
            judgement
                .check_table
                .iter()
                .map(|line| format!("CHECK TABLE: {line}")),
        )
        .chain(
            judgement
                .damaged_pages
                .iter()
                .map(|line| format!("checksum: {line}")),
        )
        .chain((lost > 0).then(|| format!("ledger: {lost} acknowledged commits are gone")))
        .chain(
            judgement
                .ledger
                .differences
                .iter()
                .map(|line| format!("ledger: {line}")),
        )
        .chain(
            judgement
                .broken_conditions
                .iter()
                .map(|line| format!("order entry: {line}")),
        );
    for line in lines {
        output::line(format_args!("  {line}"))?;
    }
    Ok(())
}

/// A torn page, what recovery had to repair it from, and whether it took the right copy.
fn describe_torn(page: &TornPage) -> Vec<String> {
    let mut lines = vec![format!("torn by the cut: {page}")];
    lines.extend(page.copies.iter().map(|copy| {
        format!(
            "  its copy in {}, place {}: LSN {}, {}",
            copy.file.display(),
            copy.place,
            copy.lsn,
            if copy.is_whole { "whole" } else { "damaged" }
        )
    }));
    if let Some((taken, newest)) = page.older_copy_taken() {
        lines.push(format!(
            "  the server restored it from an older copy (LSN {}) although there is one of LSN {}",
            taken.lsn, newest.lsn
        ));
    }
    if let Some(copy) = page.copy_not_taken() {
        lines.push(format!(
            "  the server left it torn although its copy of LSN {} is whole",
            copy.lsn
        ));
    }
    lines
}

/// Progress: a bar on a terminal, else a line per step.
struct View {
    bar: Option<ProgressBar>,
    judged: u32,
    failed: u32,
}

impl View {
    fn new() -> Self {
        Self {
            bar: std::io::stderr()
                .is_terminal()
                .then(ProgressBar::new_spinner),
            judged: 0,
            failed: 0,
        }
    }

    fn show(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Recording(duration) => {
                self.line(&format!(
                    "recording: clients write for {} s",
                    duration.as_secs()
                ));
            }
            Progress::Recorded(recorded) => self.line(&format!(
                "recorded: {} events, {} commits acknowledged",
                recorded.recording.event_count(),
                recorded.ledger.acknowledged()
            )),
            Progress::Control => {
                (self.judged, self.failed) = (0, 0);
                self.line("positive control: the same drive without atomicity, doublewrite OFF");
            }
            Progress::Judged(result, of) => self.judged(result, *of),
        }
    }

    fn judged(&mut self, result: &StateResult, of: u32) {
        self.judged += 1;
        self.failed += u32::from(result.judgement.is_damaged());
        let (judged, failed) = (self.judged, self.failed);
        if let Some(bar) = &self.bar {
            bar.set_style(
                ProgressStyle::with_template("{wide_bar} {pos}/{len} states, {msg}, {eta} left")
                    .expect("invariant: the template is a constant"),
            );
            bar.set_length(of.into());
            bar.set_position(judged.into());
            bar.set_message(format!("{failed} damaged"));
        } else if judged.is_multiple_of(50) {
            eprintln!("{judged} of {of} states judged, {failed} damaged");
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

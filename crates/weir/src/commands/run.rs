//! `weir run`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use weir_model::{Finding, JudgedResult, Plan, Provenance, RuleId, Severity, Verdict};
use weir_mysql::ClientConfig;
use weir_run::{RunError, RunOptions, RunOutcome, UserPermissions};
use weir_store::progress::{Event, Progress, ProgressFile};
use weir_study::Overrides;

use crate::cli::{Cli, RunArguments};
use crate::commands::{external_server, init, report, study_file};
use crate::progress::StudyView;
use crate::{Outcome, interrupt, output};

/// Shortest time between two lines on the loading of rows.
const TELL_INTERVAL: Duration = Duration::from_millis(500);

pub(crate) fn execute(arguments: &RunArguments) -> anyhow::Result<Outcome> {
    let study = match &arguments.study {
        Some(study) => study.clone(),
        None => match init::offer()? {
            Some(study) => study,
            None => Cli::no_study(),
        },
    };
    let stop = interrupt::stop_flag()?;
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => default_folder(&study),
    };
    let overrides = Overrides {
        server: arguments.server.clone(),
        seed: seed(arguments, &out),
    };
    let text = study_file::read(&study, arguments.reduced)?;
    let plan = study_file::resolve(&study, &text, &overrides)?;
    let options = options(arguments, out, text)?;
    let out = &options.out;
    if arguments.dry_run {
        for line in weir_run::rehearse(&plan, &options)? {
            output::line(line)?;
        }
        eprintln!("nothing was changed");
        return Ok(Outcome::Done);
    }
    run_and_print(&plan, &options, stop, |outcome| {
        if arguments.json {
            return Ok(weir_report::json(&outcome.result)? + "\n");
        }
        let verdicts = weir_report::terminal(&outcome.result, output::is_colored());
        Ok(verdicts + &places(outcome, out))
    })
}

/// Runs `plan`, writes the report beside the result, and prints `words` of the result.
pub(super) fn run_and_print(
    plan: &Plan,
    options: &RunOptions,
    stop: &AtomicBool,
    words: impl FnOnce(&RunOutcome) -> anyhow::Result<String>,
) -> anyhow::Result<Outcome> {
    let out = &options.out;
    if let Some(line) = study_file::validation_line(plan) {
        eprintln!("{line}");
    }
    eprintln!("{}: {}, seed {}", plan.title, extent(plan), plan.seed);
    if let Some(line) = study_file::flush_line(plan) {
        eprintln!("{line}");
    }
    let outcome = match watched(plan, options, stop) {
        Err(error @ RunError::Interrupted) => {
            eprintln!("{error}");
            return Ok(Outcome::Stopped);
        }
        outcome => outcome.map_err(|error| kept(error, out))?,
    };
    for remark in &outcome.remarks {
        eprintln!("note: {remark}");
    }
    let page = out.join("report.html");
    report::write(&page, weir_report::html(&outcome.result)?.as_bytes())?;
    output::text(words(&outcome)?)?;
    Ok(conclude(&outcome, out, stop.load(Ordering::SeqCst)))
}

/// The plan of a study that this command has written, and its text.
pub(super) fn plan_of_written(path: &Path) -> anyhow::Result<(Plan, String)> {
    let text = study_file::read(path, false)?;
    let overrides = Overrides {
        server: None,
        seed: study_file::clock_seed(),
    };
    Ok((study_file::resolve(path, &text, &overrides)?, text))
}

/// Runs the study at `path`, which this command has written, on private servers; the result is in `out`.
pub(super) fn run_written(
    (path, out): (&Path, &Path),
    work: Option<PathBuf>,
    stop: &AtomicBool,
    words: impl FnOnce(&RunOutcome) -> anyhow::Result<String>,
) -> anyhow::Result<Outcome> {
    let (plan, text) = plan_of_written(path)?;
    let options = RunOptions {
        out: out.to_owned(),
        resume: false,
        work,
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
        below_floor: false,
        allowed: UserPermissions::default(),
        client: ClientConfig::default(),
        provenance: provenance(text),
    };
    run_and_print(&plan, &options, stop, words)
}

/// The seed of the study's order of runs.
fn seed(arguments: &RunArguments, out: &Path) -> u64 {
    // A resumed study keeps its seed, so that the runs that are left are those that were planned.
    let stored = if arguments.resume {
        weir_judge::read_evidence(out).ok()
    } else {
        None
    };
    stored.map_or_else(study_file::clock_seed, |result| result.plan.seed)
}

/// Returns the options for the study of the file `text`, with its results in `out`.
fn options(arguments: &RunArguments, out: PathBuf, text: String) -> anyhow::Result<RunOptions> {
    Ok(RunOptions {
        out,
        resume: arguments.resume,
        work: arguments.work.clone(),
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
        below_floor: arguments.below_floor,
        allowed: UserPermissions {
            config: arguments.allow_config,
            replica: arguments.allow_replica,
            note_to: arguments.note_to.clone(),
        },
        client: external_server::client_config(arguments.ask_password)?,
        provenance: provenance(text),
    })
}

/// Returns the outcome of the command; prints first which runs are missing, and how they are made.
fn conclude(outcome: &RunOutcome, out: &Path, is_stopped: bool) -> Outcome {
    if let Some(first) = outcome.failed.first() {
        eprintln!(
            "{} runs failed and are not in the result ({first}); to make them again, {}",
            outcome.failed.len(),
            go_on(out)
        );
    }
    if outcome.stopped || is_stopped {
        let done = outcome.result.evidence.runs.len();
        eprintln!("stopped: {done} complete runs are kept, {}", go_on(out));
        return Outcome::Stopped;
    }
    if !outcome.failed.is_empty() {
        return Outcome::Failed;
    }
    of_verdicts(&outcome.result)
}

/// Files of the outcome.
pub(super) fn places(outcome: &RunOutcome, out: &Path) -> String {
    let page = out.join("report.html");
    format!(
        "\nreport: {}\nresult: {}\n",
        page.display(),
        outcome.file.display()
    )
}

/// Runs `plan`, with its progress on the terminal and in the file beside the result.
pub(crate) fn watched(
    plan: &Plan,
    options: &RunOptions,
    stop: &AtomicBool,
) -> Result<RunOutcome, RunError> {
    let mut progress = Progress::new(plan);
    let file = ProgressFile::create(&options.out, &progress)?;
    let mut view = StudyView::new();
    let mut told = Instant::now();
    weir_run::run(plan, options, stop, &mut |event| {
        progress.observe(plan, event);
        view.show(event, &progress);
        // Rows are loaded in thousands of steps, which need no line each.
        if !matches!(event, Event::Loading { .. }) || told.elapsed() >= TELL_INTERVAL {
            told = Instant::now();
            // A full disk ends the study where its result is written, with a reason, not here.
            let _ = file.write(&progress);
        }
    })
}

/// The outcome, if no run of it failed.
pub(crate) fn whole(outcome: RunOutcome) -> anyhow::Result<RunOutcome> {
    match outcome.failed.first() {
        Some(why) => anyhow::bail!("{why}"),
        None => Ok(outcome),
    }
}

/// Returns the amount of work, as far as it is known.
fn extent(plan: &Plan) -> String {
    if let Some(search) = &plan.search {
        let place = match plan.cells.len() {
            1 => String::new(),
            cells => format!(" in each of {cells} combinations"),
        };
        return format!("a search over {}{place}", search.factor);
    }
    let runs = plan.runs.len();
    if let Some(screen) = &plan.screen {
        let factors = screen.candidates.len();
        return format!("a screen of {factors} factors in {runs} runs, and what wins anew");
    }
    match plan.repeat.until {
        Some(_) => format!("{runs} runs or more, in random order"),
        None => format!("{runs} runs in random order"),
    }
}

/// Returns the provenance for the result.
pub(super) fn provenance(study_file: String) -> Provenance {
    Provenance {
        study_file,
        weir_commit: env!("WEIR_COMMIT").to_owned(),
        command: std::env::args().collect(),
    }
}

/// `results/STUDY-DATE-TIME`, in the present directory.
pub(super) fn default_folder(study: &Path) -> PathBuf {
    let name = study.file_stem().unwrap_or_default().to_string_lossy();
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S");
    Path::new("results").join(format!("{name}-{now}"))
}

/// Tells that the runs before a failure are not lost, unless the failure is about them.
fn kept(error: RunError, out: &Path) -> anyhow::Error {
    let runs = weir_judge::read_evidence(out).map_or(0, |result| result.runs.len());
    if runs == 0 || matches!(error, RunError::Store(_) | RunError::OtherPlan { .. }) {
        return error.into();
    }
    anyhow::anyhow!("{error}; {runs} complete runs are kept, {}", go_on(out))
}

/// Returns the command by which a study that stopped goes on.
pub(crate) fn go_on(out: &Path) -> String {
    format!(
        "go on with the same command, --out {} and --resume",
        out.display()
    )
}

fn of_verdicts(result: &JudgedResult) -> Outcome {
    let comparisons = || result.comparisons.iter();
    // An event that was refused also spoils a study that compares nothing.
    let is_refused =
        |finding: &Finding| finding.rule == RuleId::R20 && finding.severity == Severity::Error;
    if comparisons().any(|comparison| comparison.verdict == Verdict::Invalid)
        || result.findings.iter().any(is_refused)
    {
        Outcome::Invalid
    } else {
        Outcome::Done
    }
}

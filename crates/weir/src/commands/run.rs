//! `weir run`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::Context;
use weir_model::{StudyResult, Verdict};
use weir_study::{Overrides, RunOptions};

use crate::cli::RunArguments;
use crate::commands::{report, study_file};
use crate::progress::Progress;
use crate::{Outcome, interrupt, output};

pub(crate) fn execute(arguments: &RunArguments) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => default_folder(&arguments.study),
    };
    // A resumed study keeps its seed, so that the runs that are left are those that were planned.
    let stored = if arguments.resume {
        weir_study::read_result(&out).ok()
    } else {
        None
    };
    let seed = stored.map_or_else(study_file::clock_seed, |result| result.plan.seed);
    let overrides = Overrides {
        server: arguments.server.clone(),
        seed,
    };
    let plan = study_file::resolve(&arguments.study, &overrides)?;
    let options = RunOptions {
        out: out.clone(),
        resume: arguments.resume,
        work: arguments.work.clone(),
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
        below_floor: arguments.below_floor,
    };
    eprintln!(
        "{}: {} runs in random order, seed {}",
        plan.title,
        plan.runs.len(),
        plan.seed
    );
    let mut progress = Progress::new(&plan);
    let outcome = weir_study::run(&plan, &options, stop, &mut |event| progress.show(event));
    drop(progress);
    let outcome = outcome.map_err(|error| kept(error, &out))?;
    let page = out.join("report.html");
    report::write(&page, &weir_report::html(&outcome.result)?)?;
    if arguments.json {
        output::line(weir_report::json(&outcome.result)?)?;
    } else {
        output::text(weir_report::terminal(&outcome.result))?;
        output::line(format_args!("\nreport: {}", page.display()))?;
        output::line(format_args!("result: {}", outcome.file.display()))?;
    }
    if outcome.stopped || stop.load(Ordering::SeqCst) {
        let done = outcome.result.runs.len();
        eprintln!(
            "stopped: {done} of {} runs are kept; go on with weir run {} --out {} --resume",
            plan.runs.len(),
            arguments.study.display(),
            out.display()
        );
        return Ok(Outcome::Stopped);
    }
    Ok(of_verdicts(&outcome.result))
}

/// `results/STUDY-DATE-TIME`, in the present directory.
fn default_folder(study: &Path) -> PathBuf {
    let name = study.file_stem().unwrap_or_default().to_string_lossy();
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S");
    Path::new("results").join(format!("{name}-{now}"))
}

/// Tells that the runs before a failure are not lost.
fn kept(error: weir_study::StudyError, out: &Path) -> anyhow::Error {
    let runs = weir_study::read_result(out).map_or(0, |result| result.runs.len());
    if runs == 0 {
        return error.into();
    }
    anyhow::anyhow!(
        "{error}; {runs} completed runs are kept, go on with --out {} --resume",
        out.display()
    )
}

fn of_verdicts(result: &StudyResult) -> Outcome {
    if result
        .comparisons
        .iter()
        .any(|comparison| comparison.verdict == Verdict::Invalid)
    {
        Outcome::Invalid
    } else {
        Outcome::Done
    }
}

//! `weir load`: sysbench's command line, its report on standard output.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_load::sysbench::{self, Command, Invocation, PASSWORD_VARIABLE, Surroundings};
use weir_load::{LoadError, Progress};

use crate::cli::LoadArguments;
use crate::{Outcome, interrupt, output, password};

/// The user's option file, as MySQL's programs have it.
const OPTION_FILE: &str = ".my.cnf";
/// sysbench's reports are notices; below this level they are not printed.
const NOTICE: u32 = 3;
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn execute(arguments: &LoadArguments) -> anyhow::Result<Outcome> {
    let surroundings = Surroundings {
        password: std::env::var(PASSWORD_VARIABLE).ok(),
        // sysbench reads none: its scripts must not log in as somebody else.
        option_file: std::env::var_os("HOME")
            .filter(|_| !arguments.is_drop_in)
            .map(|home| PathBuf::from(home).join(OPTION_FILE)),
    };
    let mut invocation = sysbench::parse(&arguments.arguments, &surroundings)?;
    for warning in &invocation.warnings {
        eprintln!("WARNING: {warning}");
    }
    let stop = interrupt::stop_flag_then_exit()?;
    if invocation.asks_for_password() {
        invocation.set_password(&password::ask()?);
    }
    match invocation.command {
        Command::Help => output::text(sysbench::help(invocation.compat, !arguments.is_drop_in))?,
        Command::Version => output::text(sysbench::version(invocation.compat, VERSION))?,
        Command::Prepare => prepare(&invocation, stop)?,
        Command::Run => run(&invocation, stop)?,
        Command::Cleanup => weir_load::cleanup(&invocation.plan.endpoint, invocation.plan.tables)?,
    }
    Ok(if stop.load(Ordering::SeqCst) {
        Outcome::Stopped
    } else {
        Outcome::Done
    })
}

fn prepare(invocation: &Invocation, stop: &AtomicBool) -> anyhow::Result<()> {
    let mut shown = 0;
    weir_load::prepare(&invocation.prepare, stop, &mut |done, total| {
        let percent = done * 100 / total.max(1);
        if percent >= shown + 10 {
            shown = percent;
            eprintln!("{done} of {total} rows");
        }
    })?;
    Ok(())
}

fn run(invocation: &Invocation, stop: &AtomicBool) -> anyhow::Result<()> {
    let report = |text: String| {
        if invocation.verbosity < NOTICE {
            return Ok(());
        }
        output::text(text)
    };
    report(sysbench::header(invocation, VERSION))?;
    // The first interval is the first sign of life: connections that are refused are not started.
    let mut is_started = false;
    let mut start = || {
        if is_started {
            return Ok(());
        }
        is_started = true;
        report(sysbench::THREADS_STARTED.to_owned())
    };
    let outcome = weir_load::run_observed(&invocation.plan, stop, &mut |progress| {
        let text = match progress {
            // sysbench is silent while it warms up.
            Progress::Interval(interval)
                if invocation.report_interval_s > 0 && interval.record.time_s > 0.0 =>
            {
                sysbench::interval_line(invocation, interval)
            }
            Progress::Interval(_) => String::new(),
            Progress::Checkpoint(totals) => sysbench::checkpoint_report(invocation, totals),
        };
        // A full disk shows again, as an error, when the report is written.
        let _ = start().and_then(|()| report(text));
    })?;
    start()?;
    report(sysbench::final_report(invocation, &outcome))?;
    report(sysbench::additions(invocation, &outcome))?;
    if let Some(note) = outcome.schedule_note() {
        eprintln!("note: {note}");
    }
    if !outcome.batch_scheduling {
        eprintln!("note: SCHED_BATCH was refused, so the load engine may slow the server down");
    }
    if outcome.unfinished > 0 {
        let unfinished = LoadError::Unfinished(outcome.unfinished);
        if invocation.forced_shutdown {
            return Err(unfinished.into());
        }
        eprintln!("note: {unfinished}");
    }
    Ok(())
}

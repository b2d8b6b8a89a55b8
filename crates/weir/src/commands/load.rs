//! `weir load`: sysbench's command line, its report on standard output.

use std::sync::atomic::{AtomicBool, Ordering};

use weir_load::sysbench::{self, Command, Invocation, PASSWORD_VARIABLE};

use crate::cli::LoadArguments;
use crate::{Outcome, interrupt, output};

pub(crate) fn execute(arguments: &LoadArguments) -> anyhow::Result<Outcome> {
    // A password on the command line is sysbench's way; the environment is the one that `ps` does
    // not show.
    let password = std::env::var(PASSWORD_VARIABLE).ok();
    let wants_help = ["", "help", "--help", "-h"].map(str::to_owned);
    if arguments
        .arguments
        .first()
        .is_none_or(|first| wants_help.contains(first))
    {
        output::text(sysbench::help())?;
        return Ok(Outcome::Done);
    }
    let invocation = sysbench::parse(&arguments.arguments, password.as_deref())?;
    let stop = interrupt::stop_flag()?;
    match invocation.command {
        Command::Help => output::text(sysbench::help())?,
        Command::Prepare => prepare(&invocation, stop)?,
        Command::Run => run(&invocation, stop)?,
        Command::Cleanup => weir_load::cleanup(&invocation.prepare)?,
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
    output::text(sysbench::header(invocation, env!("CARGO_PKG_VERSION")))?;
    let outcome = weir_load::run(&invocation.plan, stop, &mut |interval| {
        // sysbench is silent while it warms up.
        if invocation.report_interval_s > 0 && interval.record.time_s > 0.0 {
            // A full disk shows again, as an error, when the report is written.
            let _ = output::text(sysbench::interval_line(invocation, interval));
        }
    })?;
    output::text(sysbench::final_report(invocation, &outcome))?;
    output::text(sysbench::additions(invocation, &outcome))?;
    if let Some(note) = outcome.schedule_note() {
        eprintln!("note: {note}");
    }
    if !outcome.batch_scheduling {
        eprintln!("note: SCHED_BATCH was refused, so the load engine may slow the server down");
    }
    Ok(())
}

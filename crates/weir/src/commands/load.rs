//! `weir load`: sysbench's command line, its report on standard output.

mod agents;
mod check;
mod document;
#[cfg(feature = "lua")]
mod drop_in;
#[cfg(feature = "lua")]
mod help;
pub(crate) mod null_server;
mod profile;
mod recorder;
pub(crate) mod replay;
#[cfg(feature = "lua")]
mod script;
mod server_host;
#[cfg(not(feature = "lua"))]
mod without_lua;

use std::sync::atomic::{AtomicBool, Ordering};

use weir_load::{BinaryLog, LoadError, LoadOutcome, Progress};
use weir_model::IntervalRecord;
use weir_mysql::{ChangeLog, ClientConfig, Gate, Permissions};
use weir_sysbench::{Command, Form, Invocation};

use crate::cli::LoadArguments;
use crate::commands::external_server;
use crate::progress::LoadingProgress;
use crate::{Outcome, interrupt, output, password};
use recorder::Recorder;
#[cfg(not(feature = "lua"))]
use without_lua::{drop_in, script};

/// sysbench's reports are notices; below this level they are not printed.
const NOTICE: u32 = 3;
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn execute(arguments: &LoadArguments) -> anyhow::Result<Outcome> {
    if let Some((first, rest)) = arguments.arguments.split_first()
        && first == "null-server"
    {
        null_server::execute(rest, interrupt::stop_flag()?)?;
        return Ok(Outcome::Done);
    }
    if !arguments.is_drop_in && arguments.arguments == weir_script::PROCESS_WORDS[1..] {
        return script::serve();
    }
    let mut config = external_server::client_config(false)?;
    if let Some(words) = replay::capture_first(&arguments.arguments) {
        return replay::execute(&words, &config);
    }
    if arguments.is_drop_in {
        // sysbench reads no files: its scripts must log in as they do there.
        config = ClientConfig {
            password: config.password,
            ..ClientConfig::default()
        };
        return drop_in::execute(arguments, &config);
    }
    if let Some(line) =
        weir_sysbench::parse_script(&arguments.arguments, &config, weir_script::is_found)?
    {
        let (manner, stop) = (script::Manner::default(), interrupt::stop_flag_then_exit()?);
        return script::execute(line, &arguments.arguments, manner, stop);
    }
    let mut invocation = weir_sysbench::parse(&arguments.arguments, &config)?;
    for warning in &invocation.warnings {
        eprintln!("WARNING: {warning}");
    }
    let stop = interrupt::stop_flag_then_exit()?;
    if invocation.asks_password {
        invocation.set_password(&password::ask()?);
    }
    let gate = gate(&invocation);
    let done = command(&invocation, &gate, stop);
    external_server::tell_remarks(&gate);
    done?;
    external_server::tell_rehearsed(&gate)?;
    Ok(if stop.load(Ordering::SeqCst) {
        Outcome::Stopped
    } else {
        Outcome::Done
    })
}

fn command(invocation: &Invocation, gate: &Gate, stop: &AtomicBool) -> anyhow::Result<()> {
    match invocation.command {
        Command::Help => output::text(weir_sysbench::help(invocation.compat, true))?,
        Command::Version => output::text(weir_sysbench::version(invocation.compat, VERSION))?,
        Command::Prepare => prepare(invocation, gate, stop)?,
        Command::Prewarm => prewarm(invocation, &Gate::reading(), stop)?,
        Command::Run if invocation.dry_run => weir_load::rehearse_run(&invocation.plan, gate)?,
        Command::Run => {
            let words = Words {
                header: weir_sysbench::header(invocation, VERSION),
                tells_all: true,
            };
            run(invocation, gate, stop, &words).map_err(|failed| failed.error)?;
        }
        Command::Check => check::execute(&invocation.prepare, stop)?,
        Command::Cleanup => weir_load::cleanup(&invocation.prepare, gate)?,
    }
    Ok(())
}

/// Returns the permissions of a load on the server that it is given: to change tables of the schema
/// that is named.
fn gate(invocation: &Invocation) -> Gate {
    Gate::new(Permissions {
        schema: Some(invocation.plan.endpoint.database.clone()),
        skips_binary_log: invocation.prepare.binary_log == BinaryLog::Off,
        log: Some(ChangeLog::at(weir_server::change_log())),
        writes_replicas: invocation.allow_replica,
        is_rehearsal: invocation.dry_run,
        ..Permissions::default()
    })
}

fn prepare(invocation: &Invocation, gate: &Gate, stop: &AtomicBool) -> anyhow::Result<()> {
    let mut progress = LoadingProgress::new();
    agents::prepare(invocation, gate, stop, &mut |done, total| {
        progress.show(done, total);
    })
}

fn prewarm(invocation: &Invocation, gate: &Gate, stop: &AtomicBool) -> anyhow::Result<()> {
    weir_load::prewarm(&invocation.prepare, gate, stop, &|done, total| {
        eprintln!("{done} of {total} tables");
    })?;
    Ok(())
}

/// The texts of a run beside its numbers.
struct Words {
    /// Before the connections are made.
    header: String,
    /// Also what sysbench does not say.
    tells_all: bool,
}

/// A run without its numbers.
struct FailedRun {
    error: anyhow::Error,
    /// Transactions were made.
    #[cfg_attr(
        not(feature = "lua"),
        expect(dead_code, reason = "only the name sysbench asks")
    )]
    has_begun: bool,
}

fn run(
    invocation: &Invocation,
    gate: &Gate,
    stop: &AtomicBool,
    words: &Words,
) -> Result<(), FailedRun> {
    let mut has_begun = false;
    let done = measure(invocation, gate, stop, words, &mut has_begun);
    done.map_err(|error| FailedRun { error, has_begun })
}

fn measure(
    invocation: &Invocation,
    gate: &Gate,
    stop: &AtomicBool,
    words: &Words,
    has_begun: &mut bool,
) -> anyhow::Result<()> {
    let mut recorder = Recorder::open(invocation)?;
    report(invocation, words.header.clone())?;
    let mut intervals = Vec::new();
    // The first interval is the first sign of life: connections that are refused are not started.
    let mut start = || {
        if std::mem::replace(has_begun, true) {
            return Ok(());
        }
        report(invocation, weir_sysbench::THREADS_STARTED.to_owned())
    };
    let server_host = server_host::SampledHost::begin(invocation)?;
    let profiles = profile::Profiles::begin(invocation)?;
    let outcome = agents::run(invocation, gate, stop, &mut |progress| {
        if !matches!(progress, Progress::Warning(_) | Progress::Began(_)) {
            // A full disk ends the command with an error in the end.
            let _ = start();
        }
        match progress {
            Progress::Warning(warning) if words.tells_all => eprintln!("WARNING: {warning}"),
            Progress::Began(measured_from) => profiles.begin_at(measured_from),
            Progress::Warning(_) => {}
            Progress::Interval(interval) => {
                if is_json(invocation) {
                    intervals.push(interval.record);
                }
                // sysbench is silent while it warms up.
                if invocation.report_interval_s > 0 && interval.record.time_s > 0.0 {
                    let line = weir_sysbench::interval_line(invocation, interval);
                    let _ = report(invocation, line);
                }
                recorder.interval(interval);
            }
            Progress::Checkpoint(totals) => {
                let text = weir_sysbench::checkpoint_report(invocation, totals);
                let _ = report(invocation, text);
            }
        }
    })?;
    let profiled = profiles.finish();
    start()?;
    recorder.completed(&outcome);
    report_outcome(invocation, words, &outcome, &intervals)?;
    if let Some(server_host) = server_host {
        server_host.tell(&outcome);
    }
    recorder.finish()?;
    profiled?;
    check_unfinished(invocation, words, &outcome)
}

fn is_json(invocation: &Invocation) -> bool {
    invocation.form == Form::Json
}

/// Prints a part of sysbench's report, which is text and a notice.
fn report(invocation: &Invocation, text: String) -> anyhow::Result<()> {
    if invocation.verbosity < NOTICE || is_json(invocation) {
        return Ok(());
    }
    output::text(text)
}

/// Prints the results of the whole run.
fn report_outcome(
    invocation: &Invocation,
    words: &Words,
    outcome: &LoadOutcome,
    intervals: &[IntervalRecord],
) -> anyhow::Result<()> {
    report(invocation, weir_sysbench::final_report(invocation, outcome))?;
    let additions = if words.tells_all {
        weir_sysbench::additions(invocation, outcome)
    } else {
        weir_sysbench::asked_additions(invocation, outcome)
    };
    report(invocation, additions)?;
    if is_json(invocation) {
        output::line(document::text(invocation, outcome, intervals)?)?;
    }
    if words.tells_all {
        note(outcome);
    }
    Ok(())
}

/// Transactions that did not end in time are an error only for who asked for a forced shutdown.
fn check_unfinished(
    invocation: &Invocation,
    words: &Words,
    outcome: &LoadOutcome,
) -> anyhow::Result<()> {
    if outcome.unfinished > 0 {
        let unfinished = LoadError::Unfinished(outcome.unfinished);
        if invocation.forced_shutdown {
            return Err(unfinished.into());
        }
        if words.tells_all {
            eprintln!("note: {unfinished}");
        }
    }
    Ok(())
}

/// Prints the facts about the load generator itself that have to be known.
fn note(outcome: &LoadOutcome) {
    let cpu_s: f64 = outcome.client_cpu_s.iter().sum();
    eprintln!(
        "load generator: {:.2} of a core, {:.2} us of CPU per query",
        cpu_s / outcome.measured_s.max(f64::MIN_POSITIVE),
        outcome.client_cpu_us_per_query()
    );
    let notes = [
        outcome.schedule_note(),
        outcome.client_note(),
        outcome.lateness_note(),
    ];
    for note in notes.into_iter().flatten() {
        eprintln!("note: {note}");
    }
    if !outcome.batch_scheduling {
        eprintln!("note: SCHED_BATCH was refused, so the load generator may slow the server down");
    }
}

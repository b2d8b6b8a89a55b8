//! The program under the name `sysbench`: stdout, stderr and exit code have sysbench's form. What Weir has to say
//! more it says with a `--verbosity` above the default.
//!
//! Native workloads load and run natively. All else that sysbench's tests do, also their refusals, is done by their
//! scripts: those of an installed sysbench, or Weir's own modules of the same names.

use std::sync::atomic::{AtomicBool, Ordering};

use weir_load::{LoadError, LoadingStep};
use weir_model::OrderEntryWorkload;
use weir_mysql::{ClientConfig, Gate};
use weir_sysbench::{Command, Compat, Form, Invocation, UsageError};

use super::script::{self, Manner};
use super::{FailedRun, NOTICE, Words, gate, help};
use crate::cli::LoadArguments;
use crate::{Outcome, interrupt, output, password};

/// Exit codes, as in sysbench: a failure, and a run that did not begin or end in time.
const FAILED: u8 = 1;
const NOT_IN_TIME: u8 = 2;
/// Words in the place of a test that are no native one under this name: a script may be called so.
const NO_NAMES: [&str; 4] = ["", "help", "-h", OrderEntryWorkload::NAME];

pub(super) fn execute(arguments: &LoadArguments, config: &ClientConfig) -> anyhow::Result<Outcome> {
    let done = act(&arguments.arguments, config);
    done.or_else(|error| refuse(&error))
}

/// Tells an error in sysbench's form.
fn refuse(error: &anyhow::Error) -> anyhow::Result<Outcome> {
    if let Some(usage) = error.downcast_ref::<UsageError>() {
        let refusal = weir_sysbench::refusal(usage);
        output::text(refusal.stdout)?;
        eprint!("{}", refusal.stderr);
        return Ok(Outcome::Code(FAILED));
    }
    let line = match error.downcast_ref() {
        Some(LoadError::InitTimeout { limit_s, .. }) => {
            format!("Worker threads failed to initialize within {limit_s} seconds!")
        }
        _ => weir_terminal::error_line(error),
    };
    output::line(format_args!("FATAL: {line}"))?;
    Ok(Outcome::Code(match error.downcast_ref() {
        Some(LoadError::InitTimeout { .. } | LoadError::Unfinished(_)) => NOT_IN_TIME,
        _ => FAILED,
    }))
}

fn act(words: &[String], config: &ClientConfig) -> anyhow::Result<Outcome> {
    let has = |name: &str| words.iter().any(|word| word == name);
    let native = weir_sysbench::parse(words, config);
    let compat = native
        .as_ref()
        .map_or_else(|_| Compat::default(), |line| line.compat);
    if has("--version") {
        output::line(format_args!(
            "sysbench {}",
            weir_sysbench::script_sees(compat)
        ))?;
        return Ok(Outcome::Done);
    }
    if has("--help") {
        output::text(help::of_program(compat))?;
        return Ok(Outcome::Done);
    }
    let stop = interrupt::stop_flag_then_exit()?;
    let mut plain = words.iter().filter(|word| !word.starts_with("--"));
    let name = plain.next().map_or("", String::as_str);
    let has_module = weir_sysbench::module_of(name).is_some();
    let asks_lua = words.iter().any(|word| word.starts_with("--lua-threads"));
    match native {
        Ok(line)
            if !NO_NAMES.contains(&name) && !asks_lua && is_native(&line, has_module, words) =>
        {
            natively(line, has_module, words, config, stop)
        }
        _ => by_script(words, config, Manner::of_drop_in(), stop),
    }
}

/// Returns true if a command of a native workload is done natively: sysbench's scripts do the rest.
fn is_native(line: &Invocation, has_module: bool, words: &[String]) -> bool {
    let is_warmup = words.last().is_some_and(|word| word == "warmup");
    !has_module || is_warmup || matches!(line.command, Command::Run | Command::Prepare)
}

fn by_script(
    words: &[String],
    config: &ClientConfig,
    manner: Manner,
    stop: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    let line = weir_sysbench::script_line(&arguments, config)?;
    script::execute(line, words, manner, stop)
}

fn natively(
    mut line: Invocation,
    has_module: bool,
    words: &[String],
    config: &ClientConfig,
    stop: &AtomicBool,
) -> anyhow::Result<Outcome> {
    for warning in &line.warnings {
        output::line(format_args!("WARNING: {warning}"))?;
    }
    line.warnings.clear();
    if line.asks_password {
        line.set_password(&password::ask()?);
    }
    let gate = gate(&line);
    match line.command {
        Command::Run if !line.dry_run => {
            let header = weir_sysbench::options_header(&line);
            let manner = Words {
                header: format!("{}{header}", version_line(&line)),
                tells_all: line.verbosity > NOTICE,
            };
            match super::run(&line, &gate, stop, &manner) {
                Ok(()) => {}
                Err(failed) if has_module && is_of_script(&failed, &line) => {
                    return by_script(words, config, Manner::after_header(), stop);
                }
                Err(failed) => return Err(failed.error),
            }
        }
        Command::Prepare if !line.dry_run => {
            let there = weir_load::existing_tables(&line.prepare, &gate);
            if has_module && there.map_or(true, |tables| !tables.is_empty()) {
                return by_script(words, config, Manner::of_drop_in(), stop);
            }
            prepare(&line, &gate, stop)?;
        }
        _ => super::command(&line, &gate, stop)?,
    }
    Ok(if stop.load(Ordering::SeqCst) {
        Outcome::Stopped
    } else {
        Outcome::Done
    })
}

fn version_line(line: &Invocation) -> String {
    weir_sysbench::script_version(line.compat, &weir_script::lua::luajit_version())
}

/// Returns true if sysbench's script has the words for a failure: a server that refuses, tables that are not as they
/// should be.
fn is_of_script(failed: &FailedRun, line: &Invocation) -> bool {
    let is_refusal = matches!(
        failed.error.downcast_ref(),
        Some(LoadError::Client(_) | LoadError::Table { .. } | LoadError::Limit { .. })
    );
    is_refusal && !failed.has_begun && line.form == Form::Report
}

fn prepare(line: &Invocation, gate: &Gate, stop: &AtomicBool) -> anyhow::Result<()> {
    let threads = line.prepare.threads;
    if line.verbosity >= NOTICE {
        output::text(version_line(line))?;
        if threads > 1 && !line.plan.workload.is_bulk() {
            output::text("Initializing worker threads...\n\n")?;
        }
    }
    let tell = |step: LoadingStep<'_>| {
        super::agents::tell_inserts(step);
        let text = match step {
            LoadingStep::Create(table) => format!("Creating table '{table}'...\n"),
            LoadingStep::Insert(table, rows) => {
                format!("Inserting {rows} records into '{table}'\n")
            }
            LoadingStep::Index(table) => format!("Creating a secondary index on '{table}'...\n"),
            LoadingStep::Inserts(_) => return,
        };
        // A full disk ends the command with an error in the end.
        let _ = output::text(text);
    };
    weir_load::prepare_observed(&line.prepare, gate, stop, &mut |_, _| {}, &tell)?;
    Ok(())
}

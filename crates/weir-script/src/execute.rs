//! A script from its first line to the program's exit code.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::lua::{CommandKind, Level, ScriptError, State, option_list};
use weir_load::LoadError;

use crate::file_arguments::with_files;
use crate::host::Part;
use crate::options::{self, takes_all, unknown};
use crate::run_end::RunEnd;
use crate::states::with_body;
use crate::world::{PROFILE, Report, ScriptPlan, World};
use crate::{hooks, parallel, run};

/// Does what the plan asks of its script; the program's exit code. Errors of the script have been said
/// by then. `stop`: the run is to end early.
///
/// # Errors
///
/// Settings that no load can have, and a host that gives no threads.
pub fn execute(
    plan: ScriptPlan,
    unknown_options: &[(String, Option<String>)],
    report: &dyn Report,
    stop: &AtomicBool,
) -> Result<u8, LoadError> {
    let world = Arc::new(World::new(plan, unknown_options)?);
    let code = match begin(&world, report, stop) {
        Ok(code) => code,
        Err(RunFailure::Script(error)) => {
            world.log.fatal(&error.to_string());
            1
        }
        Err(RunFailure::Usage(line)) => {
            world.log.remark(&line);
            1
        }
        Err(RunFailure::Load(error)) => return Err(error),
    };
    world.log.end();
    Ok(code)
}

enum RunFailure {
    Script(ScriptError),
    /// A command line that the script does not understand.
    Usage(String),
    Load(LoadError),
}

impl From<ScriptError> for RunFailure {
    fn from(error: ScriptError) -> Self {
        Self::Script(error)
    }
}

fn begin(world: &Arc<World>, report: &dyn Report, stop: &AtomicBool) -> Result<u8, RunFailure> {
    let global = with_body(world, 0, &Part::default())?;
    let Some(command) = world.plan.command.clone() else {
        return Ok(0);
    };
    if world.plan.script.path.is_empty() {
        // From standard input only the body is run.
        return Ok(0);
    }
    let declared = global.options()?;
    let unknown = unknown(&world.unknown, &declared);
    if let Some(option) = unknown.filter(|_| !takes_all(world, &declared)) {
        return Err(RunFailure::Usage(format!("invalid option: {option}")));
    }
    let usage = |error| match error {
        ScriptError::Value(line) => RunFailure::Usage(line),
        error => RunFailure::Script(error),
    };
    world.set_given(with_files(world, &declared).map_err(usage)?);
    options::fill(world, &global).map_err(usage)?;
    if let Some(kind) = global.command(&command) {
        return Ok(own_command(world, &global, &command, kind)?);
    }
    match command.as_str() {
        "run" => run_command(world, &global, report, stop),
        PROFILE if world.profile.is_some() => run_command(world, &global, report, stop),
        "prepare" | "cleanup" | "help" if global.has_function(&command) => {
            global.call(&command, ())?;
            Ok(0)
        }
        "help" if !declared.is_empty() => {
            let name = world.plan.script.name();
            let list = option_list(&declared);
            world.log.line(
                Level::Notice,
                &format!("{name} options:\n{}", list.trim_end_matches('\n')),
            );
            world.log.report("\n");
            Ok(0)
        }
        "prepare" | "cleanup" | "help" => {
            let name = world.plan.script.name();
            Err(RunFailure::Usage(format!(
                "'{name}' test does not implement the '{command}' command."
            )))
        }
        _ => Err(RunFailure::Usage(format!("Unknown command: {command}"))),
    }
}

fn own_command(
    world: &Arc<World>,
    global: &State,
    command: &str,
    kind: CommandKind,
) -> Result<u8, ScriptError> {
    if kind == CommandKind::Single || world.threads() == 1 {
        return Ok(u8::from(!global.call_command(command)?));
    }
    world.log.report("Initializing worker threads...\n\n");
    let failed = parallel::run(world, command);
    if failed.is_empty() {
        return Ok(0);
    }
    let numbers: Vec<_> = failed.iter().map(u32::to_string).collect();
    world.log.remark(&format!(
        "{command} failed in {} of {} threads: {}",
        failed.len(),
        world.threads(),
        numbers.join(", ")
    ));
    Ok(1)
}

fn run_command(
    world: &Arc<World>,
    global: &State,
    report: &dyn Report,
    stop: &AtomicBool,
) -> Result<u8, RunFailure> {
    if global.has_function("init") {
        global.call("init", ())?;
    }
    let outcome = run::run(world, global, report, stop);
    world.set_over();
    let outcome = outcome.map_err(RunFailure::Load)?;
    let code = match &outcome {
        RunEnd::Completed(outcome) => {
            report.completed(outcome);
            let totals = hooks::last_totals(outcome);
            match hooks::cumulative(world, global, &totals, 0) {
                Ok(true) => {}
                Ok(false) => {
                    let text = report.whole(outcome, world.uses_sql());
                    world.log.report(&text);
                }
                Err(error) => world.log.fatal(&error.to_string()),
            }
            if let Some(profile) = &world.profile {
                world.log.report(&profile.text());
            }
            0
        }
        RunEnd::Share => 0,
        RunEnd::NotStarted => return Ok(1),
        RunEnd::Failed => 1,
    };
    if global.has_function("done")
        && let Err(error) = global.call("done", ())
    {
        world.log.fatal(&error.to_string());
    }
    Ok(code)
}

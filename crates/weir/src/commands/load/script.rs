//! `weir load my.lua`: a script of the user's in the place of a native workload.

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use weir_load::{Interval, LoadOutcome, Totals};
use weir_mysql::{Gate, Permissions};
use weir_script::{Driving, Output, Report, Script, ScriptPlan};
use weir_sysbench::{Invocation, LuaThreads, ScriptLine};

use crate::cli::LoadArguments;
use crate::{Outcome, interrupt, output, password};

/// Exit code of a load that did not begin or end in time, as in sysbench.
const NOT_IN_TIME: i32 = 2;

/// The process of a study's script: it is told what to do over its standard input, a socket.
pub(super) fn serve() -> anyhow::Result<Outcome> {
    let socket = rustix::io::dup(std::io::stdin()).context("this command is Weir's own")?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    weir_script::serve(UnixStream::from(socket))?;
    Ok(Outcome::Done)
}

pub(super) fn execute(line: ScriptLine, arguments: &LoadArguments) -> anyhow::Result<Outcome> {
    let mut line = line;
    for warning in &line.invocation.warnings {
        eprintln!("WARNING: {warning}");
    }
    let stop = interrupt::stop_flag_then_exit()?;
    if line.invocation.asks_password {
        line.invocation.set_password(&password::ask()?);
    }
    if line.invocation.verbosity >= super::NOTICE {
        output::text(weir_sysbench::script_version(
            line.invocation.compat,
            &weir_lua::luajit_version(),
        ))?;
    }
    let script = match Script::read(&line.script) {
        Ok(script) => script,
        Err(error) => {
            output::line(format_args!("FATAL: {error}"))?;
            return Ok(Outcome::Failed);
        }
    };
    let unknown = std::mem::take(&mut line.unknown);
    let words = Words {
        invocation: line.invocation.clone(),
        is_drop_in: arguments.is_drop_in,
    };
    let code = weir_script::execute(plan(line, script, arguments), &unknown, &words, stop)?;
    Ok(match code {
        0 if stop.load(Ordering::SeqCst) => Outcome::Stopped,
        code => Outcome::Code(code),
    })
}

fn plan(line: ScriptLine, script: Script, arguments: &LoadArguments) -> ScriptPlan {
    let invocation = line.invocation;
    let mut argv = vec!["sysbench".to_owned()];
    argv.extend(arguments.arguments.iter().cloned());
    let gate = Gate::new(Permissions {
        schema: Some(invocation.plan.endpoint.database.clone()),
        is_script: true,
        ..Permissions::default()
    });
    ScriptPlan {
        script,
        command: line.command,
        argv,
        given: line.given,
        version: weir_sysbench::script_sees(invocation.compat).to_owned(),
        keys: line.keys,
        driving: match line.lua_threads {
            LuaThreads::Auto => Driving::Auto,
            LuaThreads::Os => Driving::Threads,
            LuaThreads::Reactor => Driving::Reactor,
        },
        luajit_command: line.luajit_command,
        report_interval_s: invocation.report_interval_s,
        percentile: invocation.percentile,
        tells_statements: invocation.statement_latency,
        modules: None,
        verbosity: invocation.verbosity,
        forced_shutdown: invocation.forced_shutdown,
        load: invocation.plan,
        gate,
        output: Output::new(print),
        remarks: Output::new(|text| eprint!("{text}")),
    }
}

/// Prints after what the script has printed.
fn print(text: &str) {
    weir_lua::flush_output();
    // A full disk shows again, as an error, when the report is written.
    let _ = output::text(text);
}

/// sysbench's words for what a script's run did.
struct Words {
    invocation: Invocation,
    /// Nothing is said that sysbench does not say.
    is_drop_in: bool,
}

impl Words {
    fn of(&self, uses_sql: bool) -> Invocation {
        Invocation {
            uses_sql,
            ..self.invocation.clone()
        }
    }
}

impl Report for Words {
    fn header(&self) -> String {
        weir_sysbench::options_header(&self.invocation)
    }

    fn started(&self) -> String {
        weir_sysbench::THREADS_STARTED.to_owned()
    }

    fn interval(&self, interval: &Interval, uses_sql: bool) -> String {
        weir_sysbench::interval_line(&self.of(uses_sql), interval)
    }

    fn checkpoint(&self, totals: &Totals, uses_sql: bool) -> String {
        weir_sysbench::checkpoint_report(&self.of(uses_sql), totals)
    }

    fn whole(&self, outcome: &LoadOutcome, uses_sql: bool) -> String {
        let invocation = self.of(uses_sql);
        let report = weir_sysbench::final_report(&invocation, outcome);
        if self.is_drop_in {
            return report;
        }
        let additions = weir_sysbench::additions(&invocation, outcome);
        report + &additions
    }

    #[allow(
        clippy::exit,
        reason = "whoever should return waits in a script for ever"
    )]
    fn abandon(&self) -> ! {
        weir_lua::flush_output();
        std::process::exit(NOT_IN_TIME)
    }
}

//! `weir load my.lua`: a script of the user's in the place of a native workload.

mod agents;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use weir_load::{Interval, LoadOutcome, Totals};
use weir_model::IntervalRecord;
use weir_mysql::{Gate, Permissions};
use weir_script::{AWAY_MAX, DriverKind, Output, Report, Script, ScriptPlan};
use weir_sysbench::{Form, Invocation, LuaThreads, ScriptLine};

use super::recorder::Recorder;
use crate::{Outcome, output, password};

/// Exit code of a load that did not begin or end in time, as in sysbench.
const NOT_IN_TIME: i32 = 2;

/// The process of a study's script, which takes its orders from its standard input, a socket.
pub(super) fn serve() -> anyhow::Result<Outcome> {
    let socket = rustix::io::dup(std::io::stdin()).context("this command is Weir's own")?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    weir_script::serve(UnixStream::from(socket))?;
    Ok(Outcome::Done)
}

/// Way in which a script's command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Manner {
    /// As sysbench, which says less.
    is_drop_in: bool,
    /// Version and header have been printed.
    has_header: bool,
}

impl Manner {
    pub(super) fn of_drop_in() -> Self {
        Self {
            is_drop_in: true,
            has_header: false,
        }
    }

    /// The same, where the header has been printed.
    pub(super) fn after_header() -> Self {
        Self {
            is_drop_in: true,
            has_header: true,
        }
    }
}

/// Does what a command line asks of its script; `words`: the line's.
pub(super) fn execute(
    line: ScriptLine,
    words: &[String],
    manner: Manner,
    stop: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let mut line = line;
    for warning in line
        .invocation
        .warnings
        .iter()
        .filter(|_| !manner.has_header)
    {
        if manner.is_drop_in {
            output::line(format_args!("WARNING: {warning}"))?;
        } else {
            eprintln!("WARNING: {warning}");
        }
    }
    if line.invocation.asks_password {
        line.invocation.set_password(&password::ask()?);
    }
    if line.invocation.plan.load.agents > 0 {
        if line.command.as_deref() == Some("run") {
            return agents::run(line, manner, stop);
        }
        eprintln!("note: agents share the command `run` alone; this process does the others");
    }
    let is_json = line.invocation.form == Form::Json;
    let results = if is_json { Some(keep_stdout()?) } else { None };
    if line.invocation.verbosity >= super::NOTICE && !manner.has_header && !is_json {
        output::text(weir_sysbench::script_version(
            line.invocation.compat,
            &weir_script::lua::luajit_version(),
        ))?;
    }
    let script = match Script::read(&line.script) {
        Ok(script) => script,
        Err(error) => {
            output::line(format_args!("FATAL: {error}"))?;
            return Ok(Outcome::Failed);
        }
    };
    // In sysbench a time is a limit.
    line.invocation.plan.ends_with_sessions |= manner.is_drop_in;
    let unknown = std::mem::take(&mut line.unknown);
    let report = Words::new(&line.invocation, manner, results)?;
    let plan = plan(line, script, words, manner);
    let code = weir_script::execute(plan, &unknown, &report, stop)?;
    report.finish()?;
    Ok(match code {
        0 if stop.load(Ordering::SeqCst) => Outcome::Stopped,
        code => Outcome::Code(code),
    })
}

fn plan(line: ScriptLine, script: Script, words: &[String], manner: Manner) -> ScriptPlan {
    let invocation = line.invocation;
    // An option of Weir's is answered by Weir.
    let tells_all = invocation.verbosity > super::NOTICE || line.lua_threads != LuaThreads::Auto;
    let mut argv = vec!["sysbench".to_owned()];
    argv.extend(words.iter().cloned());
    let gate = Gate::new(Permissions {
        schema: Some(invocation.plan.endpoint.database.clone()),
        is_script: true,
        ..Permissions::default()
    });
    ScriptPlan {
        script,
        command: line.command,
        offers_profile: !manner.is_drop_in,
        argv,
        given: line.given,
        version: weir_sysbench::script_sees(invocation.compat).to_owned(),
        keys: line.keys,
        driving: match line.lua_threads {
            LuaThreads::Auto => DriverKind::Auto,
            LuaThreads::Os => DriverKind::Threads,
            LuaThreads::Reactor => DriverKind::Reactor,
        },
        luajit_command: line.luajit_command,
        report_interval_s: invocation.report_interval_s,
        percentile: invocation.percentile,
        tells_statements: invocation.statement_latency
            || invocation.hdr_log.is_some()
            || invocation.form == Form::Json,
        modules: None,
        verbosity: invocation.verbosity,
        patience: invocation.forced_shutdown.then_some(Duration::ZERO),
        away_max: AWAY_MAX,
        abandon,
        load: invocation.plan,
        gate,
        output: Output::new(print),
        remarks: if manner.is_drop_in && !tells_all {
            Output::new(say_unless_note)
        } else {
            Output::new(|text| eprint!("{text}"))
        },
    }
}

#[allow(
    clippy::exit,
    reason = "the function that should return waits in a script for ever"
)]
fn abandon() -> ! {
    weir_script::lua::flush_output();
    std::process::exit(NOT_IN_TIME)
}

/// Prints after what the script has printed.
fn print(text: &str) {
    weir_script::lua::flush_output();
    // A full disk ends the command with an error in the end.
    let _ = output::text(text);
}

/// sysbench has no notes.
fn say_unless_note(text: &str) {
    if !text.starts_with("note: ") {
        eprint!("{text}");
    }
}

/// Standard output as it was; from here on, what a script prints goes to standard error.
fn keep_stdout() -> anyhow::Result<File> {
    let kept = rustix::io::dup(std::io::stdout()).context("while keeping standard output")?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok(File::from(kept))
}

/// sysbench's words for what a script's run did, and what else is written of it.
struct Words {
    invocation: Invocation,
    manner: Manner,
    /// Destination of the result as JSON, if that is wanted.
    json: Option<File>,
    kept: RefCell<RunOutput>,
}

/// Output of a run so far.
struct RunOutput {
    intervals: Vec<IntervalRecord>,
    recorder: Recorder,
    /// The first error of it.
    failed: Option<anyhow::Error>,
}

impl Words {
    fn new(invocation: &Invocation, manner: Manner, json: Option<File>) -> anyhow::Result<Self> {
        Ok(Self {
            invocation: invocation.clone(),
            manner,
            json,
            kept: RefCell::new(RunOutput {
                intervals: Vec::new(),
                recorder: Recorder::open(invocation)?,
                failed: None,
            }),
        })
    }

    /// The error of what was written, if there was one.
    fn finish(self) -> anyhow::Result<()> {
        let kept = self.kept.into_inner();
        kept.failed.map_or(Ok(()), Err)?;
        kept.recorder.finish()
    }

    fn invocation(&self, uses_sql: bool) -> Invocation {
        Invocation {
            uses_sql,
            ..self.invocation.clone()
        }
    }

    /// A text of the report, unless the result is JSON.
    fn text(&self, text: impl FnOnce() -> String) -> String {
        if self.json.is_some() {
            return String::new();
        }
        text()
    }

    fn write_json(&self, outcome: &LoadOutcome) -> anyhow::Result<()> {
        let Some(mut file) = self.json.as_ref() else {
            return Ok(());
        };
        let kept = self.kept.borrow();
        let text = super::document::text(&self.invocation, outcome, &kept.intervals)?;
        writeln!(file, "{text}").context("while writing the result")
    }
}

impl Report for Words {
    fn measured(&self, interval: &Interval) {
        let mut kept = self.kept.borrow_mut();
        if self.json.is_some() {
            kept.intervals.push(interval.record);
        }
        kept.recorder.interval(interval);
    }

    fn completed(&self, outcome: &LoadOutcome) {
        self.kept.borrow_mut().recorder.completed(outcome);
        if let Err(error) = self.write_json(outcome) {
            self.kept.borrow_mut().failed.get_or_insert(error);
        }
    }

    fn header(&self) -> String {
        if self.manner.has_header {
            return String::new();
        }
        self.text(|| weir_sysbench::options_header(&self.invocation))
    }

    fn started(&self) -> String {
        self.text(|| weir_sysbench::THREADS_STARTED.to_owned())
    }

    fn interval(&self, interval: &Interval, uses_sql: bool) -> String {
        self.text(|| weir_sysbench::interval_line(&self.invocation(uses_sql), interval))
    }

    fn checkpoint(&self, totals: &Totals, uses_sql: bool) -> String {
        self.text(|| weir_sysbench::checkpoint_report(&self.invocation(uses_sql), totals))
    }

    fn whole(&self, outcome: &LoadOutcome, uses_sql: bool) -> String {
        let invocation = self.invocation(uses_sql);
        let tells_all = !self.manner.is_drop_in || invocation.verbosity > super::NOTICE;
        self.text(|| {
            let additions = if tells_all {
                weir_sysbench::additions(&invocation, outcome)
            } else {
                weir_sysbench::asked_additions(&invocation, outcome)
            };
            weir_sysbench::final_report(&invocation, outcome) + &additions
        })
    }
}

//! `weir agent`: this host takes shares of runs.

use std::io::{self, BufRead as _, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use weir_agent::{AgentOptions, Allowance, serve};
use weir_bus::JoinFile;

use crate::cli::AgentArguments;
use crate::{Outcome, interrupt};

/// A signal, or the end of standard input, which ends an agent that was started through ssh.
static ENDED: AtomicBool = AtomicBool::new(false);

pub(crate) fn execute(arguments: &AgentArguments) -> anyhow::Result<Outcome> {
    interrupt::on_signal(|| ENDED.store(true, Ordering::SeqCst))?;
    let join = if arguments.join == Path::new("-") {
        of_standard_input()?
    } else {
        JoinFile::read(&arguments.join)?
    };
    let options = AgentOptions {
        join,
        allowance: Allowance::new(&arguments.targets, arguments.max_connections)
            .with(&arguments.allow),
        labels: arguments.label.clone(),
        version: env!("WEIR_COMMIT").to_owned(),
    };
    serve(&options, &ENDED, &mut |line| eprintln!("{line}"))?;
    Ok(Outcome::Done)
}

/// A join file in one line; the agent ends with the input.
fn of_standard_input() -> anyhow::Result<JoinFile> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.context("cannot read the join file from standard input")?;
    let join = JoinFile::of_text(&line, Path::new("-"))?;
    std::thread::spawn(|| {
        let mut rest = [0; 64];
        while matches!(io::stdin().read(&mut rest), Ok(1..)) {}
        ENDED.store(true, Ordering::SeqCst);
    });
    Ok(join)
}

//! `weir agent`: this host takes shares of runs, and starts servers of studies.

use std::fs::DirBuilder;
use std::io::{self, BufRead as _, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use weir_agent::bus::JoinFile;
use weir_agent::{AgentOptions, Allowance, Permission, ServerRole, serve};
use weir_run::ServerHosting;

use crate::cli::{AgentArguments, OwnerArguments};
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
    let owner = &arguments.owner;
    let options = AgentOptions {
        join,
        allowance: Allowance::new(&owner.targets, owner.max_connections).with(&owner.allow),
        labels: owner.label.clone(),
        version: env!("WEIR_COMMIT").to_owned(),
        server_role: server_role(owner)?,
    };
    serve(&options, &ENDED, &mut |line| eprintln!("{line}"))?;
    Ok(Outcome::Done)
}

/// Returns the role that starts servers here, with the folder and the address that its owner named.
fn server_role(owner: &OwnerArguments) -> anyhow::Result<Option<Arc<dyn ServerRole>>> {
    let allows = owner.allow.contains(&Permission::Server);
    let (work, listen) = match (&owner.work, owner.listen) {
        (None, None) if !allows => return Ok(None),
        (Some(work), Some(listen)) if allows => (work, listen),
        _ if allows => bail!("--allow server needs --work DIR and --listen ADDRESS of this host"),
        _ => bail!("--work and --listen are for servers; add --allow server"),
    };
    // Its user's alone, as all that will be in it.
    let made = DirBuilder::new().mode(0o700).recursive(true).create(work);
    made.with_context(|| format!("cannot create folder `{}` for --work", work.display()))?;
    let work = work
        .canonicalize()
        .context("cannot find the folder of --work")?;
    Ok(Some(Arc::new(ServerHosting {
        work,
        listen: listen.ip(),
        port: listen.port(),
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
    })))
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

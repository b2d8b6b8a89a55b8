//! `weir server doublewrite`: the rules are in `weir-server`, the proofs are gathered here.

mod target;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::json;
use weir_crash::{CrashTest, Cut, Verdict};
use weir_model::Flavor;
use weir_mysql::Gate;
use weir_server::{
    DOUBLEWRITE, DoublewriteStatus, Instances, Proof, RestartCost, Session, SwitchRecord,
    check_switch, is_on, log_switch, switch_log,
};

use super::advise;
use crate::cli::{DoublewriteCommand, SwitchArguments};
use crate::{Outcome, output};
use target::Target;

pub(super) fn execute(command: &DoublewriteCommand) -> anyhow::Result<Outcome> {
    match command {
        DoublewriteCommand::Status {
            name,
            ask_password,
            json,
        } => status(&Target::open(name, *ask_password)?, *json)?,
        DoublewriteCommand::On(arguments) => switch(arguments, true)?,
        DoublewriteCommand::Off(arguments) => switch(arguments, false)?,
        DoublewriteCommand::Advise(arguments) => {
            return advise::execute(&Instances::open()?, arguments);
        }
    }
    Ok(Outcome::Done)
}

fn status(target: &Target, json: bool) -> anyhow::Result<()> {
    let status = DoublewriteStatus::read(&mut target.session()?)?;
    let storage = target.storage()?;
    if json {
        let said = json!({ "status": status, "storage": storage });
        return output::line(serde_json::to_string_pretty(&said)?);
    }
    output::line(format_args!(
        "{}: {DOUBLEWRITE} = {}, {} pages written to it in writes of {:.1} pages on average, \
         innodb_flush_method = {}",
        target.name(),
        status.value,
        status.pages_written,
        status.pages_per_write,
        status.flush_method
    ))?;
    match storage {
        Some(storage) => {
            for line in storage.lines() {
                output::line(format_args!("  {line}"))?;
            }
        }
        None => output::line("  storage: on another host, where Weir cannot look at it")?,
    }
    output::line(format_args!("  {}", cost(target, &status.restart)))
}

/// What a switch costs, in a DBA's words.
fn cost(target: &Target, restart: &RestartCost) -> String {
    let pool = match target {
        Target::Instance(_) => "it is dumped and loaded",
        Target::Given(_) => "or loaded, with innodb_buffer_pool_dump_at_shutdown",
    };
    format!(
        "a switch is a restart; connections that end: {}, dirty pages written first: {}, buffer pool read \
         again: {} ({pool})",
        restart.connections, restart.write_bytes, restart.reread_bytes
    )
}

fn switch(arguments: &SwitchArguments, on: bool) -> anyhow::Result<()> {
    let target = Target::open(&arguments.name, arguments.ask_password)?;
    let mut session = target.session()?;
    let before = DoublewriteStatus::read(&mut session)?;
    let to = if on { "ON" } else { "OFF" };
    let is_same = before.value.eq_ignore_ascii_case(to);
    let proof = match arguments.verdict.as_deref() {
        Some(path) => of_crash_test(target.flavor(), path)?,
        None => target.promise()?,
    };
    if !is_same {
        let (primary, replicas) = target.relatives(arguments)?;
        check_switch(on, before.page, &proof, primary.as_ref(), &replicas)?;
        if !on && !before.flush_method.starts_with("O_DIRECT") {
            bail!(
                "innodb_doublewrite = OFF is refused: innodb_flush_method = {} writes through the page \
                 cache, which tears pages when the process is killed; set O_DIRECT first",
                before.flush_method
            );
        }
    }
    let done = match (is_same, arguments.plan, &target) {
        (true, _, _) => "it is already".to_owned(),
        (false, _, Target::Given(given)) => for_its_owner(given.url.flavor, to),
        (false, true, _) => "allowed; nothing was done".to_owned(),
        (false, false, Target::Instance(info)) => {
            restart(&info.instance.name, session, to)?;
            let record = SwitchRecord {
                at: jiff::Timestamp::now().to_string(),
                server: &info.instance.name,
                from: &before.value,
                to,
                proof: &proof,
            };
            log_switch(&switch_log(), &record)?;
            "done".to_owned()
        }
    };
    if arguments.json {
        return output::line(json!({
            "server": target.name(), "from": before.value, "to": to, "proof": proof, "done": done,
            "restart": before.restart,
        }));
    }
    tell(&target, &before, to, &done)
}

fn tell(target: &Target, before: &DoublewriteStatus, to: &str, done: &str) -> anyhow::Result<()> {
    let name = target.name();
    let from = &before.value;
    output::line(format_args!("{name}: {DOUBLEWRITE} {from} -> {to}: {done}"))?;
    if from.eq_ignore_ascii_case(to) {
        return Ok(());
    }
    output::line(format_args!("  {}", cost(target, &before.restart)))?;
    output::line(format_args!(
        "  the way back: weir server doublewrite {} {name}",
        if to == "ON" { "off" } else { "on" }
    ))?;
    match target {
        Target::Instance(_) => output::line(format_args!("  log: {}", switch_log().display())),
        Target::Given(_) => Ok(()),
    }
}

/// Starts an instance again with the other setting and the pages that were in its pool.
fn restart(name: &str, mut session: Session, to: &str) -> anyhow::Result<()> {
    session.dump_pool()?;
    drop(session);
    let instances = Instances::open()?;
    let changed = [(DOUBLEWRITE.to_owned(), to.to_owned())].into();
    instances.set_variables(name, &changed)?;
    Ok(Session::open(&instances.endpoint(name)?, &Gate::own())?.load_pool()?)
}

/// What the owner of a server is to do: the variable neither changes while a server runs, nor is it one
/// that MySQL keeps for the next start (`SET PERSIST_ONLY` refuses it).
fn for_its_owner(flavor: Flavor, to: &str) -> String {
    let group = match flavor {
        Flavor::Mysql => "mysqld",
        Flavor::Mariadb => "mariadbd",
    };
    format!(
        "allowed, and its owner's to make: write `{DOUBLEWRITE} = {to}` below [{group}] in its option file \
         and restart it"
    )
}

/// A crash test counts if it was of this: doublewrite off, power cut, the same flavour, and it held.
fn of_crash_test(flavor: Flavor, path: &Path) -> anyhow::Result<Proof> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the crash test `{}`", path.display()))?;
    let test: CrashTest = serde_json::from_str(&text).with_context(|| {
        format!(
            "`{}` is not what `weir crash-test --json` prints",
            path.display()
        )
    })?;
    let refuse = |why: &str| {
        bail!(
            "the crash test `{}` proves nothing here ({why}); make one with `weir crash-test --server {} \
             --doublewrite off --json`",
            path.display(),
            flavor
        )
    };
    let value = test.setting.variables.get(DOUBLEWRITE);
    if value.is_none_or(|value| is_on(value)) {
        return refuse("it was made with the doublewrite buffer on");
    }
    if test.setting.cut != Cut::Power {
        return refuse("no power was cut in it");
    }
    if test.setting.flavor != flavor {
        return refuse("it was made on another flavour");
    }
    match test.verdict {
        Verdict::Held { states, .. } => Ok(Proof::CrashTest {
            states,
            drive: test.setting.drive,
        }),
        Verdict::Failed { .. } => refuse("it failed"),
        Verdict::Blind => refuse("its control found no damage either"),
    }
}

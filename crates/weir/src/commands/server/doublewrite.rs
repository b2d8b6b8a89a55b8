//! `weir server doublewrite`: the rules are in `weir-server`, the proofs are gathered here.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::json;
use weir_crash::{CrashTest, Cut, Storage, Verdict};
use weir_model::Bytes;
use weir_server::{
    DOUBLEWRITE, DoublewriteStatus, InstanceInfo, InstanceState, Instances, Proof, Relative,
    RestartCost, Session, SwitchRecord, check_switch, is_on, log_switch, switch_log,
};

use super::advise;
use crate::cli::{DoublewriteCommand, SwitchArguments};
use crate::{Outcome, output};

pub(super) fn execute(command: &DoublewriteCommand) -> anyhow::Result<Outcome> {
    let instances = Instances::open()?;
    match command {
        DoublewriteCommand::Status { name, json } => status(&instances, name, *json)?,
        DoublewriteCommand::On(arguments) => switch(&instances, arguments, true)?,
        DoublewriteCommand::Off(arguments) => switch(&instances, arguments, false)?,
        DoublewriteCommand::Advise(arguments) => return advise::execute(&instances, arguments),
    }
    Ok(Outcome::Done)
}

fn status(instances: &Instances, name: &str, json: bool) -> anyhow::Result<()> {
    let info = running(instances, name)?;
    let status = DoublewriteStatus::read(&mut Session::open(&instances.endpoint(name)?)?)?;
    let storage = Storage::inspect(&info.folder.join("data"))?;
    if json {
        let said = json!({ "status": status, "storage": storage });
        return output::line(serde_json::to_string_pretty(&said)?);
    }
    output::line(format_args!(
        "{name}: {DOUBLEWRITE} = {}, {} pages written to it in writes of {:.1} pages on average, \
         innodb_flush_method = {}",
        status.value, status.pages_written, status.pages_per_write, status.flush_method
    ))?;
    for line in storage.lines() {
        output::line(format_args!("  {line}"))?;
    }
    output::line(format_args!("  {}", cost(&status.restart)))
}

fn running(instances: &Instances, name: &str) -> anyhow::Result<InstanceInfo> {
    let info = instances.info(name)?;
    if info.state == InstanceState::Stopped {
        bail!("`{name}` does not run; start it with `weir server up {name}`");
    }
    Ok(info)
}

/// What a switch costs, in a DBA's words.
fn cost(restart: &RestartCost) -> String {
    format!(
        "a switch is a restart: {} connections end, {} of dirty pages are written first, {} of the \
         buffer pool are read again (it is dumped and loaded)",
        restart.connections, restart.write_bytes, restart.reread_bytes
    )
}

fn switch(instances: &Instances, arguments: &SwitchArguments, on: bool) -> anyhow::Result<()> {
    let name = &arguments.name;
    let info = running(instances, name)?;
    let mut session = Session::open(&instances.endpoint(name)?)?;
    let before = DoublewriteStatus::read(&mut session)?;
    let to = if on { "ON" } else { "OFF" };
    let is_same = before.value.eq_ignore_ascii_case(to);
    let proof = proof(&info, arguments.verdict.as_deref())?;
    if !is_same {
        let (primary, replicas) = relatives(instances, &info)?;
        check_switch(on, before.page, &proof, primary.as_ref(), &replicas)?;
        if !on && !before.flush_method.starts_with("O_DIRECT") {
            bail!(
                "innodb_doublewrite = OFF is refused: innodb_flush_method = {} writes through the page \
                 cache, which tears pages when the process is killed; set O_DIRECT first",
                before.flush_method
            );
        }
    }
    if !arguments.plan && !is_same {
        session.dump_pool()?;
        drop(session);
        let changed = [(DOUBLEWRITE.to_owned(), to.to_owned())].into();
        instances.set_variables(name, &changed)?;
        let mut session = Session::open(&instances.endpoint(name)?)?;
        session.load_pool()?;
        let record = SwitchRecord {
            at: jiff::Timestamp::now().to_string(),
            server: name,
            from: &before.value,
            to,
            proof: &proof,
        };
        log_switch(&switch_log(), &record)?;
    }
    let done = match (is_same, arguments.plan) {
        (true, _) => "it is already",
        (false, true) => "allowed; nothing was done",
        (false, false) => "done",
    };
    if arguments.json {
        return output::line(json!({
            "server": name, "from": before.value, "to": to, "proof": proof, "done": done,
            "restart": before.restart,
        }));
    }
    output::line(format_args!(
        "{name}: {DOUBLEWRITE} {} -> {to}: {done}",
        before.value
    ))?;
    if is_same {
        return Ok(());
    }
    output::line(format_args!("  {}", cost(&before.restart)))?;
    output::line(format_args!(
        "  the way back: weir server doublewrite {} {name}",
        if on { "off" } else { "on" }
    ))?;
    output::line(format_args!("  log: {}", switch_log().display()))
}

/// What says that pages are not torn: the user's crash test, else the storage itself.
fn proof(info: &InstanceInfo, verdict: Option<&Path>) -> anyhow::Result<Proof> {
    if let Some(path) = verdict {
        return of_crash_test(info, path);
    }
    let storage = Storage::inspect(&info.folder.join("data"))?;
    let device = storage.device.and_then(|device| device.atomic_write_max);
    // Without O_DIRECT the kernel cuts writes as it likes, whatever the storage promises.
    let promised = storage
        .file_system_atomic
        .max(device)
        .filter(|largest| *largest > 0 && storage.direct);
    Ok(promised.map_or(Proof::None, |largest| Proof::Storage {
        largest: Bytes(largest.into()),
    }))
}

/// A crash test counts if it was of this: doublewrite off, power cut, the same flavour, and it held.
fn of_crash_test(info: &InstanceInfo, path: &Path) -> anyhow::Result<Proof> {
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
            info.instance.flavor
        )
    };
    let value = test.setting.variables.get(DOUBLEWRITE);
    if value.is_none_or(|value| is_on(value)) {
        return refuse("it was made with the doublewrite buffer on");
    }
    if test.setting.cut != Cut::Power {
        return refuse("no power was cut in it");
    }
    if test.setting.flavor != info.instance.flavor {
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

/// The instance's primary, and its replicas.
fn relatives(
    instances: &Instances,
    info: &InstanceInfo,
) -> anyhow::Result<(Option<Relative>, Vec<Relative>)> {
    let name = &info.instance.name;
    let all = instances.list()?;
    let relative = |other: &InstanceInfo| Relative {
        name: other.instance.name.clone(),
        // What it is not told otherwise, a server has on.
        is_on: other
            .instance
            .variables
            .get(DOUBLEWRITE)
            .is_none_or(|value| is_on(value)),
    };
    let primary = all
        .iter()
        .find(|other| info.instance.replica_of.as_ref() == Some(&other.instance.name));
    let replicas = all
        .iter()
        .filter(|other| other.instance.replica_of.as_ref() == Some(name));
    Ok((primary.map(relative), replicas.map(relative).collect()))
}

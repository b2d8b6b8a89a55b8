//! `weir server doublewrite`: the rules are in `weir-server`, the proofs are gathered here.

mod target;

use std::path::Path;

use anyhow::ensure;
use serde_json::json;
use weir_crash::{CrashTest, CutEvidence, DataStorage, Objections, ServerInQuestion, Verdict};
use weir_model::variables::{DOUBLEWRITE, PAGES_CACHED_BECAUSE};
use weir_model::{Bytes, Doublewrite, Flavor};
use weir_mysql::Gate;
use weir_server::{
    DoublewriteStatus, InstanceInfo, Instances, Proof, RestartCost, ServerError, Session,
    SwitchRecord, check_switch, log_switch, refused, switch_log,
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
    let mut session = target.session()?;
    let status = target.status(&mut session)?;
    let ground = target.ground(&mut session)?;
    // As `off` judges it without a crash test; a replica's primary, which has to be named, aside.
    let off = check_switch(false, &status, &promise(&ground), None, &[]);
    let off = off.map_err(|error| error.to_string()).err();
    if json {
        let ground = match &ground {
            Ok(ground) => json!(ground),
            Err(why) => json!({ "kind": "unknown", "why": why }),
        };
        let said = json!({ "status": status, "storage": ground, "off": off.as_deref().unwrap_or("allowed") });
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
    output::line(format_args!("  {}", data_files_words(&status)))?;
    match &ground {
        Ok(ground) => {
            for line in ground.lines(status.page) {
                output::line(format_args!("  {line}"))?;
            }
        }
        Err(why) => output::line(format_args!("  {why}"))?,
    }
    output::line(format_args!("  {}", cost(target, &status.restart)))?;
    output::line(match off {
        None => format!("  {DOUBLEWRITE} = OFF: allowed by the storage's promise"),
        Some(why) if status.is(false) => {
            format!("  it is already off; this storage would not allow it: {why}")
        }
        Some(why) => format!("  {why}"),
    })
}

/// Returns the words for the way in which the server has its data files open, whatever its
/// variables and its storage say.
fn data_files_words(status: &DoublewriteStatus) -> String {
    let how = match (
        status.writes_directly,
        status.meaning().get(PAGES_CACHED_BECAUSE),
    ) {
        (_, Some(why)) => format!("through the page cache ({why})"),
        (Some(true), None) => "past the page cache (O_DIRECT)".to_owned(),
        (Some(false), None) => "through the page cache".to_owned(),
        (None, None) => "unknown (its process cannot be looked at)".to_owned(),
    };
    format!("data files: {how}")
}

/// Says of a server that was just started with its doublewrite buffer off why nothing here shows that it may be:
/// a snapshot or a primary on other storage may have had a proof, which does not come along.
pub(super) fn note_unproven(info: InstanceInfo) -> anyhow::Result<()> {
    let target = Target::Instance(Box::new(info));
    let mut session = target.session()?;
    let status = target.status(&mut session)?;
    if status.meaning().doublewrite() == Some(Doublewrite::Repairs) {
        return Ok(());
    }
    let ground = target.ground(&mut session)?;
    if let Err(why) = check_switch(false, &status, &promise(&ground), None, &[]) {
        eprintln!(
            "note: `{}` runs with {DOUBLEWRITE} = {}, and a proof made elsewhere does not count here: {why}",
            target.name(),
            status.value
        );
    }
    Ok(())
}

/// Returns the promise of the storage itself. An emulated drive's promise is no storage's.
fn promise(ground: &Result<DataStorage, String>) -> Proof {
    match ground {
        Ok(DataStorage::Storage(storage)) => storage.proof(),
        Ok(DataStorage::Emulated { .. }) | Err(_) => Proof::None,
    }
}

/// Returns the cost of a switch, in a DBA's words.
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
    let before = target.status(&mut session)?;
    let to = if on { "ON" } else { "OFF" };
    let is_same = before.is(on);
    let proof = if on || is_same {
        Proof::None
    } else {
        proof(&target, &mut session, &before, arguments)?
    };
    if !is_same {
        let (primary, replicas) = target.relatives(arguments)?;
        check_switch(on, &before, &proof, primary.as_ref(), &replicas)?;
    }
    let done = match (is_same, arguments.plan, &target) {
        (true, _, _) => "it is already".to_owned(),
        (false, _, Target::Given(given)) => for_its_owner(given.url.flavor, to),
        (false, true, _) => "allowed; nothing was done".to_owned(),
        (false, false, Target::Instance(info)) => {
            restart(&info.instance.name, session, (target.flavor(), on, to))?;
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
    tell(&target, &before, (on, to), &proof, &done)
}

fn tell(
    target: &Target,
    before: &DoublewriteStatus,
    (on, to): (bool, &str),
    proof: &Proof,
    done: &str,
) -> anyhow::Result<()> {
    let name = target.name();
    let from = &before.value;
    output::line(format_args!("{name}: {DOUBLEWRITE} {from} -> {to}: {done}"))?;
    if before.is(on) {
        return Ok(());
    }
    if let Proof::CrashTest {
        states,
        at_most,
        drive,
        holds_on,
    } = proof
    {
        output::line(format_args!(
            "  a crash test of it held in {states} states of the emulated {drive}: with 95 % confidence fewer than \
             {:.2} % are damaged; that counts for {holds_on} only",
            at_most * 100.0
        ))?;
    }
    output::line(format_args!("  {}", cost(target, &before.restart)))?;
    output::line(format_args!(
        "  the way back: weir server doublewrite {} {name}",
        if on { "off" } else { "on" }
    ))?;
    match target {
        Target::Instance(_) => output::line(format_args!("  log: {}", switch_log().display())),
        Target::Given(_) => Ok(()),
    }
}

/// Starts an instance again with the other setting and the pages that were in its pool.
fn restart(
    name: &str,
    mut session: Session,
    (flavor, on, to): (Flavor, bool, &str),
) -> anyhow::Result<()> {
    session.dump_pool()?;
    drop(session);
    let instances = Instances::open()?;
    let changed = [(DOUBLEWRITE.to_owned(), to.to_owned())].into();
    instances.set_variables(name, &changed)?;
    let mut session = Session::open(&instances.endpoint(name)?, &Gate::own())?;
    session.load_pool()?;
    let after = DoublewriteStatus::read(&mut session, flavor, None)?;
    ensure!(
        after.is(on),
        "the server was started again with {DOUBLEWRITE} = {to} and says {}; see its error log",
        after.value
    );
    Ok(())
}

/// Returns the steps for the owner of a server. The variable does not change while a server runs, nor does MySQL keep
/// it for the next start (`SET PERSIST_ONLY` refuses it).
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

/// Returns the proof for off: a crash test, beside it power cuts of the storage; or the promise of the storage.
fn proof(
    target: &Target,
    session: &mut Session,
    status: &DoublewriteStatus,
    arguments: &SwitchArguments,
) -> anyhow::Result<Proof> {
    let ground = target.ground(session)?;
    let Some(path) = &arguments.verdict else {
        return Ok(promise(&ground));
    };
    let cuts = match (&arguments.powercut, &ground) {
        (Some(file), Ok(DataStorage::Storage(storage))) => {
            Some(CutEvidence::read(file, &storage.path)?)
        }
        _ => None,
    };
    of_crash_test(target, status, &ground, path, cuts.as_ref())
}

/// A crash test counts if it was of this server and the storage keeps the rules that it assumed.
fn of_crash_test(
    target: &Target,
    status: &DoublewriteStatus,
    ground: &Result<DataStorage, String>,
    path: &Path,
    cuts: Option<&CutEvidence>,
) -> anyhow::Result<Proof> {
    let test = CrashTest::read_verdict(path)?;
    let server = ServerInQuestion {
        flavor: target.flavor(),
        version: target.version(&status.meaning()),
        variables: &status.variables,
    };
    let ground = ground.as_ref().map_err(String::as_str);
    let objections = test.objections(&server, ground, cuts);
    match (test.verdict, ground) {
        (Verdict::Held { states, at_most }, Ok(ground)) if objections.all().next().is_none() => {
            Ok(Proof::CrashTest {
                states,
                at_most,
                drive: test.setting.drive,
                holds_on: holds_on(ground, cuts, status.meaning().page_size()),
            })
        }
        _ => Err(does_not_count(path, &objections, &test.again_for(&server, ground)).into()),
    }
}

/// Returns the storage for which a proof counts, and the cuts that have shown its rules.
fn holds_on(ground: &DataStorage, cuts: Option<&CutEvidence>, page: Bytes) -> String {
    match cuts {
        Some(cuts) => format!("{} ({})", ground.name(), cuts.words(page)),
        None => ground.name(),
    }
}

/// Returns the error with the missing part in one line, and the remedy.
fn does_not_count(path: &Path, objections: &Objections, again: &str) -> ServerError {
    let missing: Vec<_> = objections.all().collect();
    let why = format!(
        "the crash test `{}` does not count here ({})",
        path.display(),
        missing.join("; ")
    );
    let remedy = if objections.of_the_storage.is_empty() {
        format!("make one of this server: `{again}`")
    } else {
        "keep it on: a crash test cuts an emulated drive, and counts only where the storage is known to keep \
         that drive's rules, by its promises or by `weir drive powercut` and --powercut"
            .to_owned()
    };
    refused(false, why, remedy)
}

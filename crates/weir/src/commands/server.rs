//! `weir server`: private servers that stay up, and the snapshots of their data.

mod advise;
pub(super) mod backup;
mod describe;
mod doublewrite;
pub(super) mod imported_settings;
mod pool;
mod snapshot;

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use weir_model::{Flavor, Limits, Replication, set_options};
use weir_mysql::Gate;
use weir_server::{
    DataSource, Instance, InstanceInfo, InstanceState, Instances, ServerBinary, Session, Snapshots,
    cache_directory, check_variables, known_variables, translate,
};
use weir_study::named_program;

use crate::cli::{DownArguments, PoolArgument, ServerCommand, UpArguments};
use crate::{Outcome, output};

pub(crate) fn execute(command: &ServerCommand) -> anyhow::Result<Outcome> {
    match command {
        ServerCommand::Up(arguments) => up(arguments)?,
        ServerCommand::Down(arguments) => down(arguments)?,
        ServerCommand::List(arguments) => {
            describe::list(&Instances::open()?.list()?, arguments.json)?;
        }
        ServerCommand::Snapshot { command } => snapshot::execute(command)?,
        ServerCommand::Pool(arguments) => pool::execute(arguments)?,
        ServerCommand::Promote { name, json } => promote(name, *json)?,
        ServerCommand::Doublewrite { command } => return doublewrite::execute(command),
        ServerCommand::Restore {
            name,
            snapshot,
            json,
        } => {
            let snapshots = Snapshots::open(&cache_directory())?;
            let key = snapshots.named(snapshot)?.key;
            let info = Instances::open()?.restore(name, &snapshots, &key)?;
            describe::one(&info, *json)?;
            if let InstanceState::Running { .. } = info.state {
                doublewrite::note_unproven(info)?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn up(arguments: &UpArguments) -> anyhow::Result<()> {
    let instances = Instances::open()?;
    let existing = match &arguments.name {
        Some(name) => instances.instance(name).ok(),
        None => None,
    };
    let info = match existing {
        Some(existing) => up_again(&instances, &existing, arguments)?,
        None => up_new(&instances, arguments)?,
    };
    if arguments.pool == PoolArgument::Warm {
        Session::open(&instances.endpoint(&info.instance.name)?, &Gate::own())?.load_pool()?;
    }
    describe::one(&info, arguments.json)?;
    doublewrite::note_unproven(info)
}

/// Starts an instance that was stopped, as it was.
fn up_again(
    instances: &Instances,
    existing: &Instance,
    arguments: &UpArguments,
) -> anyhow::Result<InstanceInfo> {
    let of_a_new_one = arguments.server.is_some()
        || arguments.snapshot.is_some()
        || arguments.from_backup.is_some()
        || arguments.port.is_some()
        || arguments.replica_of.is_some()
        || arguments.cpus.is_some()
        || arguments.option_file.is_some()
        || arguments.memory.is_some()
        || arguments.work.is_some()
        || !arguments.set.is_empty();
    if of_a_new_one {
        bail!(
            "there is an instance `{0}` already, with settings of its own; start it with `weir server \
             up {0}`, or choose another name",
            existing.name
        );
    }
    Ok(instances.start(&existing.name)?)
}

fn up_new(instances: &Instances, arguments: &UpArguments) -> anyhow::Result<InstanceInfo> {
    let snapshots = Snapshots::open(&cache_directory())?;
    let snapshot = arguments.snapshot.as_deref();
    let snapshot = snapshot.map(|name| snapshots.named(name)).transpose()?;
    let primary = arguments.replica_of.as_deref();
    let primary = primary.map(|name| instances.instance(name)).transpose()?;
    let backup = arguments.from_backup.as_deref();
    let backup = backup.map(backup::open).transpose()?;
    let binary = match (&arguments.server, &snapshot, &primary) {
        (_, _, Some(primary)) => primary.binary()?,
        (None, None, None) if backup.is_some() => {
            let flavor = backup.as_ref().and_then(backup::Source::flavor);
            named_program(&flavor.unwrap_or(Flavor::Mysql).to_string())?
        }
        (Some(server), _, _) => named_program(server)?,
        (None, Some(snapshot), _) => named_program(&snapshot.key.flavor.to_string())?,
        (None, None, None) => named_program(&Flavor::Mysql.to_string())?,
    };
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => free_name(instances, binary.flavor)?,
    };
    let mut instance = Instance::new(name, &binary);
    if let Some(path) = &arguments.option_file {
        instance.variables = imported_settings::variables(&binary, path)?;
    }
    let set = variables(&binary, &arguments.set)?;
    set_options(&mut instance.variables, set);
    if let Some(work) = &arguments.work {
        let work = std::path::absolute(work);
        let work = work.context("cannot find the folder of `--work`")?;
        instance.storage = Some(work.join(&instance.name));
    }
    instance.snapshot = snapshot.as_ref().map(|snapshot| snapshot.name.clone());
    instance.limits = Limits {
        cpus: arguments.cpus.clone(),
        memory: arguments.memory,
    };
    instance.port = match arguments.port {
        Some(0) => Some(weir_server::free_port()?),
        port => port,
    };
    if let Some(primary) = &primary {
        let replication = if arguments.semi_sync {
            Replication::SemiSync
        } else {
            Replication::Async
        };
        return Ok(instances.create_replica(&primary.name, instance, replication)?);
    }
    if let Some(backup) = &backup {
        return backup.create(instances, &binary, &instance);
    }
    let source = match &snapshot {
        Some(snapshot) => DataSource::Snapshot(&snapshots, &snapshot.key),
        None => DataSource::Empty,
    };
    Ok(instances.create(&binary, &instance, &source)?)
}

/// The user's settings in the program's own names; what it does not have is refused.
fn variables(
    binary: &ServerBinary,
    set: &[(String, String)],
) -> anyhow::Result<BTreeMap<String, String>> {
    let wanted = set.iter().cloned().collect();
    let translated = translate(binary.flavor, binary.version, &wanted)?;
    let names: Vec<_> = translated.keys().map(String::as_str).collect();
    check_variables(&known_variables(binary)?, &names)?;
    Ok(translated)
}

/// `mysql`, or `mysql-2` if there is one.
fn free_name(instances: &Instances, flavor: Flavor) -> anyhow::Result<String> {
    let taken: Vec<_> = instances.list()?;
    let is_free = |name: &String| !taken.iter().any(|info| info.instance.name == *name);
    let numbered = (2..).map(|number| format!("{flavor}-{number}"));
    let mut names = std::iter::once(flavor.to_string()).chain(numbered);
    Ok(names
        .find(is_free)
        .expect("invariant: numbers do not run out"))
}

fn promote(name: &str, json: bool) -> anyhow::Result<()> {
    let promotion = Instances::open()?.promote(name)?;
    let applied_s = promotion.applied.as_secs_f64();
    let promoted_s = promotion.promoted.as_secs_f64();
    if json {
        let said = serde_json::json!({
            "name": name,
            "applied_s": applied_s,
            "promoted_s": promoted_s,
        });
        return output::line(said);
    }
    output::line(format_args!(
        "{name}: a primary; it had applied all that it had received after {applied_s:.2} s, and takes writes since \
         {promoted_s:.2} s later"
    ))
}

fn down(arguments: &DownArguments) -> anyhow::Result<()> {
    let instances = Instances::open()?;
    let name = &arguments.name;
    let ran = matches!(instances.info(name)?.state, InstanceState::Running { .. });
    // Data that go need no clean end.
    instances.stop(name, arguments.now || arguments.remove)?;
    if arguments.remove {
        instances.remove(name)?;
    }
    let done = match (ran, arguments.remove) {
        (true, false) => "stopped",
        (false, false) => "was not running",
        (_, true) => "removed",
    };
    if arguments.json {
        let said = serde_json::json!({ "name": name, "done": done });
        return output::line(said);
    }
    output::line(format_args!("{name}: {done}"))
}

//! Private servers in words and in JSON.

use serde_json::{Value, json};
use weir_report::table;
use weir_server::{InstanceInfo, InstanceState};

use crate::output;

/// Prints all of them.
pub(super) fn list(infos: &[InstanceInfo], json: bool) -> anyhow::Result<()> {
    if json {
        let all: Vec<_> = infos.iter().map(value).collect();
        return output::line(serde_json::to_string_pretty(&all)?);
    }
    if infos.is_empty() {
        return output::line("no private servers; `weir server up` starts one");
    }
    let rows: Vec<_> = infos.iter().map(row).collect();
    output::text(table(
        &["name", "server", "state", "data", "listens on"],
        &rows,
    ))
}

/// Prints one, with what is needed to use it.
pub(super) fn one(info: &InstanceInfo, json: bool) -> anyhow::Result<()> {
    if json {
        return output::line(serde_json::to_string_pretty(&value(info))?);
    }
    let instance = &info.instance;
    output::line(format_args!(
        "{}: {} {}, {}",
        instance.name,
        instance.flavor,
        instance.version,
        state(info)
    ))?;
    if let Some(primary) = &instance.replica_of {
        output::line(format_args!("  follows  {primary}"))?;
    }
    output::line(format_args!("  socket   {}", info.socket.display()))?;
    if let Some(port) = instance.port {
        output::line(format_args!("  port     {port} of 127.0.0.1"))?;
    }
    output::line(format_args!("  folder   {}", info.folder.display()))?;
    if info.storage != info.folder {
        output::line(format_args!("  data in  {}", info.storage.display()))?;
    }
    output::line(format_args!(
        "  log in   mysql --defaults-file={}",
        info.client_options.display()
    ))?;
    output::line(format_args!(
        "  stop     weir server down {}",
        instance.name
    ))
}

fn row(info: &InstanceInfo) -> Vec<String> {
    let instance = &info.instance;
    let listens = match (info.state, instance.port) {
        (InstanceState::Stopped, _) => "-".to_owned(),
        (_, Some(port)) => format!("{}, 127.0.0.1:{port}", info.socket.display()),
        (_, None) => info.socket.display().to_string(),
    };
    vec![
        instance.name.clone(),
        format!("{} {}", instance.flavor, instance.version),
        state(info),
        info.size.to_string(),
        listens,
    ]
}

fn state(info: &InstanceInfo) -> String {
    match info.state {
        InstanceState::Running { pid } => format!("running, process {pid}"),
        InstanceState::Stopped => "stopped".to_owned(),
    }
}

/// No password: that is in the client's option file, which only the user can read.
fn value(info: &InstanceInfo) -> Value {
    let (state, pid) = match info.state {
        InstanceState::Running { pid } => ("running", Some(pid)),
        InstanceState::Stopped => ("stopped", None),
    };
    let instance = &info.instance;
    json!({
        "name": instance.name,
        "flavor": instance.flavor,
        "version": instance.version.to_string(),
        "program": instance.program,
        "state": state,
        "pid": pid,
        "socket": info.socket,
        "port": instance.port,
        "client_options": info.client_options,
        "folder": info.folder,
        "storage": info.storage,
        "data_bytes": info.size,
        "variables": instance.variables,
        "snapshot": instance.snapshot,
        "replica_of": instance.replica_of,
        "limits": instance.limits,
    })
}

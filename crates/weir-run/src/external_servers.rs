//! The servers that the user gives: opened before anything is spent.

use std::collections::BTreeMap;

use weir_model::{Cell, EventKind, Plan, ServerUrl};
use weir_server::{ExternalServer, ServerError};
use weir_workload::Workload;

use crate::RunError;
use crate::RunOptions;

/// Logs in to all of them, and checks that the study asks nothing of them that is not theirs to give.
pub(crate) fn open(
    plan: &Plan,
    options: &RunOptions,
) -> Result<BTreeMap<ServerUrl, ExternalServer>, RunError> {
    let mut servers = log_in(plan, options)?;
    for cell in &plan.cells {
        let node = cell.spec.primary();
        let Some(url) = &node.server.given else {
            continue;
        };
        let server = servers.get_mut(url).expect("invariant: it was opened");
        let native = weir_server::native_config(server, &node.variables, options.allowed.config)?;
        permit_tables(cell, server, options)?;
        weir_server::permit_config(server, &native)?;
        let set = variables_set(cell);
        check_allowed(server, &set, options.allowed.config)?;
        weir_server::permit_config(server, &set)?;
    }
    Ok(servers)
}

/// Permits what the tables of `cell` need; a load that writes is refused on a replica before anything is
/// changed.
pub(crate) fn permit_tables(
    cell: &Cell,
    server: &mut ExternalServer,
    options: &RunOptions,
) -> Result<(), RunError> {
    server.permit_schema();
    if options.allowed.replica {
        server.permit_replica();
    }
    let workload = Workload::try_from(&cell.spec.workload).map_err(RunError::Workload)?;
    // A replay only reads there.
    if !workload.only_reads() && cell.spec.load.replay.is_none() {
        server.look_before_writing()?;
    }
    Ok(())
}

/// Logs in to all of them, to read.
pub(crate) fn log_in(
    plan: &Plan,
    options: &RunOptions,
) -> Result<BTreeMap<ServerUrl, ExternalServer>, RunError> {
    let mut servers = BTreeMap::new();
    for cell in &plan.cells {
        let Some(url) = &cell.spec.primary().server.given else {
            continue;
        };
        check_design(cell, url)?;
        if servers.contains_key(url) {
            continue;
        }
        let endpoint = weir_mysql::endpoint(url, &options.client);
        let endpoint = endpoint.map_err(|error| RunError::External {
            url: url.to_string(),
            why: error.to_string(),
        })?;
        let mut server = ExternalServer::open(url, endpoint)?;
        server.note_to.clone_from(&options.allowed.note_to);
        servers.insert(url.clone(), server);
    }
    Ok(servers)
}

/// Variables that events of `cell` set, by the server's own names.
pub(crate) fn variables_set(cell: &Cell) -> BTreeMap<String, String> {
    let kinds = cell.spec.timeline.iter().map(|event| &event.kind);
    let set = kinds.filter_map(|kind| match kind {
        EventKind::Set { variable, value } => Some((variable.clone(), value.clone())),
        _ => None,
    });
    set.collect()
}

/// Variables may be set where the user allowed it.
pub(crate) fn check_allowed(
    server: &ExternalServer,
    set: &BTreeMap<String, String>,
    allowed: bool,
) -> Result<(), RunError> {
    if set.is_empty() || allowed {
        return Ok(());
    }
    let names: Vec<_> = set.keys().map(String::as_str).collect();
    Err(RunError::Server(ServerError::ConfigNotAllowed {
        url: server.url.to_string(),
        variables: names.join(", "),
    }))
}

/// Checks that nothing is wanted that only a server of Weir's own can have.
fn check_design(cell: &Cell, url: &ServerUrl) -> Result<(), RunError> {
    let why = if cell.spec.primary().drive.is_some() {
        "its data stay where they are, so no drive is emulated below them; leave `drive` out"
    } else if !cell.spec.topology.is_plain() {
        "limits, replicas and the pool's state are its owner's; leave cpus, memory, replicas and pool out"
    } else if cell
        .spec
        .timeline
        .iter()
        .any(|event| event.kind.needs_own_server())
    {
        "events of the kinds `ddl`, `statement`, `kill`, `restart`, `drive` and `pool` need a server that Weir starts; \
         leave them out, or name a program in [server] flavor"
    } else {
        return Ok(());
    };
    Err(RunError::External {
        url: url.to_string(),
        why: why.to_owned(),
    })
}

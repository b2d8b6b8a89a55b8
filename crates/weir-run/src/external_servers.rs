//! The servers that the user gives: opened before anything is spent.

use std::collections::BTreeMap;

use weir_model::{Cell, Plan, ServerUrl};
use weir_server::ExternalServer;
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
    if !workload.only_reads() {
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
        servers.insert(url.clone(), ExternalServer::open(url, endpoint)?);
    }
    Ok(servers)
}

/// What only a server of Weir's own can have.
fn check_design(cell: &Cell, url: &ServerUrl) -> Result<(), RunError> {
    let why = if cell.spec.primary().drive.is_some() {
        "its data stay where they are, so no drive is emulated below them; leave `drive` out"
    } else if !cell.spec.topology.is_plain() {
        "limits, replicas and the pool's state are its owner's; leave cpus, memory, replicas and pool out"
    } else {
        return Ok(());
    };
    Err(RunError::External {
        url: url.to_string(),
        why: why.to_owned(),
    })
}

//! The servers that the user gives: opened before anything is spent, and their tables.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use weir_load::Workload;
use weir_model::{Bytes, Cell, Plan, ServerUrl};
use weir_server::GivenServer;

use crate::RunError;
use crate::RunOptions;
use crate::data::make_tables;
use weir_progress::Event;

/// Logs in to all of them, and checks that the study asks nothing of them that is not theirs to give.
pub(crate) fn open(
    plan: &Plan,
    options: &RunOptions,
) -> Result<BTreeMap<ServerUrl, GivenServer>, RunError> {
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
    server: &mut GivenServer,
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
) -> Result<BTreeMap<ServerUrl, GivenServer>, RunError> {
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
        servers.insert(url.clone(), GivenServer::open(url, endpoint)?);
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

/// Makes the tables of `cell` that are missing; what they occupy, or `None` if it was stopped. Tables
/// that are there with as many rows are used as they are, others are refused.
pub(crate) fn load(
    cell: &Cell,
    server: &GivenServer,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<Option<Bytes>, RunError> {
    let what = format!("the tables of `{}`", server.url);
    let (endpoint, gate) = (server.endpoint.clone(), server.gate());
    if make_tables(&cell.spec, endpoint, gate, &what, stop, on_event)?.is_none() {
        return Ok(None);
    }
    let size = server.tables_size()?;
    on_event(&Event::DataReady {
        size,
        from_cache: false,
    });
    Ok(Some(size))
}

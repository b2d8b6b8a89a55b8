//! The replicas of a run's server: copies of the same data that follow it.
//!
//! They lie on the host's own storage, also where the primary is on an emulated drive: the drive is
//! what is measured.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use weir_model::Cell;
use weir_process::PathError;
use weir_server::{PrivateServer, Role, StartOptions};

use crate::RunError;
use crate::commands;
use crate::context::StudyContext;
use crate::data::{self, PreparedData};

/// Prepares `options` of a run's server for the replicas that its cell wants; the port on which they
/// reach it, if there are any.
pub(crate) fn prepare_primary(
    context: &StudyContext<'_>,
    cell: &Cell,
    options: &mut StartOptions,
) -> Result<Option<u16>, RunError> {
    if cell.spec.topology.replicas().is_empty() {
        return Ok(None);
    }
    let port = weir_server::free_port()?;
    take_part(context, cell, Role::Primary, options);
    let listening = weir_server::loopback_variables(port);
    options.variables.extend(listening);
    Ok(Some(port))
}

/// Starts the replicas of `primary`, each in a directory of its own below `home`, and waits until they
/// follow; `None` if it was stopped.
pub(crate) fn start(
    context: &StudyContext<'_>,
    cell: &Cell,
    data: &PreparedData,
    home: &Path,
    primary: (&PrivateServer, u16),
    lines: &mut Vec<String>,
    stop: &AtomicBool,
) -> Result<Option<Vec<PrivateServer>>, RunError> {
    let binary = context.server_of(cell);
    let (primary, port) = primary;
    let mut replicas = Vec::new();
    for (number, node) in (1..).zip(cell.spec.topology.replicas()) {
        let place = home.join(&node.name);
        std::fs::create_dir_all(&place).map_err(PathError::on("create", &place))?;
        let mut options = StartOptions::new(place.join("data"), place.join("server"));
        data.snapshots.restore(&data.key, &options.data_dir)?;
        weir_server::forget_identity(&options.data_dir)?;
        options.variables.clone_from(&node.variables);
        take_part(context, cell, Role::Replica(number), &mut options);
        lines.push(commands::server(binary, &options)?);
        let started = PrivateServer::start_watched(binary, &options, &mut data::watching(stop));
        let Some(replica) = data::unless_stopped(started)? else {
            return Ok(None);
        };
        weir_server::attach(binary, &primary.endpoint(), port, &replica.endpoint())?;
        replicas.push(replica);
    }
    Ok(Some(replicas))
}

fn take_part(context: &StudyContext<'_>, cell: &Cell, role: Role, options: &mut StartOptions) {
    let replication = cell.spec.topology.replication;
    // Also a binary log, whatever the study says: without one there is nothing to follow.
    let variables = weir_server::replication_variables(context.server_of(cell), role, replication);
    weir_model::set_options(&mut options.variables, variables);
}

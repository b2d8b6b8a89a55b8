//! The replicas of a run's server: copies of the same data that follow it.
//!
//! They lie on the host's own storage, also where the primary is on an emulated drive: the drive is
//! what is measured.

use std::fs;

use weir_model::Cell;
use weir_process::PathError;
use weir_server::{PrivateServer, Role, StartOptions};

use super::PrivateTarget;
use crate::cancel::Cancel;
use crate::context::StudyContext;
use crate::data::PreparedData;
use crate::{RunError, commands};

/// Prepares `options` of a run's server for the replicas that its cell wants; the port on which they
/// reach it, if there are any.
pub(super) fn prepare_primary(
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

impl PrivateTarget {
    /// Starts the replicas of its server, each in a directory of its own, and waits until they follow. They
    /// reach it at `port`.
    pub(super) fn start_replicas(
        &mut self,
        context: &StudyContext<'_>,
        cell: &Cell,
        data: &PreparedData,
        port: u16,
        cancel: Cancel<'_>,
    ) -> Result<(), RunError> {
        let binary = context.server_of(cell);
        let primary = self.server.endpoint();
        for (number, node) in (1..).zip(cell.spec.topology.replicas()) {
            let home = self.home.path().join(&node.name);
            fs::create_dir_all(&home).map_err(PathError::on("create", &home))?;
            let mut options = StartOptions::new(home.join("data"), home.join("server"));
            data.snapshots.restore(&data.key, &options.data_dir)?;
            weir_server::forget_identity(&options.data_dir)?;
            options.variables.clone_from(&node.variables);
            take_part(context, cell, Role::Replica(number), &mut options);
            self.commands.push(commands::server(binary, &options)?);
            let replica = PrivateServer::start_watched(binary, &options, &mut cancel.watching())?;
            weir_server::attach(binary, &primary, port, &replica.endpoint())?;
            self.replicas.push(replica);
        }
        Ok(())
    }
}

fn take_part(context: &StudyContext<'_>, cell: &Cell, role: Role, options: &mut StartOptions) {
    let replication = cell.spec.topology.replication;
    // Also a binary log, whatever the study says: without one there is nothing to follow.
    let variables = weir_server::replication_variables(context.server_of(cell), role, replication);
    weir_model::set_options(&mut options.variables, variables);
}
